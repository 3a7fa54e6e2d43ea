#pragma once
/// A parallel port to a host (S-Connect, 3, 4.1): a message each way in a routing cycle, 5 of its 6 clocks. The host
/// offers a message until it is accepted (valid, accept), and takes what is presented unless it refuses the priority.
#include "kernels/routers/sconnect/control.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::sconnect {

/// What sources ask of a model (kernels/traffic/injection.hpp). A message to a host may come by any of its ports. Where
/// software makes the tables, it is software's fault if a message goes elsewhere.
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
  u32 index;  ///< terminal
  Item<W> terminal;
  TerminalControl& control;
  HostControl& host;

  // Into the fabric.

  FLITLAB_INLINE void create() const {
    const auto& t = tic.v.t;
    if (t.mode == TrafficMode::kTrace) return create_from_trace(tic.v, terminal, index, control, tic.now);
    create_packets(tic.v, index, control, tic.now);
  }

  FLITLAB_INLINE void draw() const {
    const auto& v = tic.v;
    const auto& t = v.t;
    Message& m = host.offered;
    if (control.sent == control.created) return;  // and change nothing: a host that rests may be asked, or may not
    m = Message{};
    const QueuedPacket oldest = oldest_packet(v, terminal, index, control);
    m.id = oldest.id;
    m.created = oldest.created;
    m.dst = oldest_destination(v, terminal, index, control);
    m.flits = static_cast<u8>(oldest.flits);
    const u32* below = t.priority_below[p - kSerial];
    if (below[0] != ~0u) {
      const u32 draw = packet_draws(*v.row, index, m.id).word[3];
      while (m.priority + 1u < kPriorities && draw >= below[m.priority]) ++m.priority;
    }
    if (m.flits > 1) m.priority = t.quad_priority;
    m.src = index;
    m.node = t.table_given ? t.terminal_node[m.dst] : v.terminals[m.dst].at(t.host_fields.host).address;
    m.tried = kPorts;
    m.entered = static_cast<u8>(tic.turn(p));
    host.ready = 1;
  }

  /// The message offered has been accepted.
  FLITLAB_INLINE void count_sent() const {
    const auto& v = tic.v;
    const auto& t = v.t;
    remove_oldest(v, terminal, index, control);
    count(*v.shard, Total::kPacketsInjected);
    count(*v.shard, Total::kFlitsInjected, host.offered.flits);
    if constexpr (V::traced)
      v.log.write(t.routers + index,
                  Event{index, host.offered.id, EventKind::kInjected, u8(p), 0, 0, 0, 3, u16(host.offered.flits)});
  }

  FLITLAB_INLINE bool offer_control() const {
    if (!host.out_count) return false;
    Message m = terminal.at(tic.v.t.mailbox_fields.outbox, host.out_first);
    m.hops = tic.control.address;  // the reply goes to who asks
    const ControlUnit<V, W> unit{tic};
    bool here;
    const u32 q = unit.place(m, p, here);
    if (q == kNone) return false;
    host.out_first = (host.out_first + 1) % kMailbox;
    --host.out_count;
    tic.note(p, PortEvent::kReceived);
    if (here) unit.carry_out(m, p);
    if (q != kNowhere) tic.store(m, p, 0, q);
    return true;
  }

  FLITLAB_INLINE void offer() const {
    if (port.entering) {
      --port.entering;
      return;
    }
    if (!tic.enabled(p) || offer_control()) return;
    if (!host.ready) draw();
    if (!host.ready) return;
    Message& m = host.offered;
    // A queue that holds nothing has what it is promised, whatever else there is.
    u32 q = tic.decide(m, p);
    if (q != kNone && tic.control.used >= tic.v.t.host_buffers && tic.control.held[q]) q = kNone;
    if (q == kNone) {
      if (tic.control.counting == kInjectionHeldUp) ++tic.control.counter;
      return;
    }
    m.injected = tic.now;
    count_sent();
    tic.note(p, PortEvent::kReceived);
    tic.store(m, p, 0, q);
    port.entering = static_cast<u8>(m.flits - 1);
    host.ready = 0;
  }

  // Out of it.

  FLITLAB_INLINE void hand_over(const Message& m) const {
    const auto& v = tic.v;
    if (m.control) {
      if (!is_reply(m)) return;  // a request's way has led to a host, who knows no requests
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
    deliver(v, index, control, packet, tic.now);
    count(*v.shard, Total::kFlitsDelivered, m.flits);
    if (v.t.mode == TrafficMode::kTrace) note_arrival(v, terminal, packet, tic.now);
    count_of_priority(Count::kDelivered, m.priority, 1);
    if (!measured(v, m.created)) return;
    count_of_priority(Count::kMeasured, m.priority, 1);
    count_of_priority(Count::kMeasuredLatency, m.priority, tic.now - m.created);
    count(*v.shard, Count::kClocksSum, kMostTurn + tic.turn(p) - m.entered);
  }

  FLITLAB_INLINE void count_of_priority(Count total, u32 priority, u64 amount) const {
    count(*tic.v.shard, total, amount, priority);
  }

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
    if (tic.v.t.refuses >> priority & 1 && !tic.message(tic.queue(q).head).control) return;
    const u32 buffer = tic.pop(q);
    const Message& m = tic.message(buffer);
    tic.log(EventKind::kSwitchGranted, m, tic.state(buffer).source, q);
    ++port.carried;
    tic.note(p, PortEvent::kSent);
    if (m.flits == 1) return finish(buffer);
    port.sending = static_cast<u8>(buffer);
    port.parts = 1;
  }

  /// The last word is there. What has come in damaged is no message.
  FLITLAB_INLINE void finish(u32 buffer) const {
    if (tic.state(buffer).flags & kBad) return tic.annihilate(buffer);
    hand_over(tic.message(buffer));
    tic.release(buffer);
  }
};

}  // namespace flitlab::sconnect
