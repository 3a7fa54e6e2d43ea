#pragma once
/// Routing by hint bits alone, without routing tables (paper, "Torus network").
#include "kernels/common/bits.hpp"
#include "kernels/common/select.hpp"
#include "kernels/routers/bgl/state.hpp"

namespace flitlab::bgl {

inline constexpr u32 kPlusDirections = 0b010101;

/// Returns the hint bits of a minimal route between two addresses. `ties`: bit d is set if a packet to a node half-way
/// round dimension d goes in the minus direction.
template <class T>
FLITLAB_HD inline u32 minimal_hints(const T& t, u32 from, u32 to, u32 ties) {
  u32 hints = 0;
  FLITLAB_ROLLED for (u32 d = 0; d < t.dims; ++d) {
    const u32 k = t.radix[d], a = coordinate(t, from, d), b = coordinate(t, to, d);
    const u32 up = b >= a ? b - a : b + k - a;  // hops in the plus direction
    if (!up) continue;
    const bool minus = 2 * up > k || (2 * up == k && (ties >> d & 1));
    hints |= 1u << (2 * d + minus);
  }
  return hints;
}

/// Returns `ties` for minimal_hints() as a node's registers set them: all dimensions minus if the sum of the node's
/// coordinates is odd. So neighbours use different directions, and a receiver gets packets from the nodes half-way
/// round a dimension from both sides.
template <class T>
FLITLAB_HD inline u32 ties_by_registers(const T& t, u32 from) {
  u32 sum = 0;
  FLITLAB_ROLLED for (u32 d = 0; d < t.dims; ++d) sum += coordinate(t, from, d);
  return sum % 2 ? 7 : 0;
}

/// Returns the direction that a packet with these hint bits takes on an escape VC.
FLITLAB_HD inline u32 escape_direction(Order order, u32 hints) {
  const u32 plus = hints & kPlusDirections;
  return lowest_bit(order == Order::kDirection && plus ? plus : hints);
}

/// A hop along a dimension: whether it crosses the dateline, which lies between the largest coordinate and 0, and the
/// next coordinate.
struct Hop {
  bool crosses;
  u32 next;
};
template <class T>
FLITLAB_HD inline Hop hop_of(const T& t, u32 address, u32 direction) {
  const u32 dim = direction / 2, at = coordinate(t, address, dim), last = t.radix[dim] - 1;
  const u32 minus = direction % 2, edge = last & (minus - 1);  // coordinate before the dateline; 0 in a minus direction
  const bool crosses = at == edge;
  return {crosses, select(crosses, last - edge, at + 1 - 2 * minus)};
}

template <class T>
FLITLAB_HD inline bool crosses_dateline(const T& t, u32 address, u32 direction) {
  return hop_of(t, address, direction).crosses;
}
template <class T>
FLITLAB_HD inline u32 next_coordinate(const T& t, u32 address, u32 direction) {
  return hop_of(t, address, direction).next;
}

/// Returns the escape VC of a packet in a direction. Of a dateline pair it is the higher VC if the packet has crossed
/// the dateline of that dimension or crosses it with this hop.
template <class T>
FLITLAB_HD inline u32 escape_vc(const T& t, u32 address, u16 route, u32 direction) {
  if (t.escape_vcs == 1) return t.dynamic_vcs;
  const bool crossed = route & kCrossed << direction / 2 || crosses_dateline(t, address, direction);
  return t.dynamic_vcs + crossed;
}

/// Returns a packet's route word after a hop. The hint bit of `direction` is cleared if the next node has the
/// destination's coordinate in that dimension.
template <class T>
FLITLAB_HD inline u16 route_after_hop(const T& t, u16 route, u32 destination, u32 here, u32 direction) {
  const u32 dim = direction / 2;
  const Hop hop = hop_of(t, here, direction);
  const u32 done = u32{hop.next == coordinate(t, destination, dim)} << direction;
  return static_cast<u16>((route & ~done) | (hop.crosses ? u32{kCrossed} : 0) << dim);
}

}  // namespace flitlab::bgl
