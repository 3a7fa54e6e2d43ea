#pragma once
/// One cycle of the torus units of a group of nodes, written once for all sizes of groups (lists.hpp).
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

/// Prefetches the fields of a node that lie before its queues. Of the queues, the node will use only one or two.
template <class V>
FLITLAB_INLINE void prefetch_node(const V& v, const Item<V::width>& node) {
#if !defined(__CUDA_ARCH__)
  for (u32 line = 0; line < v.t.node_fields.queue.offset; line += 64) __builtin_prefetch(node.block + line, 1);
#endif
}

/// Prefetches the data that end_leave() will use: the next packet of a queue, and the word with the tokens for the
/// queue's sender.
template <class V, int W>
FLITLAB_INLINE void prefetch_end(const V& v, const Item<W>& node, const NodeControl& control, u32 queue, Cycle now) {
#if !defined(__CUDA_ARCH__)
  const auto& t = v.t;
  const Queue& state = queue_at(v, node, queue);
  __builtin_prefetch(&packet_at(v, node, queue, state.first + 1u == ring_of(t, queue) ? 0 : state.first + 1u));
  if (!t.acks && queue < kInjectionQueue && !(control.bypassing & bit(queue)))
    prefetch_return(v, node, queue >> 3, now + t.token_delay);
#endif
}

/// One cycle of the nodes of `group`: each part of the cycle runs for all nodes before the next part. Nodes do not
/// affect one another within a cycle, and long loops of one kind have fewer mispredicted branches on a CPU, and fewer
/// idle threads on a GPU. `items`: the nodes (OneItem, lists.hpp). `prefetch(i)`: called once for each node, to
/// prefetch other nodes.
template <u32 kMost, class Items, class Group, class G, class Prefetch>
FLITLAB_INLINE void step(const Items& items, Group& group, const StepLists<kMost>& lists, G& grants, Cycle now,
                         Prefetch&& prefetch) {
  const auto& t = items.table();
  // References, not a structured binding, which Clang 14 cannot capture in lambdas.
  auto& bypass = group.bypass;
  const ItemRange<kMost> all = items.all();
  const auto &with_head = group.with_head, &with_tokens = group.with_tokens, &from_software = group.from_software,
             &freed = group.freed, &turning = group.turning;
  auto &free = lists.free, &coming = lists.coming, &back = lists.back;
  auto& acks = lists.acks;
  auto &here = lists.here, &waiting = lists.waiting, &uncontested = lists.uncontested, &contended = lists.contended,
       &stored = lists.stored;
  u64* const able = lists.able;
  const auto view = [&](u32 i) __attribute__((always_inline)) -> decltype(auto) { return items.view(i); };
  const auto index = [&](u32 i) __attribute__((always_inline)) { return items.index(i); };
  const auto node = [&](u32 i) __attribute__((always_inline)) -> decltype(auto) { return group.node_of(items, i); };
  const auto control = [&](u32 i)
                           __attribute__((always_inline)) -> NodeControl& { return node(i).at(t.node_fields.control); };
  struct Tokens {
    u32 node_number, direction;
    u64 content;
  };
  const auto take_tokens = [&](const Tokens& a) __attribute__((always_inline)) {
    const u32 i = a.node_number;
    receive_tokens(view(i), node(i), control(i), a.direction, a.content);
  };
  auto tokens = later<kMost, 2 * kDirections, Tokens>(take_tokens);
  const auto add_tokens = [&](u32 i, u32 direction, u64 content)
                              __attribute__((always_inline)) { tokens.add(content != 0, {i, direction, content}); };
  // `acks`: the link, or the space for which the token packet returns tokens, has just become free.
  const bool sends_acks = t.acks && !t.protocol;
  const auto add_ack = [&](u32 i, u32 direction) {
    acks.add(can_send_ack(view(i), node(i), control(i), direction), i, direction);
  };
#if !defined(__CUDA_ARCH__)
  for (u32 i : with_tokens)
    __builtin_prefetch(&node(i).at(t.node_fields.tokens_back, (now & t.slot_mask) * kDirections), 1);
#endif
  if (t.protocol) {
    for (u32 i : turning) end_coming(view(i), node(i), control(i), index(i), now);
    if (t.acks)
      for (u32 i : turning) begin_round(view(i), node(i), index(i), now);
    for (u32 i : with_tokens)
      for (u32 d = 0; d < 2 * t.dims; ++d) add_tokens(i, d, receive_acknowledgment(view(i), node(i), d, now));
  } else {
    for (u32 i : freed) {
      const u16 left = static_cast<u16>(now - t.overhead);
      const u32 set = equal_set(node(i), t.node_fields.tail_leaves, left) & ~u32{control(i).links} & all_of(t);
      control(i).links = static_cast<u8>(control(i).links | set);
      free.add(i, set);
    }
    if (t.defer || sends_acks)
      free.for_each([&](u32 i, u32 d) {
        if (t.defer) add_tokens(i, d, std::exchange(node(i).at(t.node_fields.returned, d), 0));
        if (sends_acks) add_ack(i, d);
      });
  }
  const u32 slot = (now & t.slot_mask) * kDirections;
  for (u32 i : with_tokens) back.add(i, nonzero_set(node(i), t.node_fields.tokens_back, slot));
  back.for_each([&](u32 i, u32 d) {
    add_tokens(i, d, bytes_of(std::exchange(node(i).at(t.node_fields.tokens_back, slot + d), 0)));
  });
  tokens.run();
  // Arrivals before departures: a packet that arrives in the cycle in which its VC's last packet has left does not
  // bypass the VC.
  for (u32 i : with_head) coming.add(i, receivers_with_head(view(i), node(i), now));
  coming.for_each([&](u32 i, u32 receiver) {
    const auto& v = view(i);
    const u32 word = take_head(v, node(i), receiver, now);
    if (!word || (t.protocol && !accept_head(v, node(i), control(i), index(i), receiver, word, now))) return;
    const u32 queue = queue_of(receiver, (word & 0xF) - 1);
    const u16 route = static_cast<u16>(word >> 4);
    if constexpr (std::remove_cvref_t<decltype(v)>::traced) {
      const Queue& state = queue_at(v, node(i), queue);
      const Packet& packet = packet_at(v, node(i), queue, (state.first + state.packets) % ring_of(t, queue));
      v.log.write(index(i), Event{packet.src, packet.id, EventKind::kArrived, u8(receiver), u8(queue & 7), 0, 0, 3,
                                  packet.flits});
    }
    if (t.defer)
      node(i).at(t.node_fields.engaged, receiver) = now - t.hop_delay + kChunkBytes * chunks_of(route) + t.overhead;
    bypass[i] |= u64{enter(v, node(i), control(i), index(i), queue, route, now)} << queue;
  });
  for (u32 i : from_software) receive_from_software(view(i), node(i), index(i), now);
  // Ended transfers are listed first and processed afterwards, so that the prefetches of their data can complete.
  const auto end = [&](u32 node_and_queue) __attribute__((always_inline)) {
    const u32 i = kMost == 1 ? 0 : node_and_queue >> 8, queue = node_and_queue & 0xFF;
    end_leave(view(i), node(i), control(i), index(i), queue, now);
    if (sends_acks && queue < kInjectionQueue) add_ack(i, queue >> 3);
  };
  auto ended = later<kMost, kMostEnds, u32>(end);
  const auto visit_transfer = [&](u32 i, u32 queue, bool by_link) __attribute__((always_inline)) {
    const Queue& state = queue_at(view(i), node(i), queue);
#if !defined(__CUDA_ARCH__)
    if (!by_link) __builtin_prefetch(&packet_at(view(i), node(i), queue, state.first));
#endif
    prefetch_end(view(i), node(i), control(i), queue, now);
    ended.add(by_link || is_due(state.until, now), i << 8 | queue);
  };
  for (u32 i : turning) {
    const u32 set = equal_set(node(i), t.node_fields.tail_leaves, static_cast<u16>(now)) & control(i).sending;
    control(i).sending = static_cast<u8>(control(i).sending & ~set);
    lists.add_ends(i, set, control(i).arriving & ~control(i).leaving);
  }
  lists.for_each_end([&](u32 i, u32 number, bool by_link) __attribute__((always_inline)) {
    visit_transfer(i, by_link ? u32{node(i).at(t.node_fields.sender_takes, number)} : number, by_link);
  });
  ended.run();
  for (u32 i : turning) end_entering(view(i), node(i), control(i), now);
  if (sends_acks)
    acks.for_each([&](u32 i, u32 direction) {  // a link may be on the list more than once
      if (can_send_ack(view(i), node(i), control(i), direction))
        send_ack(view(i), node(i), control(i), index(i), direction, now);
    });
  if (t.protocol) {
    if (t.acks)
      for (u32 i : all) send_acknowledgments(view(i), node(i), index(i), now);
    for (u32 i : turning) repeat(view(i), node(i), index(i), now);
    for (u32 i : all) set_links(view(i), node(i), control(i), now);
  }
  // Most nodes with an event have zero or one head that can win a link. The nodes are classified first, so that the
  // arbitration loop has no branch for this case.
  for (u32 i : all) {
    prefetch(i);
    here.add(i, control(i).here != 0);
    waiting.add(i, control(i).waiting != 0);
  }
  for (u32 i : waiting) {
    const u64 heads = able[i] = able_heads(view(i), node(i), control(i)), others = heads & (heads - 1);
    const bool contested = kMost == 1 || t.gap ? heads != 0 : others != 0;
    uncontested.add(i, (heads != 0) & !contested);
    contended.add(i, contested);
  }
  const auto draws = [&](u32 i) { return ArbiterDraws(view(i).row->seed, index(i), now); };
  for (u32 i : here)
    if (receive(view(i), node(i), control(i), index(i), bypass[i], draws(i), now))
      wake_links(view(i), index(i), now + 1);
  if constexpr (kMost != 1)
    for (u32 i : uncontested) {
      grant_uncontested(view(i), node(i), control(i), index(i), lowest_bit(able[i]), bypass[i], draws(i), grants, now);
      grants.end_node(i);
    }
  for (u32 i : contended) {
    if (arbitrate(view(i), node(i), control(i), index(i), able[i], bypass[i], draws(i), grants, now) &&
        able_heads(view(i), node(i), control(i)))
      wake_links(view(i), index(i), now + 1);
    grants.end_node(i);
  }
  if (t.fifo_delay)
    for (u32 i : with_head) stored.add(i, (bypass[i] & (control(i).waiting | control(i).here)) != 0);
  for (u32 i : stored) store(view(i), node(i), control(i), index(i), bypass[i], now);
}

/// The same, with lists of its own; not for a block of GPU threads.
template <u32 kMost, class Items, class Group, class G, class Prefetch>
FLITLAB_INLINE void step(const Items& items, Group& group, G& grants, Cycle now, Prefetch&& prefetch) {
  SetList<kMost> free, coming, back, leaving, arriving;
  BitList<kMost, kDirections + kMostEnds> acks;
  ItemList<kMost> here, waiting, uncontested, contended, stored;
  u64 able[kMost];
  const StepLists<kMost> lists{free, coming,  back,        leaving,   arriving, acks,
                               here, waiting, uncontested, contended, stored,   able};
  step<kMost>(items, group, lists, grants, now, prefetch);
}

}  // namespace flitlab::bgl
