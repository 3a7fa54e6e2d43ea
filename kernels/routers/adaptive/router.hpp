#pragma once
/// A routing cycle (S-Connect, 2.2). In this order:
///   what arrives joins what is stored; what is for a terminal here leaves;
///   the rest is assigned to channels and sent (Figure 4, steps 1 and 2);
///   what is left is stored (step 3), and what finds no buffer goes to a random free channel (step 4);
///   terminals put new messages into buffers that are still free, one each.
///
/// There is always a channel for step 4. Of a router with n channels, n come in and n go out, and after a cycle at
/// most b messages are stored, where b is the number of its buffers. So at most b + n messages are there to be
/// assigned. If s of them are sent or delivered, more than b are left only if s < n, and then at most n - s find no
/// buffer, while at least n - s channels are free.
///
/// A message that is sent astray goes on from where it comes to. No message does so for ever: in a network that is
/// full, the one of the highest priority that has been there longest is the first in every router's order. It is sent
/// on a shortest way in every cycle, since each of its channels would choose it, and whatever is optimal sends it, too.
/// So it arrives, is the first that its terminal takes, and then another one is first. (Of messages that have entered
/// in the same cycle one of each router is first, and the others may lose a channel to it: for them, and for lower
/// priorities below a full load of higher ones, arriving is a matter of chance.)
#include "kernels/common/philox.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/adaptive/source.hpp"
#include "kernels/routers/adaptive/streams.hpp"
#include "kernels/routers/adaptive/totals.hpp"

namespace flitlab::adaptive {

template <class V>
struct RoutingCycle {
  const V& v;
  u32 index;
  Cycle now;
  Item<V::width> node;
  RouterControl& control;

  FLITLAB_INLINE void collect() const {
    const auto& t = v.t;
    const RouterFields& f = t.router_fields;
    const u32 first = (now & t.slot_mask) * t.channels;
    for (u32 channel = 0; channel < t.channels; ++channel) {
      u8& came = node.at(f.came, first + channel);
      if (!came) continue;
      came = 0;
      const Packet& packet = node.at(f.mail, first + channel);
      if constexpr (V::traced)
        v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(channel), 0, 0, 0, 3, 1});
      insert(v, node, index, control, packet);
    }
  }

  FLITLAB_INLINE Packet& message(u32 rank) const {
    return node.at(v.t.router_fields.pool, node.at(v.t.router_fields.order, rank));
  }

  FLITLAB_INLINE u32 options_of(u32 rank) const {
    return node.at(v.t.router_fields.options, node.at(v.t.router_fields.order, rank));
  }

  /// What is for terminals here leaves, the first in order; the others have no channel yet.
  template <class P>
  FLITLAB_INLINE void deliver_and_list(P& pending) const {
    const auto& t = v.t;
    u32 taken = 0;
    pending.count = control.stored;
    for (u32 rank = 0; rank < pending.count; ++rank) {
      if constexpr (V::width == 1) pending.options[rank] = options_of(rank);
      pending.stay(rank);
      const Packet& packet = message(rank);
      if (packet.dst != index || (t.ejection && taken == t.ejection)) continue;
      ++taken;
      pending.deliver(rank);
      eject(v, packet, now);
    }
  }

  FLITLAB_INLINE void send(u32 rank, u32 channel) const {
    const auto& t = v.t;
    const Peer peer = t.peers[std::size_t{index} * t.ports + channel];
    Packet packet = message(rank);
    if constexpr (V::traced)
      v.log.write(index,
                  Event{packet.src, packet.id, EventKind::kSwitchGranted, packet.route_bits, 0, u8(channel), 0, 3, 1});
    ++packet.hops;
    packet.route_bits = static_cast<u8>(peer.port);
    const auto next = v.routers[peer.item];
    const u32 place = ((now + t.delay) & t.slot_mask) * t.channels + peer.port;
    next.at(t.router_fields.mail, place) = packet;
    next.at(t.router_fields.came, place) = 1;
    ++node.at(t.router_fields.sent, channel);
    count(*v.shard, Total::kFlitMoves);
    count(*v.shard, Count::kSent);
  }

  /// Steps 1 and 2; returns the channels that are still free.
  template <class P>
  FLITLAB_INLINE u32 send_assigned(P& pending) const {
    u32 free = v.t.wired[index];
    assign(v.t.assignment, pending, free);
    pending.for_each_given([&](u32 rank, u32 channel) __attribute__((always_inline)) {
      free &= ~(1u << channel);
      send(rank, channel);
    });
    return free;
  }

  /// Steps 3 and 4: the last in order find no buffer.
  template <class P>
  FLITLAB_INLINE void send_excess(P& pending, u32 free) const {
    u32 left = 0;
    for (u32 rank = 0; rank < pending.count; ++rank) left += pending.stays(rank);
    const u32 room = buffers(v, index);
    Random4 random{};
    for (u32 rank = pending.count, draws = 0; left > room && rank-- > 0;) {
      if (!pending.stays(rank)) continue;
      if (!free) return raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
      if (draws % 4 == 0) random = philox(v.row->seed, adaptive::stream::kMisroute, index, u64{draws / 4} << 32 | now);
      const u32 even = draws & 2 ? random.word[2] : random.word[0], odd = draws & 2 ? random.word[3] : random.word[1];
      const u32 draw = draws++ & 1 ? odd : even;
      const u32 channel = nth_channel(free, below(draw, bit_count(free)));
      free &= ~(1u << channel);
      pending.give(rank, channel);
      send(rank, channel);
      count(*v.shard, Count::kMisrouted);
      --left;
    }
  }

  /// Places of messages that have left are free again: they come after those that are taken, both in their order.
  template <class P>
  FLITLAB_INLINE void forget_sent(const P& pending) const {
    const Field<u8> order = v.t.router_fields.order;
    u32 kept = 0;
    for (u32 rank = 0; rank < pending.count; ++rank) {
      if (!pending.stays(rank)) continue;
      const u8 place = node.at(order, rank);
      for (u32 i = rank; i > kept; --i) node.at(order, i) = node.at(order, i - 1);
      node.at(order, kept++) = place;
    }
    control.stored = kept;
  }

  /// Terminals take turns at being the first.
  FLITLAB_INLINE void serve_terminals() const {
    const auto& t = v.t;
    const u32 room = buffers(v, index);
    for (u32 i = 0; i < t.concentration; ++i) {
      const u32 mine = index * t.concentration + (now + i) % t.concentration;
      const auto terminal = v.terminals[mine];
      TerminalControl& source = terminal.at(t.terminal_fields.control);
      create(v, terminal, mine, source, now);
      if (source.sent == source.created || control.stored >= room) continue;
      insert(v, node, index, control, take_oldest(v, terminal, mine, source, now));
    }
  }

  template <class P>
  FLITLAB_INLINE void serve(P& pending) const {
    deliver_and_list(pending);
    send_excess(pending, send_assigned(pending));
    forget_sent(pending);
  }

  FLITLAB_INLINE void work() const {
    collect();
    if (control.stored) {
      if constexpr (V::width == 1) {
        Pending pending;
        serve(pending);
      } else {
        const auto options = [this](u32 rank) __attribute__((always_inline)) { return options_of(rank); };
        u64 left[PackedPending<decltype(options)>::kWords];
        u8 message_of[kMaxChannels];
        PackedPending<decltype(options)> pending{options, 0, 0, left, message_of};
        serve(pending);
      }
    }
    serve_terminals();
  }
};

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto node = v.routers[index];
    RoutingCycle<V>{v, index, now, node, node.at(v.t.router_fields.control)}.work();
  }
};

}  // namespace flitlab::adaptive
