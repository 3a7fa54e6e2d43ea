#pragma once
/// Packet movement: a head enters a queue, a transfer starts, and the tail has left. Chunks follow the head at the
/// speed of a link, so all later events of a transfer are known at its start and entered into the calendar.
#include "kernels/common/fault.hpp"
#include "kernels/routers/bgl/acknowledge.hpp"
#include "kernels/routers/bgl/route.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// Makes a head request a link, or its reception FIFO if it is at its destination.
FLITLAB_INLINE void begin_request(NodeControl& control, u32 queue, u16 route) {
  if (!(route & kHints)) {
    control.here |= bit(queue);
    return;
  }
  control.waiting |= bit(queue);
  set_membership(control.wanting, bit(queue), route & kHints);
}

/// Makes a packet the head of its queue; the head requests from cycle `ready` on.
template <class V>
FLITLAB_INLINE void become_head(const V& v, NodeControl& control, u32 index, u32 queue, Queue& state, u16 route,
                                Cycle ready, Cycle now) {
  state.route = route;
  if (is_due(ready, now)) {
    begin_request(control, queue, route);
  } else {
    control.entering |= bit(queue);
    state.until = static_cast<u16>(ready);
    wake_queues(v, index, ready);
  }
}

/// Starts the requests of heads that have become ready.
template <class V, int W>
FLITLAB_INLINE void end_entering(const V& v, const Item<W>& node, NodeControl& control, Cycle now) {
  for (u64 left = control.entering; left; left &= left - 1) {
    const u32 queue = lowest_bit(left);
    const Queue& state = queue_at(v, node, queue);
    if (!is_due(state.until, now)) continue;
    control.entering &= ~bit(queue);
    begin_request(control, queue, state.route);
  }
}

/// Adds a packet to a queue. Returns whether it may request through the bypass channel.
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

/// Counts a packet that leaves its injection FIFO, and sets its injection cycle.
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

/// Starts the transfer of a granted head in the direction and on the VC that it requested. grant_link() has already
/// removed the head from the requests, and the link from the free links. If token packets are charged to packets, the
/// tokens of a bypassing packet are returned at once. Token packets that occupy links return the tokens when the
/// complete packet has arrived, because they also acknowledge the packet.
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
  const Cycle first_request = now + t.hop_delay;
  packet.via = first_request + t.fifo_delay;
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
    send_head(v, peer, direction ^ 1, word, first_request);
    wake_links(v, index, now + cycles + t.overhead);
    node.at(t.node_fields.busy, direction) += cycles + t.overhead;
  }
  set_tokens(v, node, direction, vc, node.at(t.node_fields.tokens, direction * t.vcs + vc) - token_cost(t, vc, chunks));

  node.at(t.node_fields.tail_leaves, direction) = static_cast<u16>(now + cycles);
  node.at(t.node_fields.sender_takes, direction) = static_cast<u8>(queue);
  control.sending |= static_cast<u8>(1u << direction);
  wake_queues(v, index, now + cycles);
  clear_blocked(v, node, queue);
  control.leaving |= bit(queue);
  if (state.route & kDeposit && queue < kInjectionQueue) {  // moves to a sender and to reception, on two buses
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

/// Starts the transfer of a head to its reception FIFO. A packet to its own node leaves from its injection FIFO.
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

/// Writes a complete packet into its reception FIFO and notifies software, which sees it in the next cycle.
template <class V>
FLITLAB_INLINE void deliver_to_reception(const V& v, u32 index, u32 receiver, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  const auto terminal = v.terminals[index];
  const u32 fifo = reception_fifo(receiver, route_of(packet));
  ReceptionFifo& state = terminal.at(t.software_fields.reception, fifo);
  // The node writes at the tail and software reads at the front; they never meet, because space was reserved.
  terminal.at(t.reception_fields.ring, fifo * t.reception_ring + state.tail) = packet;
  state.tail = static_cast<u8>(state.tail + 1u == t.reception_ring ? 0 : state.tail + 1);
  terminal.at(t.software_fields.arrival_mail, (now + 1) & 1) += u64{1} << 4 * fifo;
  notify_software(v, index, now + 1);
}

/// Ends a transfer: the tail of the queue's head has left. Frees the space of the packet and makes the next packet the
/// head.
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
      deliver_to_reception(v, index, queue >> 3, packet_at(v, node, queue, state.first), now);
    }
  }
  if (queue >= kInjectionQueue) {
    v.terminals[index].at(t.software_fields.space_mail, (now + 1) & 1) |= chunks << 4 * (queue - kInjectionQueue);
    notify_software(v, index, now + 1);
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

/// With the link protocol: processes packets that have arrived completely. A corrupted packet is not acknowledged, and
/// its tokens stay taken until the retransmission. An invalid copy of a packet that was corrupted on an earlier link is
/// acknowledged. Both kinds are last in their queue and are removed. If the transfer of a removed packet has started,
/// the transfer keeps its buses until it ends.
template <class V, int W>
FLITLAB_INLINE void end_coming(const V& v, const Item<W>& node, NodeControl& control, u32 index, Cycle now) {
  const auto& t = v.t;
  for (u32 receiver = 0; receiver < 2 * t.dims; ++receiver) {
    LinkReceiver& r = receiver_at(v, node, receiver);
    if (!r.coming || !is_due(r.tail, now)) continue;
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
      clear_blocked(v, node, queue);
    }
  }
}

}  // namespace flitlab::bgl
