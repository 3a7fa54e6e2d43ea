#pragma once
/// A parallel port to a host (S-Connect, 3, 4.1). The port transfers one message in each direction per routing cycle,
/// in 5 of the 6 clocks. The host offers messages, highest priority first, until the TIC accepts one (signals valid and
/// accept). The host accepts a message that the TIC presents, unless the host refuses the priority of the message, or
/// the message is a request and the host's reply queue is full.
#include "kernels/routers/sconnect/control.hpp"
#include "kernels/routers/sconnect/host_queues.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::sconnect {

/// Checks of a delivered packet (kernels/traffic/injection.hpp). A message may reach its host by any of the host's
/// ports. With tables written by software, a delivery to another host counts as misdelivered and is not an emulator
/// fault.
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V& v, u32 index, const Packet& packet) {
  return !v.t.table_given && v.t.terminal_node[index] != v.t.terminal_node[packet.dst];
}
template <class V>
FLITLAB_INLINE bool is_destination(const V& v, u32 index, const Packet& packet) {
  return !v.t.table_given || v.t.terminal_node[index] == v.t.terminal_node[packet.dst];
}

template <class V, int W>
struct HostPort {
  const Tic<V, W>& tic;
  u32 p;
  Port& port;
  u32 index;  ///< number of the terminal
  Item<W> terminal;
  TerminalControl& control;
  HostControl& host;

  // From the host into the fabric.

  FLITLAB_INLINE HostQueues<V, W> queues() const { return {tic.v, terminal, index, p, control, host}; }
  FLITLAB_INLINE void create() const { queues().create(tic.now); }

  /// Offers the oldest control message. Returns whether the TIC has accepted it.
  FLITLAB_INLINE bool offer_control() const {
    if (!host.out_count) return false;
    Message m = terminal.at(tic.v.t.mailbox_fields.outbox, host.out_first);
    m.hops = tic.control.address;  // address of the requester, for the reply
    const ControlUnit<V, W> unit{tic};
    bool here;
    const u32 q = unit.next_queue_for(m, p, here);
    if (q == kNone) return false;
    host.out_first = (host.out_first + 1) % kMailbox;
    --host.out_count;
    tic.note(p, PortEvent::kReceived);
    if (here) unit.carry_out(m, p);
    if (q != kNowhere) tic.store(m, p, 0, q);
    return true;
  }

  /// Offers messages to the TIC, unless the rest of a quad is being transferred.
  FLITLAB_INLINE void offer() const {
    if (port.entering) {
      --port.entering;
      return;
    }
    if (!tic.enabled(p) || offer_control()) return;
    bool held_up = false;
    for (u32 set = queues().offers(); set;) {
      const u32 n = bit_width(set) - 1;
      if (accept(n)) break;
      held_up = true;
      set ^= 1u << n;
    }
    if (held_up && tic.control.counting == kInjectionHeldUp) ++tic.control.counter;
  }

  /// Injects the next message of the host's queue n if the TIC has a buffer for the message. Returns whether the
  /// message was injected.
  FLITLAB_INLINE bool accept(u32 n) const {
    const u32 q = tic.decide(queues().offered(n), p);
    if (!may_enter(q)) return false;
    enter(n, q);
    return true;
  }

  /// Returns whether a host's message may enter queue q. An empty queue is exempt from router.host_buffers, so that it
  /// can use its reservation.
  FLITLAB_INLINE bool may_enter(u32 q) const {
    return q != kNone && !(tic.control.used >= tic.v.t.host_buffers && tic.control.held[q]);
  }

  /// Moves the message that the host's queue n offers into the TIC's queue q.
  FLITLAB_INLINE void enter(u32 n, u32 q) const {
    const auto& v = tic.v;
    Message& m = queues().offered(n);
    m.injected = tic.now;
    m.entered = static_cast<u8>(tic.turn(p));
    count(*v.shard, Total::kPacketsInjected);
    count(*v.shard, Total::kFlitsInjected, m.flits);
    if constexpr (V::traced)
      v.log.write(v.t.routers + index, Event{index, m.id, EventKind::kInjected, u8(p), 0, 0, 0, 3, u16(m.flits)});
    tic.note(p, PortEvent::kReceived);
    tic.store(m, p, 0, q);
    port.entering = static_cast<u8>(m.flits - 1);
    queues().remove(n);
  }

  // From the fabric to the host.

  /// Delivers a message to the host.
  FLITLAB_INLINE void deliver_to_host(const Message& m) const {
    const auto& v = tic.v;
    if (m.control) {
      if (!is_reply(m)) return;  // hosts drop control requests
      if (host.in_count < kMailbox)
        terminal.at(v.t.mailbox_fields.inbox, host.in_count++) = m;
      else
        ++host.lost;
      return;
    }
    Packet packet{};
    packet.dst = m.dst;
    packet.src = m.src;
    packet.created = m.created;
    packet.injected = m.injected;
    packet.id = m.id;
    packet.flits = m.flits;
    packet.hops = m.hops;
    packet.tag = m.tag;
    deliver(v, index, control, packet, tic.now);
    count(*v.shard, Total::kFlitsDelivered, m.flits);
    if (v.t.mode == TrafficMode::kTrace) record_arrival(v, terminal, index, packet, tic.now);
    if (v.t.mode == TrafficMode::kRequestReply) queues().loop().take(packet, tic.now);
    count_of_priority(Count::kDelivered, m.priority, 1);
    if (!measured(v, m.created)) return;
    count_of_priority(Count::kMeasured, m.priority, 1);
    count_of_priority(Count::kMeasuredLatency, m.priority, tic.now - m.created);
    count(*v.shard, Count::kClocksSum, kMostTurn + tic.turn(p) - m.entered);
  }

  FLITLAB_INLINE void count_of_priority(Count total, u32 priority, u64 amount) const {
    count(*tic.v.shard, total, amount, priority);
  }

  /// Returns whether the host does not accept a message.
  FLITLAB_INLINE bool refuses(const Message& m, u32 priority) const {
    if (m.control) return false;
    if (tic.v.t.refuses >> priority & 1) return true;
    return tic.v.t.mode == TrafficMode::kRequestReply && !is_host_reply(m) && !queues().loop().has_room();
  }

  /// Presents the next message, or the next part of a quad, to the host.
  FLITLAB_INLINE void present() const {
    if (port.sending != kNoBuffer) {
      if (++port.parts < kQuadParts) return;
      const u32 buffer = port.sending;
      port.sending = kNoBuffer;
      return finish(buffer);
    }
    const u32 waiting = static_cast<u32>(tic.control.waiting >> p * kQueuesOfPort & 0xFF);
    if (!waiting || !tic.enabled(p)) return;
    const u32 priority = (bit_width(waiting) - 1) / kVcs, q = Tic<V, W>::queue_of(p, priority, 0);
    if (refuses(tic.message(tic.queue(q).head), priority)) return;
    const u32 buffer = tic.pop(q);
    const Message& m = tic.message(buffer);
    tic.log(EventKind::kSwitchGranted, m, tic.state(buffer).source, q);
    ++port.carried;
    tic.note(p, PortEvent::kSent);
    if (m.flits == 1) return finish(buffer);
    port.sending = static_cast<u8>(buffer);
    port.parts = 1;
  }

  /// Ends the transfer of a message to the host; a damaged message is dropped.
  FLITLAB_INLINE void finish(u32 buffer) const {
    if (tic.state(buffer).flags & kBad) return tic.drop_void(buffer);
    deliver_to_host(tic.message(buffer));
    tic.release(buffer);
  }
};

}  // namespace flitlab::sconnect
