#pragma once
/// Tokens: what a sender knows of the buffers at the other end of its link. A token stands for a chunk. A VC is open
/// if there is space for a packet of full size, whatever the packet's own; the bubble rule asks for space for two
/// where a packet enters the bubble VC (paper, "Torus network").
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

FLITLAB_INLINE void mark_open(Sender& sender, u32 vc) {
  const u8 bit = static_cast<u8>(1u << vc);
  const u32 tokens = sender.tokens[vc];
  sender.open = static_cast<u8>(tokens >= kFullPacket ? sender.open | bit : sender.open & ~bit);
  sender.roomy = static_cast<u8>(tokens >= 2 * kFullPacket ? sender.roomy | bit : sender.roomy & ~bit);
}

/// Which of four ranges something is in, given how much there can be: 0 next to nothing, 3 nearly all.
FLITLAB_HD inline u32 range_of(u32 amount, u32 most) {
  const u32 range = 4 * amount / most;
  return range > 3 ? 3 : range;
}

/// VCs that a packet may enter on a link: on the bubble VCs, one that does not come along the same ring, on the same
/// VC, has to leave space for another.
template <class T>
FLITLAB_HD inline u32 enterable(const T& t, const Sender& sender, bool stays_in_ring) {
  return stays_in_ring ? sender.open : (sender.open & ~t.bubble_set) | (sender.roomy & t.bubble_set);
}

}  // namespace flitlab::bgl
