#pragma once
/// Tokens: the sender's count of free chunks in the buffers at the other end of its link. A VC is open if it has tokens
/// for a full packet, whatever the size of the packet that requests. The bubble rule requires tokens for two full
/// packets where a packet enters the bubble VC (paper, "Torus network").
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

/// Returns the quarter, 0 to 3, of `amount` in a range from 0 to `most`.
FLITLAB_HD inline u32 range_of(u32 amount, u32 most) {
  return (4 * amount >= most) + (2 * amount >= most) + (4 * amount >= 3 * most);
}

/// Sets the number of tokens of a VC, and updates the sets of VCs by available tokens (Levels).
template <class V, int W>
FLITLAB_INLINE void set_tokens(const V& v, const Item<W>& node, u32 direction, u32 vc, u32 tokens) {
  const auto& f = v.t.node_fields;
  const u32 most = v.t.buffer[vc];
  const u64 vc_bit = bit(8 * direction + vc);
  const auto set = [&](u64& level, bool is_less) { level = (level | vc_bit) ^ (vc_bit & (0 - u64{is_less})); };
  node.at(f.tokens, direction * v.t.vcs + vc) = static_cast<u8>(tokens);
  Levels& levels = node.at(f.levels);
  set(levels.open, tokens < kFullPacket);
  set(levels.roomy, tokens < 2 * kFullPacket);
  set(levels.fuller[0], 4 * tokens < most);  // ranges as in range_of()
  set(levels.fuller[1], 2 * tokens < most);
  set(levels.fuller[2], 4 * tokens < 3 * most);
}

/// Returns a word with a byte for each VC from a word with a nibble for each VC.
FLITLAB_HD constexpr u64 bytes_of(u32 nibbles) {
  u64 x = nibbles;
  x = (x | x << 16) & 0x0000FFFF0000FFFFull;
  x = (x | x << 8) & 0x00FF00FF00FF00FFull;
  return (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
}

/// Returns the VCs that a packet may enter on a link. On the bubble VCs, a packet that does not come along the same
/// ring on the same VC must leave space for another one.
template <class V, int W>
FLITLAB_INLINE u32 enterable(const V& v, const Item<W>& node, u32 direction, bool stays_in_ring) {
  const auto& t = v.t;
  const Levels& levels = node.at(t.node_fields.levels);
  const u32 open = levels.open >> 8 * direction & 0xFF, roomy = levels.roomy >> 8 * direction & 0xFF;
  return stays_in_ring ? open : (open & ~t.bubble_set) | (roomy & t.bubble_set);
}

}  // namespace flitlab::bgl
