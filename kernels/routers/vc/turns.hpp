#pragma once
/// Adaptive routing in meshes that forbids some turns, so that channels cannot wait for one another in a cycle and one
/// class of virtual channels suffices (Glass & Ni, ISCA 1992; Chiu, IEEE TPDS 2000). East is the + direction of
/// dimension 0, north the + direction of dimension 1.
#include "kernels/routers/vc/outputs.hpp"

namespace flitlab::vc {

/// Returns whether an algorithm is one of these.
FLITLAB_INLINE bool forbids_turns(Algorithm algorithm) {
  return algorithm == Algorithm::kWestFirst || algorithm == Algorithm::kNorthLast ||
         algorithm == Algorithm::kNegativeFirst || algorithm == Algorithm::kOddEven;
}

/// Returns the ports that a packet may take at address `here`, which is not its destination. All of them lead nearer to
/// the destination.
template <class T>
FLITLAB_INLINE PortSet permitted_ports(const T& t, const Packet& packet, u32 here) {
  PortSet plus = 0, minus = 0;
  for (u32 dim = 0; dim < t.dims; ++dim) {
    const u32 from = coordinate(t, here, dim), to = coordinate(t, packet.dst, dim);
    if (to > from) plus |= PortSet{1} << 2 * dim;
    if (to < from) minus |= PortSet{1} << (2 * dim + 1);
  }
  const PortSet all = plus | minus;
  constexpr PortSet kEast = 1, kWest = 2, kNorth = 4;
  switch (t.algorithm) {
    case Algorithm::kWestFirst: return all & kWest ? kWest : all;
    case Algorithm::kNorthLast: return all == kNorth ? all : all & ~kNorth;
    case Algorithm::kNegativeFirst: return minus ? minus : plus;
    default: break;
  }
  // Odd-even (Chiu, Figure 4): no packet turns from east to north or south in an even column, nor from north or south
  // to west in an odd one.
  const PortSet vertical = all & ~(kEast | kWest);
  if (!vertical || all == vertical) return all;
  const u32 x = coordinate(t, here, 0), to = coordinate(t, packet.dst, 0);
  if (all & kWest) return x % 2 == 0 ? all : kWest;
  PortSet ports = 0;
  if (x % 2 == 1 || x == coordinate(t, t.address[packet.src / t.concentration], 0)) ports |= vertical;
  if (to % 2 == 1 || to - x != 1) ports |= kEast;
  return ports;
}

/// Returns the permitted port with a free VC and the most credits; ties go to the lowest one. If none has a free VC,
/// the packet waits at the lowest one; the choice is made again in every cycle.
template <class T, class Out>
FLITLAB_INLINE Route with_permitted_turns(const T& t, const Packet& packet, const Out& outputs, u32 here) {
  const u16 vcs = t.message_mask[packet.message_class];
  const u32 needed = credits_to_take(t, packet.flits);
  const PortSet ports = permitted_ports(t, packet, here);
  u32 best = lowest_bit(ports), most = 0;
  for (PortSet set = ports; set; set &= set - 1) {
    const u32 port = lowest_bit(set);
    if (!outputs.free(port, vcs, needed)) continue;
    const u32 credits = 1 + outputs.credits(port, vcs);
    if (credits > most) {
      most = credits;
      best = port;
    }
  }
  return {best, vcs};
}

}  // namespace flitlab::vc
