#pragma once
/// One cycle of a node's torus unit. A packet of n chunks, alone in the network, whose head asks a sender in cycle t:
///   leaves t; asks in the next node t + hop_delay; its tail has left this node's buffer t + 32 n;
///   the link can take the next packet t + 32 n + 14; the sender knows of the free space t + 32 n + token_delay.
/// A request that was not granted is presented again in the next cycle, one that cannot be granted when something in
/// the node has changed.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bgl/arbitrate.hpp"

namespace flitlab::bgl {

/// Whether a token message frees a packet: one that could enter no VC before, and can enter this one now.
template <class V, int W>
FLITLAB_INLINE bool has_open_vc(const V& v, const Item<W>& node, u32 address, u32 queue) {
  const auto& t = v.t;
  const Queue& state = queue_at(v, node, queue);
  const u32 hints = state.route & kHints;
  if (state.route & kDynamic && !(state.route & kHighPriority))
    for (u32 left = hints; left; left &= left - 1)
      if (node.at(t.node_fields.open, lowest_bit(left)) & t.dynamic_set) return true;
  const u32 direction = escape_direction(t.order, hints);
  const u32 vc = state.route & kHighPriority ? t.high_vc : escape_vc(t, address, state.route, direction);
  return enterable(v, node, direction, stays_in_ring(queue, direction, vc)) >> vc & 1;
}

/// Tokens of one message come back to a sender.
template <class V, int W>
FLITLAB_INLINE void receive_tokens(const V& v, const Item<W>& node, NodeControl& control, u32 direction, u32 mail) {
  const auto& t = v.t;
  u64 stuck = 0;
  if (t.statistics)
    for (u64 left = control.waiting & kReceivers; left; left &= left - 1)
      if (!has_open_vc(v, node, control.address, lowest_bit(left))) stuck |= left & (~left + 1);
  for (; mail;) {
    const u32 vc = lowest_bit(mail) / 4, chunks = mail >> 4 * vc & 0xF;
    const u32 tokens = node.at(t.node_fields.tokens, direction * t.vcs + vc) + chunks;
    if (tokens > t.buffer[vc]) raise_fault(control.fault, kFaultCreditOverflow, direction);
    set_tokens(v, node, direction, vc, tokens);
    mail &= ~(0xFu << 4 * vc);
  }
  if (stuck) count(*v.shard, Total::kTokenMessages);
  for (; stuck; stuck &= stuck - 1)
    if (has_open_vc(v, node, control.address, lowest_bit(stuck))) {
      count(*v.shard, Total::kUnblocking);
      return;
    }
}

/// What software has taken out of reception FIFOs and put into injection FIFOs.
template <class V>
FLITLAB_INLINE void receive_from_software(const V& v, u32 index, Cycle now) {
  const auto& t = v.t;
  const auto node = v.nodes[index];
  NodeControl& control = node.at(t.node_fields.control);
  Mail& mail = node.at(t.node_fields.mail, now & t.slot_mask);
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
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    return noted_nodes(v, index / 64, now) >> index % 64 & 1;
  }

  template <class V>
  FLITLAB_INLINE static u64 due_set(const V& v, u32 group, Cycle now) {
    return noted_nodes(v, group, now);
  }

  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index, Cycle now) {
#if !defined(__CUDA_ARCH__)
    const auto node = v.nodes[index];
    for (u32 line = 0; line < v.t.node_fields.busy.offset; line += 64) __builtin_prefetch(node.block + line, 1);
    __builtin_prefetch(&node.at(v.t.node_fields.mail, now & v.t.slot_mask), 1);
#endif
  }

  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    step<1>(v, &index, 1, now);
  }

  static constexpr u32 batch = 32;

  template <class V>
  FLITLAB_INLINE static void work_many(const V& v, const u32* list, u32 n, Cycle now) {
    step<batch>(v, list, n, now);
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }

 private:
  /// Step by step over the nodes of a list, since nothing that happens in one of them is seen by another in the same
  /// cycle: what a node gets cannot be foreseen, and in long loops of the same kind that costs less.
  template <u32 kMost, class V>
  FLITLAB_INLINE static void step(const V& v, const u32* list, u32 n, Cycle now) {
    const auto& t = v.t;
    const u32 slot = now & t.slot_mask;
    struct Piece {
      u32 who;  // place in the list
      u32 direction;
      u64 content;
    };
    Piece pieces[kDirections * kMost + 1];
    u32 with_mail[kMost + 1], turning[kMost + 1], others[kMost + 1], asking[kMost + 1];
    u64 bypass[kMost] = {};
    u32 piece_count = 0, mail_count = 0, turning_count = 0, other_count = 0, asking_count = 0;
    const auto node = [&](u32 i) { return v.nodes[list[i]]; };
    const auto control = [&](u32 i) -> NodeControl& { return node(i).at(t.node_fields.control); };
    for (u32 i = 0; i < n; ++i) {
      u8& mail = mail_note(v, list[i], now);
      with_mail[mail_count] = i;
      mail_count += mail;
      mail = 0;
      take_note(notes_at(v, t.calendar_fields.again, list[i], now), list[i]);
      turning[turning_count] = i;
      turning_count += take_note(notes_at(v, t.calendar_fields.queues, list[i], now), list[i]);
    }
    if (t.protocol) {
      for (u32 k = 0; k < turning_count; ++k)
        end_coming(v, node(turning[k]), control(turning[k]), list[turning[k]], now);
      for (u32 k = 0; k < mail_count; ++k) take_acknowledgments(v, node(with_mail[k]), now);
      for (u32 k = 0; k < turning_count; ++k) repeat(v, node(turning[k]), list[turning[k]], now);
    }
    for (u32 k = 0; k < mail_count; ++k) {
      const u32 i = with_mail[k];
      Mail& mail = node(i).at(t.node_fields.mail, slot);
      for (u32 d = 0; d < 2 * t.dims; ++d) {
        pieces[piece_count] = {i, d, mail.link[d]};
        piece_count += mail.link[d] != 0;
        mail.link[d] = 0;
      }
      others[other_count] = i;
      other_count += (mail.taken | mail.put) != 0;
    }
    // Arrivals before departures: a packet that comes in the cycle in which its VC's last one has left goes into the
    // VC.
    for (u32 k = 0; k < piece_count; ++k) {
      const Piece& p = pieces[k];
      if (const u32 tokens = static_cast<u32>(p.content >> 32))
        receive_tokens(v, node(p.who), control(p.who), p.direction, tokens);
      const u32 arrival = static_cast<u32>(p.content);
      if (!arrival) continue;
      if (t.protocol && !lets_in(v, node(p.who), control(p.who), list[p.who], p.direction, arrival, now)) continue;
      const u32 queue = queue_of(p.direction, (arrival & 0xF) - 1);
      const u16 route = static_cast<u16>(arrival >> 4);
      if constexpr (V::traced) {
        const Queue& state = queue_at(v, node(p.who), queue);
        const Packet& packet = packet_at(v, node(p.who), queue, (state.first + state.packets) % ring_of(t, queue));
        v.log.write(list[p.who], Event{packet.src, packet.id, EventKind::kArrived, u8(p.direction), u8(queue & 7), 0, 0,
                                       3, packet.flits});
      }
      const bool passes = enter(v, node(p.who), control(p.who), list[p.who], queue, route, now);
      bypass[p.who] |= u64{passes} << queue;
    }
    for (u32 k = 0; k < other_count; ++k) receive_from_software(v, list[others[k]], now);
    // What has ended, and what has been decided, is listed first, so that memory can bring what it needs meanwhile.
    u32 ended[kMost * kMostEnds], end_count = 0;
    for (u32 k = 0; k < turning_count; ++k) {
      const u32 i = turning[k];
      for (u64 left = control(i).leaving | control(i).arriving; left; left &= left - 1) {
        const u32 queue = lowest_bit(left);
        if (!has_come(queue_at(v, node(i), queue).until, now)) continue;
        ended[end_count++] = i << 8 | queue;
        prefetch_end(v, node(i), control(i), queue, now);
      }
    }
    for (u32 k = 0; k < end_count; ++k) {
      const u32 i = ended[k] >> 8;
      end_leave(v, node(i), control(i), list[i], ended[k] & 0xFF, now);
    }
    for (u32 k = 0; k < turning_count; ++k) {
      const u32 i = turning[k];
      end_entering(v, node(i), control(i), now);
    }
    Grants::Grant granted[kMost * kDirections];
    Grants grants{granted};
    bool again[kMost];
    for (u32 i = 0; i < n; ++i) {
      asking[asking_count] = i;
      asking_count += (control(i).waiting | control(i).here) != 0;
    }
    for (u32 k = 0; k < asking_count; ++k) {
      const u32 i = asking[k];
      again[k] = arbitrate(v, node(i), control(i), list[i], i, bypass[i], grants, now);
    }
    for (u32 k = 0; k < grants.count; ++k) {
      const u32 i = granted[k].who;
      leave(v, node(i), control(i), list[i], granted[k].queue, granted[k].bypass, now);
    }
    for (u32 k = 0; k < asking_count; ++k) {
      const u32 i = asking[k];
      watch_links(v, node(i), control(i), list[i], now);
      if (again[k]) look_again(v, list[i], now + 1);
      if (t.fifo_delay && bypass[i] & (control(i).waiting | control(i).here))
        store(v, node(i), control(i), list[i], bypass[i], now);
    }
  }

  /// Queues of a node that can end to leave in the same cycle.
  static constexpr u32 kMostEnds = 8 * kDirections + kInjectionFifos;

  template <class V, int W>
  FLITLAB_INLINE static void prefetch_end(const V& v, const Item<W>& node, const NodeControl& control, u32 queue,
                                          Cycle now) {
#if !defined(__CUDA_ARCH__)
    const auto& t = v.t;
    const Queue& state = queue_at(v, node, queue);
    if (state.packets > 1)
      __builtin_prefetch(&packet_at(v, node, queue, state.first + 1u == ring_of(t, queue) ? 0 : state.first + 1u));
    if (control.arriving & bit(queue)) __builtin_prefetch(&packet_at(v, node, queue, state.first));
    if (queue < kInjectionQueue && !(control.bypassing & bit(queue))) prefetch_token_mail(v, node, queue >> 3, now);
#endif
  }
};

}  // namespace flitlab::bgl
