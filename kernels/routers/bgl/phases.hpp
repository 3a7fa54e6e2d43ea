#pragma once
/// One cycle of a node's torus unit. A packet of n chunks, alone in the network, whose head asks a sender in cycle t:
///   leaves t; asks in the next node t + hop_delay; its tail has left this node's buffer t + 32 n;
///   the link can take the next packet t + 32 n + 14; the sender knows of the free space t + 32 n + token_delay.
/// A request that was not granted is presented again in the next cycle, one that cannot be granted when something in
/// the node has changed.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bgl/arbitrate.hpp"
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
FLITLAB_INLINE void receive_from_software(const V& v, u32 index, Cycle now) {
  const auto& t = v.t;
  const auto node = v.nodes[index];
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

/// Heads that are ready now begin to ask.
template <class V, int W>
FLITLAB_INLINE void end_entering(const V& v, const Item<W>& node, NodeControl& control, Cycle now) {
  for (u64 left = control.entering; left; left &= left - 1) {
    const u32 queue = lowest_bit(left);
    const Queue& state = queue_at(v, node, queue);
    if (!has_come(state.until, now)) continue;
    control.entering &= ~bit(queue);
    ask(control, queue, state.route);
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

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  template <class V>
  FLITLAB_INLINE static u32 list_due(const V& v, u32 group, Cycle now, u32* list) {
    return list_nodes(v, group, now, list);
  }

  /// In batches, their packets moved a batch later: meanwhile memory brings what that needs. It brings the next nodes
  /// as well, one by one, since it can do only so much at a time.
  template <class V>
  FLITLAB_INLINE static void work_list(const V& v, const u32* list, u32 n, Cycle now, bool prefetch) {
    Grants::Grant granted[2][kAtOnce * kDirections];
    Grants last{granted[1]};
    for (u32 i = 0; prefetch && i < std::min(n, kAtOnce); ++i) bring(v, node_of(list[i]));
    for (u32 i = 0; i < n; i += kAtOnce) {
      const u32 size = std::min(kAtOnce, n - i), more = prefetch ? std::min(kAtOnce, n - i - size) : 0;
      Grants grants{granted[i / kAtOnce % 2]};
      step<kAtOnce>(v, list + i, size, more, grants, now);
      move_packets(v, last, now);
      last = grants;
    }
    move_packets(v, last, now);
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const u32 notes = take_notes(v, index, now);
    if (!notes) return;
    const u32 entry = index | notes;
    Grants::Grant granted[kDirections];
    Grants grants{granted};
    step<1>(v, &entry, 1, 0, grants, now);
    move_packets(v, grants, now);
  }

 private:
  static constexpr u32 kAtOnce = 32;  ///< nodes of a batch

  template <class V>
  FLITLAB_INLINE static void bring(const V& v, u32 index) {
#if !defined(__CUDA_ARCH__)
    const auto node = v.nodes[index];
    const u32 end = v.t.node_fields.queue.offset + kDirections * v.t.vcs * sizeof(Queue);
    for (u32 line = 0; line < end; line += 64) __builtin_prefetch(node.block + line, 1);
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

  /// Step by step over the nodes of a list, since nothing that happens in one of them is seen by another in the same
  /// cycle: what a node gets cannot be foreseen, and in long loops of the same kind that costs less. `more`: nodes of
  /// the next batch, which follow on the list.
  template <u32 kMost, class V>
  FLITLAB_INLINE static void step(const V& v, const u32* entries, u32 n, u32 more, Grants& grants, Cycle now) {
    const auto& t = v.t;
    struct Piece {
      u32 who;  // place in the list
      u32 direction;
      u64 content;
    };
    Piece heads[kDirections * kMost + 1], tokens[2 * kDirections * kMost + 1];
    u32 list[kMost], with_head[kMost + 1], with_tokens[kMost + 1], heard[kMost + 1], freed[kMost + 1];
    u32 turning[kMost + 1];
    u32 head_count = 0, token_count = 0;
    u32 with_head_count = 0, with_tokens_count = 0, heard_count = 0, freed_count = 0, turning_count = 0;
    u64 bypass[kMost] = {};
    for (u32 i = 0; i < n; ++i) {
      const u32 entry = entries[i];
      list[i] = node_of(entry);
      with_head[with_head_count] = with_tokens[with_tokens_count] = heard[heard_count] = freed[freed_count] =
          turning[turning_count] = i;
      with_head_count += (entry & kHead) != 0;
      with_tokens_count += (entry & kTokens) != 0;
      heard_count += (entry & kHeard) != 0;
      freed_count += (entry & kAgain) != 0;
      turning_count += (entry & kQueues) != 0;
    }
    const auto node = [&](u32 i) { return v.nodes[list[i]]; };
    const auto control = [&](u32 i) -> NodeControl& { return node(i).at(t.node_fields.control); };
#if !defined(__CUDA_ARCH__)
    for (u32 k = 0; k < with_tokens_count; ++k)
      __builtin_prefetch(&node(with_tokens[k]).at(t.node_fields.tokens_back, (now & t.slot_mask) * kDirections), 1);
#endif
    if (t.protocol) {
      for (u32 k = 0; k < turning_count; ++k)
        end_coming(v, node(turning[k]), control(turning[k]), list[turning[k]], now);
      for (u32 k = 0; k < turning_count && t.acks; ++k) begin_round(v, node(turning[k]), list[turning[k]], now);
      for (u32 k = 0; k < with_tokens_count; ++k)
        for (u32 d = 0; d < 2 * t.dims; ++d) {
          const u32 i = with_tokens[k];
          tokens[token_count] = {i, d, take_acknowledgment(v, node(i), d, now)};
          token_count += tokens[token_count].content != 0;
        }
    } else {
      for (u32 k = 0; k < freed_count; ++k) {
        const u32 i = freed[k];
        u32 free = 0;
        for (u32 d = 0; d < 2 * t.dims; ++d)
          free |= u32{node(i).at(t.node_fields.tail_leaves, d) == static_cast<u16>(now - t.overhead)} << d;
        free &= ~u32{control(i).links};
        control(i).links |= static_cast<u8>(free);
        for (; free && t.defer; free &= free - 1) {
          const u32 d = lowest_bit(free);
          tokens[token_count] = {i, d, std::exchange(node(i).at(t.node_fields.returned, d), 0)};
          token_count += tokens[token_count].content != 0;
        }
      }
    }
    for (u32 k = 0; k < with_head_count; ++k) {
      const u32 i = with_head[k];
      for (u32 d = 0; d < 2 * t.dims; ++d) {
        heads[head_count] = {i, d, take_head(v, node(i), d, now)};
        head_count += heads[head_count].content != 0;
      }
    }
    for (u32 k = 0; k < with_tokens_count; ++k) {
      const u32 i = with_tokens[k];
      for (u32 d = 0; d < 2 * t.dims; ++d) {
        u32& back = node(i).at(t.node_fields.tokens_back, (now & t.slot_mask) * kDirections + d);
        tokens[token_count] = {i, d, bytes_of(std::exchange(back, 0))};
        token_count += tokens[token_count].content != 0;
      }
    }
    for (u32 k = 0; k < token_count; ++k)
      receive_tokens(v, node(tokens[k].who), control(tokens[k].who), tokens[k].direction, tokens[k].content);
    // Arrivals before departures: a packet that comes in the cycle in which its VC's last one has left goes into the
    // VC.
    for (u32 k = 0; k < head_count; ++k) {
      const auto& [i, direction, content] = heads[k];
      const u32 word = static_cast<u32>(content);
      if (t.protocol && !lets_in(v, node(i), control(i), list[i], direction, word, now)) continue;
      const u32 queue = queue_of(direction, (word & 0xF) - 1);
      const u16 route = static_cast<u16>(word >> 4);
      if constexpr (V::traced) {
        const Queue& state = queue_at(v, node(i), queue);
        const Packet& packet = packet_at(v, node(i), queue, (state.first + state.packets) % ring_of(t, queue));
        v.log.write(list[i], Event{packet.src, packet.id, EventKind::kArrived, u8(direction), u8(queue & 7), 0, 0, 3,
                                   packet.flits});
      }
      if (t.defer)
        node(i).at(t.node_fields.engaged, direction) = now - t.hop_delay + kChunkBytes * chunks_of(route) + t.overhead;
      bypass[i] |= u64{enter(v, node(i), control(i), list[i], queue, route, now)} << queue;
    }
    for (u32 k = 0; k < heard_count; ++k) receive_from_software(v, list[heard[k]], now);
    // What has ended, and what has been decided, is listed first, so that memory can bring what it needs meanwhile.
    u32 ended[kMost * kMostEnds + 1], end_count = 0;
    for (u32 k = 0; k < turning_count; ++k) {
      const u32 i = turning[k];
      for (u32 d = 0; d < 2 * t.dims; ++d) {
        const bool ends = control(i).sending >> d & (node(i).at(t.node_fields.tail_leaves, d) == static_cast<u16>(now));
        ended[end_count] = i << 8 | node(i).at(t.node_fields.sender_takes, d);
        end_count += ends;
        control(i).sending = static_cast<u8>(control(i).sending & ~(u32{ends} << d));
      }
      for (u64 left = control(i).arriving & ~control(i).leaving; left; left &= left - 1) {
        const u32 queue = lowest_bit(left);
        ended[end_count] = i << 8 | queue;
        end_count += has_come(queue_at(v, node(i), queue).until, now);
      }
    }
    for (u32 k = 0; k < end_count; ++k)
      prefetch_end(v, node(ended[k] >> 8), control(ended[k] >> 8), list[ended[k] >> 8], ended[k] & 0xFF, now);
    for (u32 k = 0; k < end_count; ++k) {
      const u32 i = ended[k] >> 8;
      end_leave(v, node(i), control(i), list[i], ended[k] & 0xFF, now);
    }
    for (u32 k = 0; k < turning_count; ++k) {
      const u32 i = turning[k];
      end_entering(v, node(i), control(i), now);
    }
    if (t.protocol) {
      for (u32 i = 0; i < n && t.acks; ++i) send_acknowledgments(v, node(i), list[i], now);
      for (u32 k = 0; k < turning_count; ++k) repeat(v, node(turning[k]), list[turning[k]], now);
      for (u32 i = 0; i < n; ++i) set_links(v, node(i), control(i), now);
    } else if (t.acks) {
      for (u32 i = 0; i < n; ++i) send_acks(v, node(i), control(i), list[i], now);
    }
    // Most of those that are woken have nobody who may get a link, or one: they are told apart before, not meanwhile.
    u32 here[kMost + 1], alone[kMost + 1], several[kMost + 1], here_count = 0, alone_count = 0, several_count = 0;
    u64 able[kMost];
    bool again[kMost] = {};
    for (u32 i = 0; i < n; ++i) {
      if (i < more) bring(v, node_of(entries[n + i]));
      able[i] = able_heads(v, node(i), control(i));
      here[here_count] = alone[alone_count] = several[several_count] = i;
      here_count += control(i).here != 0;
      const bool contested = t.gap ? able[i] != 0 : (able[i] & (able[i] - 1)) != 0;
      alone_count += able[i] && !contested;
      several_count += contested;
    }
    const auto dice = [&](u32 i) { return Dice(v.row->seed, list[i], now); };
    for (u32 k = 0; k < here_count; ++k) {
      const u32 i = here[k];
      again[i] = receive(v, node(i), control(i), list[i], bypass[i], dice(i), now);
    }
    for (u32 k = 0; k < alone_count; ++k) {
      const u32 i = alone[k];
      pass_alone(v, node(i), control(i), list[i], lowest_bit(able[i]), bypass[i], dice(i), grants, now);
    }
    for (u32 k = 0; k < several_count; ++k) {
      const u32 i = several[k];
      if (pass(v, node(i), control(i), list[i], able[i], bypass[i], dice(i), grants, now))
        again[i] |= able_heads(v, node(i), control(i)) != 0;
    }
    u32 losers[kMost + 1], stored[kMost + 1], loser_count = 0, stored_count = 0;
    for (u32 i = 0; i < n; ++i) {
      losers[loser_count] = stored[stored_count] = i;
      loser_count += again[i];
      stored_count += t.fifo_delay && bypass[i] & (control(i).waiting | control(i).here);
    }
    for (u32 k = 0; k < loser_count; ++k) look_again(v, list[losers[k]], now + 1);
    for (u32 k = 0; k < stored_count; ++k) {
      const u32 i = stored[k];
      store(v, node(i), control(i), list[i], bypass[i], now);
    }
  }

  /// Queues of a node that can end to leave in the same cycle.
  static constexpr u32 kMostEnds = 8 * kDirections + kInjectionFifos;

  template <class V, int W>
  FLITLAB_INLINE static void prefetch_end(const V& v, const Item<W>& node, const NodeControl& control, u32 index,
                                          u32 queue, Cycle now) {
#if !defined(__CUDA_ARCH__)
    const auto& t = v.t;
    const Queue& state = queue_at(v, node, queue);
    if (state.packets > 1)
      __builtin_prefetch(&packet_at(v, node, queue, state.first + 1u == ring_of(t, queue) ? 0 : state.first + 1u));
    if (control.arriving & bit(queue)) __builtin_prefetch(&packet_at(v, node, queue, state.first));
    if (queue >= kInjectionQueue) __builtin_prefetch(&v.terminals[index].at(t.software_fields.space_mail), 1);
    if (queue < kInjectionQueue && !(control.bypassing & bit(queue)))
      prefetch_return(v, node, queue >> 3, now + t.token_delay);
#endif
  }
};

}  // namespace flitlab::bgl
