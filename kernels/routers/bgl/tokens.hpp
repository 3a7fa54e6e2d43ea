#pragma once
/// Tokens: what a sender knows of the buffers at the other end of its link. A token stands for a chunk. A VC is open
/// if there is space for a packet of full size, whatever the packet's own; the bubble rule asks for space for two
/// where a packet enters the bubble VC (paper, "Torus network").
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

/// A VC's tokens have changed.
template <class V, int W>
FLITLAB_INLINE void set_tokens(const V& v, const Item<W>& node, u32 direction, u32 vc, u32 tokens) {
  const auto& f = v.t.node_fields;
  const u32 bit = 1u << vc;
  node.at(f.tokens, direction * v.t.vcs + vc) = static_cast<u8>(tokens);
  u8& open = node.at(f.open, direction);
  u8& roomy = node.at(f.roomy, direction);
  open = static_cast<u8>(tokens >= kFullPacket ? open | bit : open & ~bit);
  roomy = static_cast<u8>(tokens >= 2 * kFullPacket ? roomy | bit : roomy & ~bit);
}

/// Which of four ranges something is in, given how much there can be: 0 next to nothing, 3 nearly all.
FLITLAB_HD inline u32 range_of(u32 amount, u32 most) {
  return (4 * amount >= most) + (2 * amount >= most) + (4 * amount >= 3 * most);
}

/// VCs that a packet may enter on a link: on the bubble VCs, one that does not come along the same ring, on the same
/// VC, has to leave space for another.
template <class V, int W>
FLITLAB_INLINE u32 enterable(const V& v, const Item<W>& node, u32 direction, bool stays_in_ring) {
  const auto& t = v.t;
  const u32 open = node.at(t.node_fields.open, direction);
  return stays_in_ring ? open : (open & ~t.bubble_set) | (node.at(t.node_fields.roomy, direction) & t.bubble_set);
}

}  // namespace flitlab::bgl
