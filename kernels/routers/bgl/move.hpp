#pragma once
/// How packets move: a head enters a queue, starts to leave it, and its tail has left. Everything that follows from a
/// start is known then (a packet's chunks flow on at the speed of a link), so it is noted in the calendar.
#include "kernels/common/fault.hpp"
#include "kernels/common/mail.hpp"
#include "kernels/routers/bgl/calendar.hpp"
#include "kernels/routers/bgl/route.hpp"
#include "kernels/routers/bgl/tokens.hpp"

namespace flitlab::bgl {

/// The packet at the front of a queue becomes its head, ready to ask from a cycle on.
template <class V>
FLITLAB_INLINE void become_head(const V& v, NodeControl& control, u32 index, u32 queue,
                                Queue& state, const Packet& packet, Cycle ready, Cycle now) {
  state.route = route_of(packet);
  state.chunks = static_cast<u8>(packet.flits);
  if (has_come(ready, now)) {
    control.waiting |= bit(queue);
  } else {
    control.entering |= bit(queue);
    state.until = ready;
    wake_node(v, index, ready);
  }
}

/// A packet has come into a queue. Returns whether it may ask through the bypass channel.
template <class V, int W>
FLITLAB_INLINE bool enter(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, Cycle now) {
  const auto& t = v.t;
  Queue& state = queue_at(v, node, queue);
  const u32 place = state.first + state.packets;
  const u32 ring = ring_of(t, queue);
  const Packet& packet = packet_at(v, node, queue, place >= ring ? place - ring : place);
  state.held = static_cast<u8>(state.held + packet.flits);
  if (state.packets++) return false;
  const bool link = queue < kInjectionQueue, bypass = link && t.bypass;
  become_head(v, control, index, queue, state, packet, link && !bypass ? now + t.fifo_delay : now, now);
  return bypass;
}

/// The reception FIFO that a packet goes to from a receiver.
FLITLAB_HD inline u32 reception_fifo(u32 receiver, u16 route) {
  return (route & kSecondGroup ? 7 : 0) + (route & kHighPriority ? 6 : receiver);
}

/// Chunks are free again in a receiver's VC: the sender at the other end will know.
template <class V>
FLITLAB_INLINE void return_tokens(const V& v, u32 index, u32 queue, u32 chunks, Cycle at) {
  const auto& t = v.t;
  const Peer peer = t.peers[index * t.ports + (queue >> 3)];
  const u32 vc = queue & 7;
  v.nodes[peer.item].at(t.node_fields.token_mail, (at & t.slot_mask) * kDirections + peer.port) |=
      token_cost(t, vc, chunks) << 4 * vc;
  wake_node(v, peer.item, at);
}

/// The head of a queue starts to leave on a VC of a link.
template <class V, int W>
FLITLAB_INLINE void leave(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, u32 direction,
                          u32 vc, bool bypass, Cycle now) {
  const auto& t = v.t;
  Queue& state = queue_at(v, node, queue);
  Sender& sender = node.at(t.node_fields.sender, direction);
  const Peer peer = t.peers[index * t.ports + direction];
  const u32 chunks = state.chunks, cycles = kChunkBytes * chunks;
  Packet packet = packet_at(v, node, queue, state.first);
  if (queue >= kInjectionQueue) {
    packet.injected = now;
    count(*v.shard, Total::kPacketsInjected);
    count(*v.shard, Total::kFlitsInjected, chunks);
    if constexpr (V::traced)
      v.log.write(index, Event{packet.src, packet.id, EventKind::kInjected, 6, u8(queue & 7), u8(direction), u8(vc), 3,
                               packet.flits});
  }
  set_route(packet, route_after_hop(t, state.route, packet.dst, t.address[index], t.address[peer.item], direction));
  ++packet.hops;
  const Cycle asks = now + t.hop_delay;
  packet.via = asks + t.fifo_delay;
  const u32 there = queue_of(peer.port, vc);
  packet_at(v, v.nodes[peer.item], there, sender.tail[vc]) = packet;
  sender.tail[vc] = static_cast<u8>(sender.tail[vc] + 1u == t.ring[vc] ? 0 : sender.tail[vc] + 1);
  post(v.nodes[peer.item].at(t.node_fields.arrival_mail, asks & t.slot_mask), peer.port, static_cast<u8>(vc + 1));
  wake_node(v, peer.item, asks);
  sender.tokens[vc] = static_cast<u8>(sender.tokens[vc] - token_cost(t, vc, chunks));
  mark_open(sender, vc);
  sender.free = now + cycles + t.overhead;
  sender.busy += cycles + t.overhead;
  wake_node(v, index, sender.free);

  state.direction = static_cast<u8>(direction);
  state.vc = static_cast<u8>(vc);
  state.until = now + cycles;
  wake_node(v, index, state.until);
  control.waiting &= ~bit(queue);
  control.blocked &= ~bit(queue);
  control.leaving |= bit(queue);
  if (state.route & kDeposit && queue < kInjectionQueue) {  // on two buses at once
    control.reception_room[reception_fifo(queue >> 3, state.route)] -= static_cast<u8>(chunks);
    control.arriving |= bit(queue);
  }
  if (bypass) {
    control.bypassing |= bit(queue);
    return_tokens(v, index, queue, chunks, now + t.token_delay);
  }
  count(*v.shard, Total::kFlitMoves, chunks);
  count(v.shard->total[static_cast<u32>(Total::kVc0Flits) + vc], chunks);
  if constexpr (V::traced)
    v.log.write(index, Event{packet.src, packet.id, EventKind::kSwitchGranted, u8(queue >> 3), u8(queue & 7),
                             u8(direction), u8(vc), 3, packet.flits});
}

/// The head of a queue starts to leave into its reception FIFO.
template <class V, int W>
FLITLAB_INLINE void arrive(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, bool bypass,
                           Cycle now) {
  Queue& state = queue_at(v, node, queue);
  u8& room = control.reception_room[reception_fifo(queue >> 3, state.route)];
  room = static_cast<u8>(room - state.chunks);
  state.direction = kReception;
  state.until = now + kChunkBytes * state.chunks;
  wake_node(v, index, state.until);
  control.waiting &= ~bit(queue);
  control.arriving |= bit(queue);
  if (bypass) {
    control.bypassing |= bit(queue);
    return_tokens(v, index, queue, state.chunks, now + v.t.token_delay);
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
  terminal.at(t.software_fields.reception_ring, fifo * t.reception_ring + state.tail) = packet;
  state.tail = static_cast<u8>(state.tail + 1u == t.reception_ring ? 0 : state.tail + 1);
  terminal.at(t.software_fields.arrival_mail, (now + 1) & 1) += u64{1} << 4 * fifo;
  note(v, t.calendar_fields.software, index, now + 1);
}

/// The tail of a queue's head has left it.
template <class V, int W>
FLITLAB_INLINE void end_leave(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 queue, Cycle now) {
  const auto& t = v.t;
  Queue& state = queue_at(v, node, queue);
  if (control.arriving & bit(queue))
    hand_over(v, index, queue >> 3, packet_at(v, node, queue, state.first), now);
  if (queue >= kInjectionQueue) {
    v.terminals[index].at(t.software_fields.space_mail, (now + 1) & 1) |= u32{state.chunks}
                                                                          << 4 * (queue - kInjectionQueue);
    note(v, t.calendar_fields.software, index, now + 1);
  } else if (!(control.bypassing & bit(queue))) {
    return_tokens(v, index, queue, state.chunks, now + t.token_delay);
  }
  control.leaving &= ~bit(queue);
  control.arriving &= ~bit(queue);
  control.bypassing &= ~bit(queue);
  state.held = static_cast<u8>(state.held - state.chunks);
  state.first = static_cast<u8>(state.first + 1u == ring_of(t, queue) ? 0 : state.first + 1);
  if (!--state.packets) return;
  const Packet& packet = packet_at(v, node, queue, state.first);
  become_head(v, control, index, queue, state, packet, queue < kInjectionQueue ? packet.via : now, now);
}

}  // namespace flitlab::bgl
