#pragma once
/// Entries of the routing table (S-Connect, 3.1): the ports and virtual channels that a message to a destination may
/// take, bit 2 port + virtual channel. The paper's entry has 8 such bits, or names a parallel port; hosts have no
/// virtual channels and use the even bit of their port.
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

using Options = u32;  ///< bits 0 to 2 kPorts - 1

inline constexpr Options kOnVc1 = 0xAAA;

FLITLAB_HD constexpr Options option(u32 port, u32 vc) { return 1u << (2 * port + vc); }

/// What a message may take of a table's entry, having come on a virtual channel: one that has come on 1 stays there if
/// it can. Injected messages have come on 0.
FLITLAB_HD constexpr Options allowed(Options entry, u32 came_on) {
  return came_on && (entry & kOnVc1) ? entry & kOnVc1 : entry;
}

/// Options that a TIC has: both virtual channels of each channel, and its hosts' ports, which have but one. Tables hold
/// no others: what went into the queue of another would stay there.
template <class Table>
FLITLAB_HD inline Options options_there(const Table& t, u32 tic) {
  Options there = 0;
  for (u32 p = 0; p < kPorts; ++p) {
    const LinkKind kind = t.links[tic * kPorts + p].kind;
    if (kind != LinkKind::kNone) there |= (kind == LinkKind::kHost ? 1u : 3u) << kVcs * p;
  }
  return there;
}

}  // namespace flitlab::sconnect
