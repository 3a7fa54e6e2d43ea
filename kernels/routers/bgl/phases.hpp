#pragma once
/// One cycle of a node's torus unit. For a packet of n chunks, alone in the network, whose head requests in cycle t:
///   t                         the head leaves
///   t + hop_delay             the head requests in the next node
///   t + 32 n                  the tail has left this node's buffer
///   t + 32 n + overhead       the link can take the next packet
///   t + 32 n + token_delay    the upstream sender has the tokens
/// A denied request is presented again in the next cycle, or, if it cannot be granted then, after a change in the node.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bgl/arbitrate.hpp"
#include "kernels/routers/bgl/bulk.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// Returns whether some VC that the head of a queue may take has enough tokens for it.
template <class V, int W>
FLITLAB_INLINE bool has_open_vc(const V& v, const Item<W>& node, u32 address, u32 queue) {
  const auto& t = v.t;
  const Queue& state = queue_at(v, node, queue);
  const u32 hints = state.route & kHints;
  if (state.route & kDynamic && !(state.route & kHighPriority))
    for (u32 left = hints; left; left &= left - 1)
      if (node.at(t.node_fields.levels).open >> 8 * lowest_bit(left) & t.dynamic_set) return true;
  const u32 direction = escape_direction(t.order, hints);
  const u32 vc = state.route & kHighPriority ? t.high_vc : escape_vc(t, address, state.route, direction);
  return enterable(v, node, direction, stays_in_ring(queue, direction, vc)) >> vc & 1;
}

/// Adds the tokens of one message to the sender of a direction. `back`: tokens, a byte for each VC. With
/// router.count_unblocking it also counts messages to nodes with a blocked head, and messages that unblock a head.
template <class V, int W>
FLITLAB_INLINE void receive_tokens(const V& v, const Item<W>& node, NodeControl& control, u32 direction, u64 back) {
  const auto& t = v.t;
  u64 stuck = 0;
  if (t.statistics)
    for (u64 left = control.waiting & kReceivers; left; left &= left - 1)
      if (!has_open_vc(v, node, control.address, lowest_bit(left))) stuck |= left & (~left + 1);
  for (; back;) {
    const u32 vc = lowest_bit(back) / 8, chunks = back >> 8 * vc & 0xFF;
    const u32 tokens = node.at(t.node_fields.tokens, direction * t.vcs + vc) + chunks;
    if (tokens > t.buffer[vc]) raise_fault(control.fault, kFaultCreditOverflow, direction);
    set_tokens(v, node, direction, vc, tokens);
    back &= ~(u64{0xFF} << 8 * vc);
  }
  if (stuck) count(*v.shard, Count::kTokenMessages);
  for (; stuck; stuck &= stuck - 1)
    if (has_open_vc(v, node, control.address, lowest_bit(stuck))) {
      count(*v.shard, Count::kUnblocking);
      return;
    }
}

/// Processes software's actions: chunks taken out of reception FIFOs and packets put into injection FIFOs.
template <class V>
FLITLAB_INLINE void receive_from_software(const V& v, const Item<V::width>& node, u32 index, Cycle now) {
  const auto& t = v.t;
  NodeControl& control = node.at(t.node_fields.control);
  SoftwareActions& actions = node.at(t.node_fields.from_software, now & t.software_mask);
  for (; actions.taken; actions.taken &= ~(u64{0xF} << (lowest_bit(actions.taken) & ~3u))) {
    const u32 fifo = lowest_bit(actions.taken) / 4;
    control.reception_room[fifo] = static_cast<u8>(control.reception_room[fifo] + (actions.taken >> 4 * fifo & 0xF));
  }
  for (; actions.put; actions.put &= actions.put - 1) {
    const u32 queue = kInjectionQueue + lowest_bit(actions.put);
    const Queue& state = queue_at(v, node, queue);
    const u32 position = u32{state.first} + state.packets;
    const Packet& packet =
        packet_at(v, node, queue, position >= t.injection_ring ? position - t.injection_ring : position);
    enter(v, node, control, index, queue, route_of(packet), now);
  }
}

/// Moves the heads on the bypass channel that were not granted into the FIFOs of their VCs.
template <class V, int W>
FLITLAB_INLINE void store(const V& v, const Item<W>& node, NodeControl& control, u32 index, u64 bypass, Cycle now) {
  const Cycle ready = now + v.t.fifo_delay;
  for (u64 left = bypass & (control.waiting | control.here); left; left &= left - 1) {
    control.entering |= left & (~left + 1);
    queue_at(v, node, lowest_bit(left)).until = static_cast<u16>(ready);
  }
  control.waiting &= ~bypass;
  control.here &= ~bypass;
  wake_queues(v, index, ready);
}

struct NodePhase {
  static constexpr const char* name = "node";
  static constexpr bool listed = true;

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  // The phase for one node at a time, as on a GPU; tests compare the CPU's bulk phase with it.
  template <class V>
  FLITLAB_INLINE static u64 due_set(const V& v, u32 group, Cycle now) {
    return noted_nodes(v, group, now);
  }
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    return is_noted(v, index, now);
  }
  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    run(v, index, now);
  }
  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
    prefetch_node(v, v.nodes[index]);
  }

  /// Bulk phase: processes groups of up to kAtOnce nodes. Granted transfers start after the step of the next group,
  /// when their prefetches have completed. The next group's nodes are prefetched one by one, because only few loads can
  /// be outstanding.
  template <class V>
    requires(V::width == 1)
  FLITLAB_INLINE static void work_groups(const V& v, u32 first, u32 last, Cycle now, bool prefetch) {
    Grants::Grant granted[2][kAtOnce * kDirections];
    Grants before{granted[1]};
    NodeGroup<V::width, kAtOnce> node_groups[2];
    for (; first < last; first += kGroups) {
      DueNodes<kGroups> due(v, first, std::min(first + kGroups, last), now);
      due.take(v, node_groups[0]);
      for (u32 i = 0; prefetch && i < node_groups[0].count; ++i) prefetch_node(v, node_groups[0].node[i]);
      for (u32 k = 0; node_groups[k % 2].count; ++k) {
        const auto& next = node_groups[(k + 1) % 2];
        due.take(v, node_groups[(k + 1) % 2]);
        Grants grants{granted[k % 2]};
        step<kAtOnce>(v, node_groups[k % 2], next.node, prefetch ? next.count : 0, grants, now);
        move_packets(v, before, now);
        before = grants;
      }
      move_packets(v, before, now);
      before.count = 0;
    }
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const Notes notes = take_notes(v, index, now);
    if (!all_of(notes)) return;
    NodeGroup<V::width, 1> batch;
    batch.set(v, 0, index);
    batch.count = 1;
    batch.with_head.add(0, notes.heads);
    batch.with_tokens.add(0, notes.tokens);
    batch.from_software.add(0, notes.heard);
    batch.freed.add(0, notes.again);
    batch.turning.add(0, notes.queues);
    NodeGrants grants;
    step<1>(v, batch, batch.node, 0, grants, now);
    const auto node = v.nodes[index];
    for (u64 left = grants.queues; left; left &= left - 1)
      leave(v, node, node.at(v.t.node_fields.control), index, lowest_bit(left),
            (grants.bypassing & left & (~left + 1)) != 0, now);
  }

 private:
  /// Largest number of queues of a node whose transfers can end in the same cycle.
  static constexpr u32 kMostEnds = 8 * kDirections + kInjectionFifos;

  static constexpr u32 kAtOnce = 64;   ///< nodes of one bulk step
  static constexpr u32 kGroups = 128;  ///< groups of 64 nodes whose calendar entries are read together

  /// Prefetches the fields of a node that lie before its queues. Of the queues, the node will use only one or two.
  template <class V>
  FLITLAB_INLINE static void prefetch_node(const V& v, const Item<V::width>& node) {
#if !defined(__CUDA_ARCH__)
    for (u32 line = 0; line < v.t.node_fields.queue.offset; line += 64) __builtin_prefetch(node.block + line, 1);
#endif
  }

  template <class V>
  FLITLAB_INLINE static void move_packets(const V& v, const Grants& grants, Cycle now) {
    for (u32 k = 0; k < grants.count; ++k) {
      const auto& [index, queue, bypass] = grants.list[k];
      const auto node = v.nodes[index];
      leave(v, node, node.at(v.t.node_fields.control), index, queue, bypass, now);
    }
  }

  /// One cycle of the nodes of `batch`: each part of the cycle runs for all nodes before the next part. Nodes do not
  /// affect one another within a cycle, and long loops of one kind have fewer mispredicted branches. `next`: the nodes
  /// of the next group; the first `more` of them are prefetched.
  template <u32 kMost, class V, class G>
  FLITLAB_INLINE static void step(const V& v, NodeGroup<V::width, kMost>& batch, const Item<V::width>* next, u32 more,
                                  G& grants, Cycle now) {
    const auto& t = v.t;
    // References, not a structured binding, which Clang 14 cannot capture in lambdas.
    auto& index = batch.index;
    auto& node = batch.node;
    auto& bypass = batch.bypass;
    const u32 n = kMost == 1 ? 1 : batch.count;
    const auto &with_head = batch.with_head, &with_tokens = batch.with_tokens, &from_software = batch.from_software,
               &freed = batch.freed, &turning = batch.turning;
    const auto control = [&](u32 i) -> NodeControl& { return node[i].at(t.node_fields.control); };
    struct Tokens {
      u32 node_number, direction;
      u64 content;
    };
    const auto take_tokens = [&](const Tokens& a) __attribute__((always_inline)) {
      receive_tokens(v, node[a.node_number], control(a.node_number), a.direction, a.content);
    };
    auto tokens = later<kMost, 2 * kDirections, Tokens>(take_tokens);
    const auto add_tokens = [&](u32 i, u32 direction, u64 content)
                                __attribute__((always_inline)) { tokens.add(content != 0, {i, direction, content}); };
    // Links on which a token packet may go now: the link, or the space for which the packet returns tokens, has just
    // become free.
    const bool sends_acks = t.acks && !t.protocol;
    BitList<kMost, kDirections + kMostEnds> acks;
    const auto add_ack = [&](u32 i, u32 direction) {
      acks.add(can_send_ack(v, node[i], control(i), direction), i, direction);
    };
#if !defined(__CUDA_ARCH__)
    for (u32 i : with_tokens)
      __builtin_prefetch(&node[i].at(t.node_fields.tokens_back, (now & t.slot_mask) * kDirections), 1);
#endif
    SetList<kMost> free, coming, back, leaving, arriving;
    if (t.protocol) {
      for (u32 i : turning) end_coming(v, node[i], control(i), index[i], now);
      if (t.acks)
        for (u32 i : turning) begin_round(v, node[i], index[i], now);
      for (u32 i : with_tokens)
        for (u32 d = 0; d < 2 * t.dims; ++d) add_tokens(i, d, receive_acknowledgment(v, node[i], d, now));
    } else {
      for (u32 i : freed) {
        const u16 left = static_cast<u16>(now - t.overhead);
        const u32 set = equal_set(node[i], t.node_fields.tail_leaves, left) & ~u32{control(i).links} & all_of(t);
        control(i).links = static_cast<u8>(control(i).links | set);
        free.add(i, set);
      }
      if (t.defer || sends_acks)
        free.for_each([&](u32 i, u32 d) {
          if (t.defer) add_tokens(i, d, std::exchange(node[i].at(t.node_fields.returned, d), 0));
          if (sends_acks) add_ack(i, d);
        });
    }
    const u32 slot = (now & t.slot_mask) * kDirections;
    for (u32 i : with_tokens) back.add(i, nonzero_set(node[i], t.node_fields.tokens_back, slot));
    back.for_each([&](u32 i, u32 d) {
      add_tokens(i, d, bytes_of(std::exchange(node[i].at(t.node_fields.tokens_back, slot + d), 0)));
    });
    tokens.run();
    // Arrivals before departures: a packet that arrives in the cycle in which its VC's last packet has left does not
    // bypass the VC.
    for (u32 i : with_head) coming.add(i, receivers_with_head(v, node[i], now));
    coming.for_each([&](u32 i, u32 receiver) {
      const u32 word = take_head(v, node[i], receiver, now);
      if (!word || (t.protocol && !accept_head(v, node[i], control(i), index[i], receiver, word, now))) return;
      const u32 queue = queue_of(receiver, (word & 0xF) - 1);
      const u16 route = static_cast<u16>(word >> 4);
      if constexpr (V::traced) {
        const Queue& state = queue_at(v, node[i], queue);
        const Packet& packet = packet_at(v, node[i], queue, (state.first + state.packets) % ring_of(t, queue));
        v.log.write(index[i], Event{packet.src, packet.id, EventKind::kArrived, u8(receiver), u8(queue & 7), 0, 0, 3,
                                    packet.flits});
      }
      if (t.defer)
        node[i].at(t.node_fields.engaged, receiver) = now - t.hop_delay + kChunkBytes * chunks_of(route) + t.overhead;
      bypass[i] |= u64{enter(v, node[i], control(i), index[i], queue, route, now)} << queue;
    });
    for (u32 i : from_software) receive_from_software(v, node[i], index[i], now);
    // Ended transfers are listed first and processed afterwards, so that the prefetches of their data can complete.
    const auto end = [&](u32 node_and_queue) __attribute__((always_inline)) {
      const u32 i = kMost == 1 ? 0 : node_and_queue >> 8, queue = node_and_queue & 0xFF;
      end_leave(v, node[i], control(i), index[i], queue, now);
      if (sends_acks && queue < kInjectionQueue) add_ack(i, queue >> 3);
    };
    for (u32 i : turning) {
      const u32 set = equal_set(node[i], t.node_fields.tail_leaves, static_cast<u16>(now)) & control(i).sending;
      control(i).sending = static_cast<u8>(control(i).sending & ~set);
      leaving.add(i, set);
      arriving.add(i, control(i).arriving & ~control(i).leaving);
    }
    auto ended = later<kMost, kMostEnds, u32>(end);
    const auto visit_transfer = [&](u32 i, u32 queue, bool by_link) __attribute__((always_inline)) {
      const Queue& state = queue_at(v, node[i], queue);
#if !defined(__CUDA_ARCH__)
      if (!by_link) __builtin_prefetch(&packet_at(v, node[i], queue, state.first));
#endif
      prefetch_end(v, node[i], control(i), queue, now);
      ended.add(by_link || is_due(state.until, now), i << 8 | queue);
    };
    if constexpr (kMost == 1) {  // in one loop, so that a GPU has one copy of the code
      for (u64 left = leaving.set | arriving.set << kDirections; left; left &= left - 1) {
        const u32 k = lowest_bit(left);
        visit_transfer(0, k < kDirections ? node[0].at(t.node_fields.sender_takes, k) : k - kDirections,
                       k < kDirections);
      }
    } else {
      leaving.for_each([&](u32 i, u32 d) { visit_transfer(i, node[i].at(t.node_fields.sender_takes, d), true); });
      arriving.for_each([&](u32 i, u32 queue) { visit_transfer(i, queue, false); });
    }
    ended.run();
    for (u32 i : turning) end_entering(v, node[i], control(i), now);
    acks.for_each([&](u32 i, u32 direction) {  // a link may be on the list more than once
      if (can_send_ack(v, node[i], control(i), direction)) send_ack(v, node[i], control(i), index[i], direction, now);
    });
    if (t.protocol) {
      for (u32 i = 0; i < n && t.acks; ++i) send_acknowledgments(v, node[i], index[i], now);
      for (u32 i : turning) repeat(v, node[i], index[i], now);
      for (u32 i = 0; i < n; ++i) set_links(v, node[i], control(i), now);
    }
    // Most nodes with an event have zero or one head that can win a link. The nodes are classified first, so that the
    // arbitration loop has no branch for this case.
    ItemList<kMost> here, waiting, uncontested, contended, stored;
    u64 able[kMost];
    for (u32 i = 0; i < n; ++i) {
      if (i < more) prefetch_node(v, next[i]);
      here.add(i, control(i).here != 0);
      waiting.add(i, control(i).waiting != 0);
    }
    for (u32 i : waiting) {
      const u64 heads = able[i] = able_heads(v, node[i], control(i)), others = heads & (heads - 1);
      const bool contested = kMost == 1 || t.gap ? heads != 0 : others != 0;
      uncontested.add(i, (heads != 0) & !contested);
      contended.add(i, contested);
    }
    const auto draws = [&](u32 i) { return ArbiterDraws(v.row->seed, index[i], now); };
    for (u32 i : here)
      if (receive(v, node[i], control(i), index[i], bypass[i], draws(i), now)) wake_links(v, index[i], now + 1);
    if constexpr (kMost != 1)
      for (u32 i : uncontested)
        grant_uncontested(v, node[i], control(i), index[i], lowest_bit(able[i]), bypass[i], draws(i), grants, now);
    for (u32 i : contended)
      if (arbitrate(v, node[i], control(i), index[i], able[i], bypass[i], draws(i), grants, now) &&
          able_heads(v, node[i], control(i)))
        wake_links(v, index[i], now + 1);
    if (t.fifo_delay)
      for (u32 i : with_head) stored.add(i, (bypass[i] & (control(i).waiting | control(i).here)) != 0);
    for (u32 i : stored) store(v, node[i], control(i), index[i], bypass[i], now);
  }

  /// Prefetches the data that end_leave() will use: the next packet of a queue, and the word with the tokens for the
  /// queue's sender.
  template <class V, int W>
  FLITLAB_INLINE static void prefetch_end(const V& v, const Item<W>& node, const NodeControl& control, u32 queue,
                                          Cycle now) {
#if !defined(__CUDA_ARCH__)
    const auto& t = v.t;
    const Queue& state = queue_at(v, node, queue);
    __builtin_prefetch(&packet_at(v, node, queue, state.first + 1u == ring_of(t, queue) ? 0 : state.first + 1u));
    if (!t.acks && queue < kInjectionQueue && !(control.bypassing & bit(queue)))
      prefetch_return(v, node, queue >> 3, now + t.token_delay);
#endif
  }
};

}  // namespace flitlab::bgl
