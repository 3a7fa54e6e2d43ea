#pragma once
/// How packets move: a head enters a queue, starts to leave it, and its tail has left. Everything that follows from a
/// start is known then (a packet's chunks flow on at the speed of a link), so it is noted in the calendar.
#include "kernels/common/fault.hpp"
#include "kernels/routers/bgl/acknowledge.hpp"
#include "kernels/routers/bgl/route.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// A head begins to ask, for a link or for its reception FIFO.
FLITLAB_INLINE void ask(NodeControl& control, u32 queue, u16 route) {
  if (!(route & kHints)) {
    control.here |= bit(queue);
    return;
  }
  control.waiting |= bit(queue);
  put_into(control.wanting, bit(queue), route & kHints);
}

/// A packet becomes the head of its queue, ready to ask from a cycle on.
template <class V>
FLITLAB_INLINE void become_head(const V& v, NodeControl& control, u32 index, u32 queue, Queue& state, u16 route,
                                Cycle ready, Cycle now) {
  state.route = route;
  if (has_come(ready, now)) {
    ask(control, queue, route);
  } else {
    control.entering |= bit(queue);
    state.until = static_cast<u16>(ready);
    wake_queues(v, index, ready);
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

/// A packet comes into a queue. Returns whether it may ask through the bypass channel.
template <class V, int W>
FLITLAB_INLINE bool enter(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, u16 route,
                          Cycle now) {
  const auto& t = v.t;
  Queue& state = queue_at(v, node, queue);
  state.held = static_cast<u8>(state.held + chunks_of(route));
  if (state.packets++ || is_ghost(v, node, queue)) return false;
  const bool link = queue < kInjectionQueue, bypass = link && t.bypass;
  become_head(v, control, index, queue, state, route, link && !bypass ? now + t.fifo_delay : now, now);
  return bypass;
}

/// Notes that a packet leaves its injection FIFO.
template <class V>
FLITLAB_INLINE void count_injection(const V& v, u32 index, u32 queue, u32 direction, u32 vc, Packet& packet,
                                    Cycle now) {
  packet.injected = now;
  count(*v.shard, Total::kPacketsInjected);
  count(*v.shard, Total::kFlitsInjected, packet.flits);
  if constexpr (V::traced)
    v.log.write(index, Event{packet.src, packet.id, EventKind::kInjected, 6, u8(queue & 7), u8(direction), u8(vc), 3,
                             packet.flits});
}

/// The head of a queue starts to leave in the direction, and on the VC, that it has chosen. It no longer asks, and its
/// link is no longer free, since that was granted. If it goes by the bypass channel its space is free at once, but
/// where tokens come in packets of their own these also acknowledge that all of it has come.
template <class V, int W>
FLITLAB_INLINE void leave(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, bool bypass,
                          Cycle now) {
  const auto& t = v.t;
  Queue& state = queue_at(v, node, queue);
  const u32 direction = state.direction, vc = state.vc;
  const u32 peer = node.at(t.node_fields.neighbour, direction);
  const u32 chunks = chunks_of(state.route), cycles = kChunkBytes * chunks;
  const auto next = v.nodes[peer];
  u8& tail = node.at(t.node_fields.tail, direction * t.vcs + vc);
  Packet copy;
  Packet& packet = t.protocol ? copy : packet_at(v, next, queue_of(direction ^ 1, vc), tail);
  packet = packet_at(v, node, queue, state.first);
  if (queue >= kInjectionQueue) count_injection(v, index, queue, direction, vc, packet, now);
  const u16 route = route_after_hop(t, state.route, packet.dst, control.address, direction);
  set_route(packet, route);
  ++packet.hops;
  const Cycle asks = now + t.hop_delay;
  packet.via = asks + t.fifo_delay;
  const bool spoiled = is_spoiled(v, node, queue);
  if (spoiled) packet.tag |= kNotValid;
  const u32 word = u32{route} << 4 | (vc + 1);
  if (t.protocol) {
    if (queue >= kInjectionQueue) {
      u32& sum = node.at(t.link_fields.checksum, queue - kInjectionQueue);
      sum = add_to_crc(sum, content_of(packet));
    }
    send(v, node, index, direction, word, packet, now);
  } else {
    tail = static_cast<u8>(tail + 1u == t.ring[vc] ? 0 : tail + 1);
    send_head(v, peer, direction ^ 1, word, asks);
    look_again(v, index, now + cycles + t.overhead);
    node.at(t.node_fields.busy, direction) += cycles + t.overhead;
  }
  set_tokens(v, node, direction, vc, node.at(t.node_fields.tokens, direction * t.vcs + vc) - token_cost(t, vc, chunks));

  node.at(t.node_fields.tail_leaves, direction) = static_cast<u16>(now + cycles);
  node.at(t.node_fields.sender_takes, direction) = static_cast<u8>(queue);
  control.sending |= static_cast<u8>(1u << direction);
  wake_queues(v, index, now + cycles);
  forget_gap(v, node, queue);
  control.leaving |= bit(queue);
  if (state.route & kDeposit && queue < kInjectionQueue) {  // on two buses at once
    control.reception_room[reception_fifo(queue >> 3, state.route)] -= static_cast<u8>(chunks);
    control.arriving |= bit(queue);
  }
  if (bypass && !t.acks) {
    control.bypassing |= bit(queue);
    if (!spoiled) return_tokens(v, node, queue, chunks, now + t.token_delay);
  }
  count(*v.shard, Total::kFlitMoves, chunks);
  count(*v.shard, Count::kVcFlits, chunks, vc);
  if constexpr (V::traced)
    v.log.write(index, Event{packet.src, packet.id, EventKind::kSwitchGranted, u8(queue >> 3), u8(queue & 7),
                             u8(direction), u8(vc), 3, packet.flits});
}

/// The head of a queue starts to leave into its reception FIFO. A packet to the sender does so from its injection FIFO.
template <class V, int W>
FLITLAB_INLINE void arrive(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, bool bypass,
                           Cycle now) {
  Queue& state = queue_at(v, node, queue);
  const u32 chunks = chunks_of(state.route);
  if (queue >= kInjectionQueue)
    count_injection(v, index, queue, kReception, 0, packet_at(v, node, queue, state.first), now);
  u8& room = control.reception_room[reception_fifo(queue >> 3, state.route)];
  room = static_cast<u8>(room - chunks);
  state.direction = kReception;
  state.until = static_cast<u16>(now + kChunkBytes * chunks);
  wake_queues(v, index, now + kChunkBytes * chunks);
  control.here &= ~bit(queue);
  control.arriving |= bit(queue);
  if (bypass && !v.t.acks) {
    control.bypassing |= bit(queue);
    if (!is_spoiled(v, node, queue)) return_tokens(v, node, queue, chunks, now + v.t.token_delay);
  }
}

/// A packet is whole in a reception FIFO: software will find it there.
template <class V>
FLITLAB_INLINE void hand_over(const V& v, u32 index, u32 receiver, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  const auto terminal = v.terminals[index];
  const u32 fifo = reception_fifo(receiver, route_of(packet));
  ReceptionFifo& state = terminal.at(t.software_fields.reception, fifo);
  // The node writes at the tail, software reads at the front: they never meet, since there was room.
  terminal.at(t.reception_fields.ring, fifo * t.reception_ring + state.tail) = packet;
  state.tail = static_cast<u8>(state.tail + 1u == t.reception_ring ? 0 : state.tail + 1);
  terminal.at(t.software_fields.arrival_mail, (now + 1) & 1) += u64{1} << 4 * fifo;
  tell_software(v, index, now + 1);
}

/// The tail of a queue's head has left it.
template <class V, int W>
FLITLAB_INLINE void end_leave(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, Cycle now) {
  const auto& t = v.t;
  Queue& state = queue_at(v, node, queue);
  const u32 chunks = chunks_of(state.route);
  const bool ghost = is_ghost(v, node, queue);
  if (control.arriving & bit(queue)) {
    if (ghost) {
      u8& room = control.reception_room[reception_fifo(queue >> 3, state.route)];
      room = static_cast<u8>(room + chunks);
    } else {
      hand_over(v, index, queue >> 3, packet_at(v, node, queue, state.first), now);
    }
  }
  if (queue >= kInjectionQueue) {
    v.terminals[index].at(t.software_fields.space_mail, (now + 1) & 1) |= chunks << 4 * (queue - kInjectionQueue);
    tell_software(v, index, now + 1);
  } else if (!ghost && !(control.bypassing & bit(queue))) {
    return_tokens(v, node, queue, chunks, now + t.token_delay);
  }
  control.leaving &= ~bit(queue);
  control.arriving &= ~bit(queue);
  control.bypassing &= ~bit(queue);
  if (ghost) {
    node.at(t.link_fields.ghosts) &= ~bit(queue);
    if (!state.packets) return;
  } else {
    state.held = static_cast<u8>(state.held - chunks);
    state.first = static_cast<u8>(state.first + 1u == ring_of(t, queue) ? 0 : state.first + 1);
    if (!--state.packets) return;
  }
  const Packet& packet = packet_at(v, node, queue, state.first);
  become_head(v, control, index, queue, state, route_of(packet), queue < kInjectionQueue ? packet.via : now, now);
}

/// All of a packet has come over a link that may spoil packets. One that is spoiled is not acknowledged, and the space
/// for it is kept until it comes again; a copy of one that was spoiled before is. Both are out of their queue, where
/// they are last; if they have gone on, what they hold besides is free at the end of that.
template <class V, int W>
FLITLAB_INLINE void end_coming(const V& v, const Item<W>& node, NodeControl& control, u32 index, Cycle now) {
  const auto& t = v.t;
  for (u32 receiver = 0; receiver < 2 * t.dims; ++receiver) {
    LinkReceiver& r = receiver_at(v, node, receiver);
    if (!r.coming || !has_come(r.tail, now)) continue;
    const u32 queue = queue_of(receiver, r.coming - 1u);
    Queue& state = queue_at(v, node, queue);
    const bool spoiled = static_cast<Hit>(r.hit) == Hit::kBody;
    const bool moving = state.packets == 1 && (control.leaving | control.arriving) & bit(queue);
    const Packet& packet = packet_at(v, node, queue, (u32{state.first} + state.packets - 1) % ring_of(t, queue));
    const bool valid = !(packet.tag & kNotValid);
    r.coming = 0;
    if (spoiled) {
      count(*v.shard, Count::kPacketsHit);
    } else {
      ++r.expected;
      if (valid) r.crc = add_to_crc(r.crc, content_of(packet) ^ (static_cast<Hit>(r.hit) == Hit::kEscaped));
      acknowledge(v, node, index, receiver, now);
      if (valid) continue;
      count(*v.shard, Count::kNotValid);
      if (!(moving && control.bypassing & bit(queue))) return_tokens(v, node, queue, packet.flits, now + t.token_delay);
    }
    state.held = static_cast<u8>(state.held - packet.flits);
    --state.packets;
    if (moving) {
      node.at(t.link_fields.ghosts) |= bit(queue);
    } else if (!state.packets) {
      control.waiting &= ~bit(queue);
      control.here &= ~bit(queue);
      control.entering &= ~bit(queue);
      forget_gap(v, node, queue);
    }
  }
}

}  // namespace flitlab::bgl
