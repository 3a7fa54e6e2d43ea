#pragma once
/// Transfers over links: heads of packets go from sender to receiver, tokens in the opposite direction. Heads and
/// tokens are written into an inbox of the node at which they arrive, indexed by the cycle of arrival.
#include "kernels/routers/bgl/calendar.hpp"
#include "kernels/routers/bgl/tokens.hpp"
#include "kernels/routers/bgl/totals.hpp"

namespace flitlab::bgl {

/// Returns the inbox slot of a head that arrives at a receiver in cycle `at`.
template <class T>
FLITLAB_HD constexpr u32 head_slot(const T& t, u32 receiver, Cycle at) {
  return receiver * t.head_slots + (at / kChunkBytes & (t.head_slots - 1));
}

/// Sends a head to a node, which may read the inbox slot in this same cycle. Only the lower half of the arrival cycle
/// is stored. It is written before the head's word: a reader that sees the word cannot take the arrival cycle of an
/// earlier head, which might match by chance, for the arrival cycle of this head.
template <class V>
FLITLAB_INLINE void send_head(const V& v, u32 node, u32 receiver, u32 word, Cycle at) {
  const u32 slot = head_slot(v.t, receiver, at);
  u32& head = v.nodes[node].at(v.t.node_fields.head, slot);
  u16& comes = v.nodes[node].at(v.t.node_fields.head_comes, slot);
#if defined(__CUDA_ARCH__)
  const_cast<volatile u16&>(comes) = static_cast<u16>(at);
  __threadfence();
  const_cast<volatile u32&>(head) = word;
#else
  comes = static_cast<u16>(at);
  portable::AtomicRef<u32>(head).store(word, std::memory_order_release);
#endif
  announce(v, v.t.calendar_fields.heads, node, at);
}

/// Returns the receivers whose inbox slot for cycle `now` holds a head. The head may arrive in another cycle that has
/// the same slot.
template <class V, int W>
FLITLAB_INLINE u32 receivers_with_head(const V& v, const Item<W>& node, Cycle now) {
  u32 set = 0;
  for (u32 receiver = 0; receiver < kDirections; ++receiver) {
    u32& head = node.at(v.t.node_fields.head, head_slot(v.t, receiver, now));
#if defined(__CUDA_ARCH__)
    const u32 word = const_cast<volatile u32&>(head);
#else
    const u32 word = portable::AtomicRef<u32>(head).load(std::memory_order_relaxed);
#endif
    set |= u32{word != 0} << receiver;
  }
  return set;
}

/// Returns and clears the word of the head that arrives in cycle `now`; 0 if no head arrives.
template <class V, int W>
FLITLAB_INLINE u32 take_head(const V& v, const Item<W>& node, u32 receiver, Cycle now) {
  const u32 slot = head_slot(v.t, receiver, now);
  u32& head = node.at(v.t.node_fields.head, slot);
  u16& comes = node.at(v.t.node_fields.head_comes, slot);
#if defined(__CUDA_ARCH__)
  const u32 word = const_cast<volatile u32&>(head);
  __threadfence();
  if (!word || const_cast<volatile u16&>(comes) != static_cast<u16>(now)) return 0;
  head = 0;
#else
  const u32 word = portable::AtomicRef<u32>(head).load(std::memory_order_acquire);
  if (!word || comes != static_cast<u16>(now)) return 0;
  portable::AtomicRef<u32>(head).store(0, std::memory_order_relaxed);
#endif
  return word;
}

/// Returns whether tokens that a receiver returns for arrival in cycle `at` are deferred, because the link into the
/// receiver is busy in that cycle.
template <class V, int W>
FLITLAB_INLINE bool is_deferred(const V& v, const Item<W>& node, u32 receiver, Cycle at) {
  return v.t.defer && at <= node.at(v.t.node_fields.engaged, receiver);
}

template <class V>
FLITLAB_INLINE u32& tokens_back(const V& v, u32 node, u32 direction, Cycle at) {
  return v.nodes[node].at(v.t.node_fields.tokens_back, (at & v.t.slot_mask) * kDirections + direction);
}

#if !defined(__CUDA_ARCH__)
/// Prefetches the word that return_tokens() will write.
template <class V, int W>
FLITLAB_INLINE void prefetch_return(const V& v, const Item<W>& node, u32 receiver, Cycle at) {
  const u32 peer = node.at(v.t.node_fields.neighbour, receiver);
  __builtin_prefetch(is_deferred(v, node, receiver, at)
                         ? static_cast<void*>(&v.nodes[peer].at(v.t.node_fields.returned, receiver ^ 1))
                         : &tokens_back(v, peer, receiver ^ 1, at),
                     1);
}
#endif

/// Sends tokens to the sender of the link into a receiver, where they arrive in cycle `at`. The sender's inbox holds
/// one token message of a VC per cycle. With the link protocol a second message may be sent for the same cycle; it then
/// arrives in a later one.
template <class V, int W>
FLITLAB_INLINE void send_tokens(const V& v, const Item<W>& node, u32 receiver, u32 vc, u32 tokens, Cycle at) {
  const auto& t = v.t;
  const u32 peer = node.at(t.node_fields.neighbour, receiver);
  if (is_deferred(v, node, receiver, at)) {
    v.nodes[peer].at(t.node_fields.returned, receiver ^ 1) += u64{tokens} << 8 * vc;
    return;
  }
  if (t.protocol)
    while (tokens_back(v, peer, receiver ^ 1, at) >> 4 * vc & 0xF) ++at;
  tokens_back(v, peer, receiver ^ 1, at) |= tokens << 4 * vc;
  announce(v, t.calendar_fields.tokens, peer, at);
}

/// Returns the tokens of freed chunks of a receiver's VC. They go with the next token packet, or, if token packets are
/// charged to packets, arrive in cycle `at`.
template <class V, int W>
FLITLAB_INLINE void return_tokens(const V& v, const Item<W>& node, u32 queue, u32 chunks, Cycle at) {
  const auto& t = v.t;
  const u32 receiver = queue >> 3, vc = queue & 7;
  const u32 tokens = token_cost(t, vc, chunks);
  if (t.acks) {
    node.at(t.node_fields.owed, receiver) += u64{tokens} << 8 * vc;
    return;
  }
  send_tokens(v, node, receiver, vc, tokens, at);
}

/// Returns whether tokens wait for a token packet in `direction` and the link is free.
template <class V, int W>
FLITLAB_INLINE bool can_send_ack(const V& v, const Item<W>& node, const NodeControl& control, u32 direction) {
  return (node.at(v.t.node_fields.owed, direction) != 0) & (control.links >> direction & 1);
}

/// Sends a token packet, which has priority over all packets. It carries tokens of the lowest VC that has any, at most
/// as many as a full packet takes.
template <class V, int W>
FLITLAB_INLINE void send_ack(const V& v, const Item<W>& node, NodeControl& control, u32 index, u32 direction,
                             Cycle now) {
  const auto& t = v.t;
  u64& owed = node.at(t.node_fields.owed, direction);
  const u32 vc = lowest_bit(owed) / 8, all = owed >> 8 * vc & 0xFF, tokens = all < kFullPacket ? all : kFullPacket;
  owed -= u64{tokens} << 8 * vc;
  send_tokens(v, node, direction, vc, tokens, now + t.token_delay);
  // As after a packet, the link becomes free `overhead` cycles after this cycle.
  node.at(t.node_fields.tail_leaves, direction) = static_cast<u16>(now + t.ack_cycles - t.overhead);
  control.links = static_cast<u8>(control.links & ~(1u << direction));
  wake_links(v, index, now + t.ack_cycles);
  node.at(t.node_fields.busy, direction) += t.ack_cycles;
  count(*v.shard, Count::kTokenPackets);
}

}  // namespace flitlab::bgl
