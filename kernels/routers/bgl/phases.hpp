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
FLITLAB_INLINE bool has_open_vc(const V& v, const Item<W>& node, u32 index, u32 queue) {
  const auto& t = v.t;
  const Queue& state = queue_at(v, node, queue);
  const u32 hints = state.route & kHints;
  if (!hints) return true;
  if (state.route & kDynamic && !(state.route & kHighPriority))
    for (u32 left = hints; left; left &= left - 1)
      if (node.at(t.node_fields.open, lowest_bit(left)) & t.dynamic_set) return true;
  const u32 direction = escape_direction(t.order, hints);
  const u32 vc = state.route & kHighPriority ? t.high_vc : escape_vc(t, t.address[index], state.route, direction);
  return enterable(v, node, direction, stays_in_ring(queue, direction, vc)) >> vc & 1;
}

/// Tokens of one message come back to a sender.
template <class V, int W>
FLITLAB_INLINE void receive_tokens(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 direction,
                                   u32 mail) {
  const auto& t = v.t;
  u64 stuck = 0;
  if (t.statistics)
    for (u64 left = control.waiting; left; left &= left - 1)
      if (!has_open_vc(v, node, index, lowest_bit(left))) stuck |= left & (~left + 1);
  for (; mail;) {
    const u32 vc = lowest_bit(mail) / 4, chunks = mail >> 4 * vc & 0xF;
    const u32 tokens = node.at(t.node_fields.tokens, direction * t.vcs + vc) + chunks;
    if (tokens > t.buffer[vc]) raise_fault(control.fault, kFaultCreditOverflow, direction);
    set_tokens(v, node, direction, vc, tokens);
    mail &= ~(0xFu << 4 * vc);
  }
  if (!t.statistics) return;
  count(*v.shard, Total::kTokenMessages);
  for (; stuck; stuck &= stuck - 1)
    if (has_open_vc(v, node, index, lowest_bit(stuck))) {
      count(*v.shard, Total::kUnblocking);
      return;
    }
}

struct NodePhase {
  static constexpr const char* name = "node";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    return note_at(v, v.t.calendar_fields.node, index, now);
  }

  template <class V>
  FLITLAB_INLINE static u64 due_set(const V& v, u32 group, Cycle now) {
    return noted(v, v.t.calendar_fields.node, group, now);
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
    const auto& t = v.t;
    const auto node = v.nodes[index];
    note_at(v, t.calendar_fields.node, index, now) = 0;
    NodeControl& control = node.at(t.node_fields.control);
    Mail& mail = node.at(t.node_fields.mail, now & t.slot_mask);
    // Arrivals before departures: a packet that comes in the cycle in which its VC's last one has left goes into the
    // VC.
    u64 bypass = 0;
    for (u32 d = 0; d < 2 * t.dims; ++d) {
      if (mail.tokens[d]) receive_tokens(v, node, control, index, d, mail.tokens[d]);
      mail.tokens[d] = 0;
      const u32 arrival = mail.arrival[d];
      if (!arrival) continue;
      const u32 queue = queue_of(d, (arrival & 0xF) - 1);
      if (enter(v, node, control, index, queue, static_cast<u16>(arrival >> 4), now)) bypass |= bit(queue);
      mail.arrival[d] = 0;
    }
    for (u64 left = mail.taken; left; left &= ~(u64{0xF} << (lowest_bit(left) & ~3u))) {
      const u32 fifo = lowest_bit(left) / 4;
      control.reception_room[fifo] = static_cast<u8>(control.reception_room[fifo] + (left >> 4 * fifo & 0xF));
    }
    mail.taken = 0;
    for (u64 left = mail.put; left; left &= left - 1) {
      const u32 queue = kInjectionQueue + lowest_bit(left);
      const Queue& state = queue_at(v, node, queue);
      const u32 place = u32{state.first} + state.packets;
      const Packet& packet = packet_at(v, node, queue, place >= t.injection_ring ? place - t.injection_ring : place);
      enter(v, node, control, index, queue, route_of(packet), now);
    }
    mail.put = 0;
    for (u64 left = control.leaving | control.arriving; left; left &= left - 1) {
      const u32 queue = lowest_bit(left);
      if (has_come(queue_at(v, node, queue).until, now)) end_leave(v, node, control, index, queue, now);
    }
    for (u64 left = control.entering; left; left &= left - 1) {
      const u32 queue = lowest_bit(left);
      if (!has_come(queue_at(v, node, queue).until, now)) continue;
      control.entering &= ~bit(queue);
      control.waiting |= bit(queue);
    }
    if (control.waiting) arbitrate(v, node, control, index, bypass, now);
    for (u64 left = bypass & control.waiting; left && t.fifo_delay; left &= left - 1) {
      const u32 queue = lowest_bit(left);  // it goes into its VC's FIFO
      control.waiting &= ~bit(queue);
      control.entering |= bit(queue);
      queue_at(v, node, queue).until = static_cast<u16>(now + t.fifo_delay);
      wake_node(v, index, now + t.fifo_delay);
    }
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }
};

}  // namespace flitlab::bgl
