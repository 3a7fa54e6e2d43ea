#pragma once
/// One routing cycle of a router (S-Connect, 2.2), in this order:
///   arriving messages join the stored ones, and messages for terminals of this router leave;
///   the others are assigned to channels and sent (Figure 4, steps 1 and 2);
///   the rest is stored (step 3), and each message without a buffer goes to a random free channel (step 4);
///   each terminal puts one new message into a free buffer.
///
/// Step 4 always has a free channel. A router with n channels and b buffers has at most b + n messages to assign: b
/// stored and n arriving. If it sends or delivers s of them, more than b remain only if s < n. Then at most n - s have
/// no buffer, and at least n - s channels are free.
///
/// A misrouted message continues from the router that it comes to. Livelock is impossible for the oldest message of the
/// highest priority, which is first in every router's order. It moves on a shortest path in every cycle, since each of
/// its channels would choose it, and an optimal assignment sends it, too. So it arrives, and its terminal takes it
/// first; then another message is the oldest. Messages that entered in the same cycle may lose channels to one another,
/// and lower priorities under a full load of higher ones may lose all channels: these messages arrive by chance.
#include "kernels/common/philox.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/adaptive/source.hpp"
#include "kernels/routers/adaptive/streams.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#if !defined(__CUDACC__)
#include "kernels/routers/adaptive/bulk.hpp"
#endif

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
      u8& flag = node.at(f.came, first + channel);
      if (!flag) continue;
      flag = 0;
      const Packet& packet = node.at(f.mail, first + channel);
      if constexpr (V::traced)
        v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(channel), 0, 0, 0, 3, 1});
      insert(v, node, index, control, packet);
    }
  }

  FLITLAB_INLINE Packet& message(u32 rank) const {
    return node.at(v.t.router_fields.pool, node.at(v.t.router_fields.order, rank));
  }

  /// Delivers messages for terminals of this router, at most `ejection`, in their order.
  FLITLAB_INLINE void deliver_here(Assigned& assigned) const {
    const u32 limit = v.t.ejection;
    for (u32 rank = 0; rank < control.stored && (!limit || assigned.departed.size < limit); ++rank) {
      const Packet& packet = message(rank);
      if (packet.dst != index) continue;
      assigned.departed.add(rank);
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
    const u32 position = ((now + t.delay) & t.slot_mask) * t.channels + peer.port;
    next.at(t.router_fields.mail, position) = packet;
    next.at(t.router_fields.came, position) = 1;
    ++node.at(t.router_fields.sent, channel);
    count(*v.shard, Total::kFlitMoves);
    count(*v.shard, Count::kSent);
  }

  /// Steps 1 and 2 of Figure 4: assigns messages to channels and sends them.
  FLITLAB_INLINE void send_assigned(Assigned& assigned) const {
    const RouterFields& f = v.t.router_fields;
    const auto options = [&](u32 rank) { return node.at(f.options, node.at(f.order, rank)); };
    assign(v.t.assignment, assigned, control.stored, options, v.t.wired[index]);
    const auto send_to = [&](u32 set, u32 rank) {
      for (; set; set &= set - 1)
        if (rank == kNone || assigned.message[lowest_bit(set)] == rank)
          send(assigned.message[lowest_bit(set)], lowest_bit(set));
    };
    if constexpr (V::traced)
      for (u32 rank = 0; rank < control.stored; ++rank)
        send_to(assigned.channels, rank);  // events are in the order of ranks
    else
      send_to(assigned.channels, kNone);
  }

  /// Steps 3 and 4 of Figure 4: misroutes the last messages in the order if buffers do not suffice.
  FLITLAB_INLINE void send_excess(Assigned& assigned) const {
    const u32 room = buffers(v, index);
    u32 free = v.t.wired[index] & ~assigned.channels;
    Random4 random{};
    for (u32 rank = control.stored, draws = 0; control.stored - assigned.departed.size > room && rank-- > 0;) {
      if (assigned.departed.has(rank)) continue;
      if (!free) return raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
      if (draws % 4 == 0) random = philox(v.row->seed, adaptive::stream::kMisroute, index, u64{draws / 4} << 32 | now);
      const u32 channel = nth_channel(free, below(random.word[draws++ % 4], bit_count(free)));
      free &= ~(1u << channel);
      assigned.departed.add(rank);
      send(rank, channel);
      count(*v.shard, Count::kMisrouted);
    }
  }

  /// Frees the pool positions of messages that have left. The positions of the other messages move to the front of
  /// `order`.
  FLITLAB_INLINE void remove_departed(const Assigned& assigned) const {
    const Field<u8> order = v.t.router_fields.order;
    u32 kept = 0;
    for (u32 rank = 0; rank < control.stored; ++rank) {
      if (assigned.departed.has(rank)) continue;
      const u8 position = node.at(order, rank);
      for (u32 i = rank; i > kept; --i) node.at(order, i) = node.at(order, i - 1);
      node.at(order, kept++) = position;
    }
    control.stored = kept;
  }

  /// Stores new messages of terminals in free buffers. The terminal that is served first changes every cycle.
  FLITLAB_INLINE void serve_terminals() const {
    const auto& t = v.t;
    const u32 room = buffers(v, index);
    for (u32 i = 0; i < t.concentration; ++i) {
      const u32 terminal_index = index * t.concentration + (now + i) % t.concentration;
      const auto terminal = v.terminals[terminal_index];
      TerminalControl& source = terminal.at(t.terminal_fields.control);
      create(v, terminal, terminal_index, source, now);
      if (source.sent == source.created || control.stored >= room) continue;
      insert(v, node, index, control, take_oldest(v, terminal, terminal_index, source, now));
    }
  }

  FLITLAB_INLINE void work() const {
    collect();
    if (control.stored) {
      Assigned assigned;
      deliver_here(assigned);
      send_assigned(assigned);
      send_excess(assigned);
      remove_departed(assigned);
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

  /// Returns whether messages are stored or arrive, or a terminal has work.
  template <class V>
    requires(!V::traced)
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto node = v.routers[index];
    u32 busy = node.at(t.router_fields.control).stored | (t.mode == TrafficMode::kTrace);
    for (u32 channel = 0; channel < t.channels; ++channel)
      busy |= node.at(t.router_fields.came, (now & t.slot_mask) * t.channels + channel);
    for (u32 i = 0; i < t.concentration; ++i) {
      const TerminalControl& source = v.terminals[index * t.concentration + i].at(t.terminal_fields.control);
      busy |= (source.sent ^ source.created) | u32{source.next.at <= now};
    }
    return busy != 0;
  }

#if !defined(__CUDACC__)
  static constexpr u32 batch = kRouters;

  /// Runs n routers, at most `batch`; in bulk if they have few messages and channels.
  template <class V>
    requires(!V::traced && V::width == 1)
  FLITLAB_INLINE static void work_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
    const auto& t = v.t;
    if (t.channels <= kFewChannels && t.positions <= kFewMessages && t.terminals < kKeySources &&
        t.assignment != Assignment::kOptimal && t.mode != TrafficMode::kTrace)
      return step_many(v, list, n, now);
    for (u32 i = 0; i < n; ++i) run(v, list[i], now);
  }
#endif
};

}  // namespace flitlab::adaptive
