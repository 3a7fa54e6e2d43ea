#pragma once
/// What route computation returns, and the state of a router's outputs that it reads.
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Bits of Packet::route_bits.
inline constexpr u8 kPastIntermediate = 1;  ///< the packet has passed its intermediate router, or has none
inline constexpr u8 kReverseOrder = 2;      ///< O1TURN: highest dimension first
inline constexpr u8 kDecided = 4;           ///< UGAL, PAR: the choice of a route has been made
inline constexpr u8 kOnShortest = 8;        ///< UGAL, PAR: the packet chose the shortest route
inline constexpr u8 kDecidedAt = 0x30;      ///< PAR: hops at the last choice, modulo 4

FLITLAB_INLINE u8 decided_at(const Packet& packet) { return static_cast<u8>(packet.hops % 4 << 4); }

struct Route {
  u32 port = kNone;
  u16 allowed = 0;
};

/// Returns an address's coordinate in a dimension.
template <class T>
FLITLAB_INLINE u32 coordinate(const T& t, u32 address, u32 dim) {
  return (address >> t.dim_shift[dim]) & t.dim_mask[dim];
}

/// Returns the set of output VCs of a port that are in `allowed`, are free and have at least `credits_needed` credits.
template <class T, int W>
FLITLAB_INLINE u32 free_vcs(const T& t, const Item<W>& router, RouterControl& control, u32 port, u32 allowed,
                            u32 credits_needed) {
  const u32 free = allowed & ~vcs_of(t, word_of(t, router, control, port).taken, port);
  if (!credits_needed) return free;
  u32 enough = 0;
  for (u32 set = free; set; set &= set - 1) {
    const u32 vc = lowest_bit(set);
    if (router.at(t.router_fields.output, port * t.vcs + vc).credits >= credits_needed) enough |= 1u << vc;
  }
  return enough;
}

/// State of a router's outputs that adaptive routing reads.
template <class T, int W>
struct Outputs {
  const T& t;
  const Item<W>& router;
  RouterControl& control;

  /// Returns the free VCs of a port (free_vcs()).
  FLITLAB_INLINE u32 free(u32 port, u32 allowed, u32 credits_needed) const {
    return free_vcs(t, router, control, port, allowed, credits_needed);
  }
  /// Returns the credits of a port's VCs in `set`.
  FLITLAB_INLINE u32 credits(u32 port, u32 set) const {
    u32 credits = 0;
    for (; set; set &= set - 1) credits += router.at(t.router_fields.output, port * t.vcs + lowest_bit(set)).credits;
    return credits;
  }
};

template <class T, int W>
FLITLAB_INLINE Outputs<T, W> outputs_of(const T& t, const Item<W>& router, RouterControl& control) {
  return {t, router, control};
}

}  // namespace flitlab::vc
