#pragma once
/// One cycle of a node's torus unit. A packet of n chunks, alone in the network, whose head asks a sender in cycle t:
///   leaves t; asks in the next node t + hop_delay; its tail has left this node's buffer t + 32 n;
///   the link can take the next packet t + 32 n + 14; the sender knows of the free space t + 32 n + token_delay.
/// A request that was not granted is presented again in the next cycle, one that cannot be granted when something in
/// the node has changed.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bgl/arbitrate.hpp"
#include "kernels/routers/bgl/batch.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// Whether a token message frees a packet: one that could enter no VC before, and can enter this one now.
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

/// Tokens of one message come back to a sender.
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

/// What software has taken out of reception FIFOs and put into injection FIFOs.
template <class V>
FLITLAB_INLINE void receive_from_software(const V& v, const Item<V::width>& node, u32 index, Cycle now) {
  const auto& t = v.t;
  NodeControl& control = node.at(t.node_fields.control);
  SoftwareMail& mail = node.at(t.node_fields.from_software, now & t.software_mask);
  for (; mail.taken; mail.taken &= ~(u64{0xF} << (lowest_bit(mail.taken) & ~3u))) {
    const u32 fifo = lowest_bit(mail.taken) / 4;
    control.reception_room[fifo] = static_cast<u8>(control.reception_room[fifo] + (mail.taken >> 4 * fifo & 0xF));
  }
  for (; mail.put; mail.put &= mail.put - 1) {
    const u32 queue = kInjectionQueue + lowest_bit(mail.put);
    const Queue& state = queue_at(v, node, queue);
    const u32 place = u32{state.first} + state.packets;
    const Packet& packet = packet_at(v, node, queue, place >= t.injection_ring ? place - t.injection_ring : place);
    enter(v, node, control, index, queue, route_of(packet), now);
  }
}

/// Heads that have not got through by the bypass channel go into their VC's FIFO.
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

  /// One by one, as on a device. Batches, which are for CPUs, are compared with that.
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
    bring(v, v.nodes[index]);
  }

  /// In batches, their packets moved a batch later: meanwhile memory brings what that needs. It brings the next nodes
  /// as well, one by one, since it can do only so much at a time.
  template <class V>
    requires(V::width == 1)
  FLITLAB_INLINE static void work_groups(const V& v, u32 first, u32 last, Cycle now, bool prefetch) {
    Grants::Grant granted[2][kAtOnce * kDirections];
    Grants before{granted[1]};
    Batch<V::width, kAtOnce> batches[2];
    for (; first < last; first += kGroups) {
      DueNodes<kGroups> due(v, first, std::min(first + kGroups, last), now);
      due.take(v, batches[0]);
      for (u32 i = 0; prefetch && i < batches[0].count; ++i) bring(v, batches[0].node[i]);
      for (u32 k = 0; batches[k % 2].count; ++k) {
        const auto& next = batches[(k + 1) % 2];
        due.take(v, batches[(k + 1) % 2]);
        Grants grants{granted[k % 2]};
        step<kAtOnce>(v, batches[k % 2], next.node, prefetch ? next.count : 0, grants, now);
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
    Batch<V::width, 1> batch;
    batch.set(v, 0, index);
    batch.count = 1;
    batch.with_head.add(0, notes.heads);
    batch.with_tokens.add(0, notes.tokens);
    batch.heard.add(0, notes.heard);
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
  /// Queues of a node that can end to leave in the same cycle.
  static constexpr u32 kMostEnds = 8 * kDirections + kInjectionFifos;

  static constexpr u32 kAtOnce = 64;   ///< nodes of a batch
  static constexpr u32 kGroups = 128;  ///< groups whose notes are taken at once

  /// All that lies before its queues, of which it will need one or two.
  template <class V>
  FLITLAB_INLINE static void bring(const V& v, const Item<V::width>& node) {
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

  /// Step by step over the nodes of a batch, since nothing that happens in one of them is seen by another in the same
  /// cycle: what a node gets cannot be foreseen, and in long loops of the same kind that costs less. `next`: the first
  /// `more` nodes of the next batch.
  template <u32 kMost, class V, class G>
  FLITLAB_INLINE static void step(const V& v, Batch<V::width, kMost>& batch, const Item<V::width>* next, u32 more,
                                  G& grants, Cycle now) {
    const auto& t = v.t;
    // References, not a structured binding: Clang 14 has none of those in lambdas.
    auto& index = batch.index;
    auto& node = batch.node;
    auto& bypass = batch.bypass;
    const u32 n = kMost == 1 ? 1 : batch.count;
    const auto &with_head = batch.with_head, &with_tokens = batch.with_tokens, &heard = batch.heard,
               &freed = batch.freed, &turning = batch.turning;
    const auto control = [&](u32 i) -> NodeControl& { return node[i].at(t.node_fields.control); };
    struct Tokens {
      u32 who, direction;
      u64 content;
    };
    const auto take_tokens = [&](const Tokens& a) __attribute__((always_inline)) {
      receive_tokens(v, node[a.who], control(a.who), a.direction, a.content);
    };
    auto tokens = later<kMost, 2 * kDirections, Tokens>(take_tokens);
    const auto add_tokens = [&](u32 i, u32 direction, u64 content)
                                __attribute__((always_inline)) { tokens.add(content != 0, {i, direction, content}); };
    // Token packets that can go now: their link has just become free, or their tokens have.
    const bool sends_acks = t.acks && !t.protocol;
    LinkList<kMost, kDirections + kMostEnds> acks;
    const auto add_ack = [&](u32 i, u32 direction) {
      acks.add(can_send_ack(v, node[i], control(i), direction), i, direction);
    };
#if !defined(__CUDA_ARCH__)
    for (u32 i : with_tokens)
      __builtin_prefetch(&node[i].at(t.node_fields.tokens_back, (now & t.slot_mask) * kDirections), 1);
#endif
    SetsOf<kMost> free, coming, back, leaving, arriving;
    if (t.protocol) {
      for (u32 i : turning) end_coming(v, node[i], control(i), index[i], now);
      if (t.acks)
        for (u32 i : turning) begin_round(v, node[i], index[i], now);
      for (u32 i : with_tokens)
        for (u32 d = 0; d < 2 * t.dims; ++d) add_tokens(i, d, take_acknowledgment(v, node[i], d, now));
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
    // Arrivals before departures: a packet that comes in the cycle in which its VC's last one has left goes into the
    // VC.
    for (u32 i : with_head) coming.add(i, receivers_with_head(v, node[i], now));
    coming.for_each([&](u32 i, u32 receiver) {
      const u32 word = take_head(v, node[i], receiver, now);
      if (!word || (t.protocol && !lets_in(v, node[i], control(i), index[i], receiver, word, now))) return;
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
    for (u32 i : heard) receive_from_software(v, node[i], index[i], now);
    // What has ended, and what has been decided, is listed first, so that memory can bring what it needs meanwhile.
    const auto end = [&](u32 who_and_queue) __attribute__((always_inline)) {
      const u32 i = kMost == 1 ? 0 : who_and_queue >> 8, queue = who_and_queue & 0xFF;
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
    const auto see = [&](u32 i, u32 queue, bool by_link) __attribute__((always_inline)) {
      const Queue& state = queue_at(v, node[i], queue);
#if !defined(__CUDA_ARCH__)
      if (!by_link) __builtin_prefetch(&packet_at(v, node[i], queue, state.first));
#endif
      prefetch_end(v, node[i], control(i), queue, now);
      ended.add(by_link || has_come(state.until, now), i << 8 | queue);
    };
    if constexpr (kMost == 1) {  // in one loop, so that a device has one copy of what it does
      for (u64 left = leaving.set | arriving.set << kDirections; left; left &= left - 1) {
        const u32 k = lowest_bit(left);
        see(0, k < kDirections ? node[0].at(t.node_fields.sender_takes, k) : k - kDirections, k < kDirections);
      }
    } else {
      leaving.for_each([&](u32 i, u32 d) { see(i, node[i].at(t.node_fields.sender_takes, d), true); });
      arriving.for_each([&](u32 i, u32 queue) { see(i, queue, false); });
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
    // Most of those that are woken have nobody who may get a link, or one: they are told apart before, not meanwhile.
    Numbers<kMost> here, waiting, alone, several, stored;
    u64 able[kMost];
    for (u32 i = 0; i < n; ++i) {
      if (i < more) bring(v, next[i]);
      here.add(i, control(i).here != 0);
      waiting.add(i, control(i).waiting != 0);
    }
    for (u32 i : waiting) {
      const u64 heads = able[i] = able_heads(v, node[i], control(i)), others = heads & (heads - 1);
      const bool contested = kMost == 1 || t.gap ? heads != 0 : others != 0;
      alone.add(i, (heads != 0) & !contested);
      several.add(i, contested);
    }
    const auto dice = [&](u32 i) { return Dice(v.row->seed, index[i], now); };
    for (u32 i : here)
      if (receive(v, node[i], control(i), index[i], bypass[i], dice(i), now)) look_again(v, index[i], now + 1);
    if constexpr (kMost != 1)
      for (u32 i : alone)
        pass_alone(v, node[i], control(i), index[i], lowest_bit(able[i]), bypass[i], dice(i), grants, now);
    for (u32 i : several)
      if (pass(v, node[i], control(i), index[i], able[i], bypass[i], dice(i), grants, now) &&
          able_heads(v, node[i], control(i)))
        look_again(v, index[i], now + 1);
    if (t.fifo_delay)
      for (u32 i : with_head) stored.add(i, (bypass[i] & (control(i).waiting | control(i).here)) != 0);
    for (u32 i : stored) store(v, node[i], control(i), index[i], bypass[i], now);
  }

  /// The next packet of a queue whose head may have left it, and what else that will need.
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
