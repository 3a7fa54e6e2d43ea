#pragma once
/// One routing cycle of up to `kMost` routers (S-Connect, 2.2), in this order:
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
#include "kernels/common/lists.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/adaptive/messages.hpp"
#include "kernels/routers/adaptive/source.hpp"
#include "kernels/routers/adaptive/streams.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#if !defined(__CUDACC__)
#include "kernels/routers/adaptive/few_messages.hpp"
#endif

namespace flitlab::adaptive {

/// Routers per bulk call.
inline constexpr u32 kRouters = 32;

/// Delivers, assigns and stores the messages of a router. Calls deliver(position) for each message that leaves for its
/// terminal, and send(if_so, position, channel) for each message that leaves on a channel; `position` is the message's
/// position in the pool. Returns the number of misrouted messages.
template <class Messages, class V, int W, class Deliver, class Send>
FLITLAB_INLINE u32 route(const V& v, const Item<W>& node, u32 index, Cycle now, Deliver&& deliver, Send&& send) {
  const auto& t = v.t;
  Messages messages;
  const u32 count = messages.collect(v, node, index, (now & t.slot_mask) * t.channels);
  if (!count) return 0;
  messages.take_local(v, node, index, count, t.ejection ? t.ejection : count, deliver);
  u32 free = messages.assign_to(v, node, count, t.wired[index], send);
  // Steps 3 and 4 of Figure 4: if buffers do not suffice, the last messages in the order are misrouted.
  Random4 random{};
  u32 misrouted = 0;
  for (u32 rank = count; messages.waiting(count) > t.buffers[index]; ++misrouted) {
    if (!free) {
      raise_fault(node.at(t.router_fields.control).fault, kFaultBufferOverflow, kNoFaultPort);
      break;
    }
    if (misrouted % 4 == 0)
      random = philox(v.row->seed, adaptive::stream::kMisroute, index, u64{misrouted / 4} << 32 | now);
    const u32 channel = nth_channel(free, below(random.word[0], bit_count(free)));
    random = {{random.word[1], random.word[2], random.word[3]}};  // an index would put the words on a GPU's stack
    free &= ~(1u << channel);
    rank = messages.take_last(rank);
    send(true, messages.position(v, node, rank), channel);
  }
  messages.store(v, node, count);
  return misrouted;
}

/// Sends a message on a channel.
template <class V, int W>
FLITLAB_INLINE void send(const V& v, const Item<W>& node, u32 index, u32 position, u32 channel, Cycle now) {
  const auto& t = v.t;
  const RouterFields& f = t.router_fields;
  const Peer peer = t.peers[std::size_t{index} * t.ports + channel];
  const auto next = v.routers[peer.item];
  const u32 slot = ((now + t.delay) & t.slot_mask) * t.channels;
  const Packet& packet = node.at(f.pool, position);
  if constexpr (V::traced)
    v.log.write(index,
                Event{packet.src, packet.id, EventKind::kSwitchGranted, packet.route_bits, 0, u8(channel), 0, 3, 1});
  Packet& arrives = next.at(f.mail, slot + peer.port);
  arrives = packet;
  ++arrives.hops;
  arrives.route_bits = static_cast<u8>(peer.port);
  next.at(f.came, slot + peer.port) = 1;
  ++node.at(f.sent, channel);
}

/// Stores new messages of terminals in free buffers. The terminal that is served first changes every cycle.
template <u32 kMost, class V, int W>
FLITLAB_INLINE void serve_terminals(const V& v, const Item<W>* node, const u32* index, u32 n, Cycle now) {
  const auto& t = v.t;
  for (u32 turn = 0; turn < t.concentration; ++turn) {
    const u32 which = (now + turn) % t.concentration;
    Item<W> terminal[kMost];
    ItemList<kMost> creating, entering;
    const auto source = [&](u32 i) __attribute__((always_inline)) -> TerminalControl& {
      return terminal[i].at(t.terminal_fields.control);
    };
    const auto control = [&](u32 i) __attribute__((always_inline)) -> RouterControl& {
      return node[i].at(t.router_fields.control);
    };
    for (u32 i = 0; i < n; ++i) {
      terminal[i] = v.terminals[index[i] * t.concentration + which];
      creating.add(i, kMost == 1 || source(i).next.at <= now);  // create() compares again
    }
    for (u32 i : creating) create(v, terminal[i], index[i] * t.concentration + which, source(i), now);
    for (u32 i = 0; i < n; ++i)
      entering.add(i, u32{source(i).sent != source(i).created} & u32{control(i).stored < t.buffers[index[i]]});
    for (u32 i : entering)
      insert(v, node[i], index[i], control(i),
             take_oldest(v, terminal[i], index[i] * t.concentration + which, source(i), now));
  }
}

/// `Messages`: ManyMessages, or FewMessages if `kMost` > 1. Messages of a batch depart after all its routers have
/// assigned theirs.
template <u32 kMost, class Messages, class V>
FLITLAB_INLINE void step(const V& v, const u32* index, u32 routers, Cycle now) {
  const u32 n = kMost == 1 ? 1 : routers;
  Item<V::width> node[kMost];
  BitList<kMost, Messages::kMessages> delivered;  // positions in the pool
  MoveList<kMost, Messages::kChannels> leaving;   // positions in the pool, with channels
  u32 sent = 0, misrouted = 0;
  const auto deliver = [&](u32 i, u32 position) __attribute__((always_inline)) {
    eject(v, node[i].at(v.t.router_fields.pool, position), now);
  };
  const auto send_on = [&](u32 i, u32 position, u32 channel) __attribute__((always_inline)) {
    send(v, node[i], index[i], position, channel, now);
    ++sent;
  };
  for (u32 i = 0; i < n; ++i) {
    node[i] = v.routers[index[i]];
    misrouted += route<Messages>(
        v, node[i], index[i], now,
        [&](u32 position) __attribute__((always_inline)) {
          if constexpr (kMost == 1)
            deliver(0, position);
          else
            delivered.add(true, i, position);
        },
        [&](bool if_so, u32 position, u32 channel) __attribute__((always_inline)) {
          if constexpr (kMost == 1)
            send_on(0, position, channel);
          else
            leaving.add(if_so, i, position, channel);
        });
  }
  if constexpr (kMost > 1) {
    delivered.for_each(deliver);
    leaving.for_each(send_on);
  }
  count(*v.shard, Total::kFlitMoves, sent);
  count(*v.shard, Count::kSent, sent);
  count(*v.shard, Count::kMisrouted, misrouted);
  serve_terminals<kMost>(v, node, index, n, now);
}

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    step<1, ManyMessages>(v, &index, 1, now);
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
      return t.channels <= 8 ? step<kRouters, FewMessages<1>>(v, list, n, now)
                             : step<kRouters, FewMessages<2>>(v, list, n, now);
    for (u32 i = 0; i < n; ++i) run(v, list[i], now);
  }
#endif
};

}  // namespace flitlab::adaptive
