#pragma once
/// Entries of the routing table (S-Connect, 3.1): the ports and virtual channels that a message to a destination may
/// take, bit 2 port + virtual channel. An entry is a mask of the 8 virtual channels of serial ports, or names parallel
/// ports, of which both may be hosts' (3: a host is given two messages at once); these have no virtual channels and use
/// the even bit of their port.
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

using Options = u32;  ///< bits 0 to 2 kPorts - 1

inline constexpr Options kOnVc1 = 0xAAA;
inline constexpr Options kSerialOptions = 0xFF;

FLITLAB_HD constexpr Options option(u32 port, u32 vc) { return 1u << (2 * port + vc); }

/// What a message may take of a table's entry, having come on a virtual channel: one that has come on 1 stays there if
/// it can. Injected messages have come on 0.
FLITLAB_HD constexpr Options allowed(Options entry, u32 came_on) {
  return came_on && (entry & kOnVc1) ? entry & kOnVc1 : entry;
}

/// Whether an entry is a mask of virtual channels and names a parallel port: none of the paper's is.
FLITLAB_HD constexpr bool is_mixed(Options entry) { return (entry & kSerialOptions) && (entry & ~kSerialOptions); }

/// Options that a TIC has: the virtual channels of each port. Tables hold no others: what went into the queue of
/// another would stay there.
template <class Table>
FLITLAB_HD inline Options options_there(const Table& t, u32 tic) {
  Options there = 0;
  for (u32 p = 0; p < kPorts; ++p) {
    const u32 vcs = vcs_of(t.links[tic * kPorts + p].kind, t.parallel_vcs);
    there |= ((1u << vcs) - 1) << kVcs * p;
  }
  return there;
}

/// What of `options` a TIC's table can hold in an entry. Of a mask with parallel ports the mask.
template <class Table>
FLITLAB_HD inline Options entry_of(const Table& t, u32 tic, Options options) {
  const Options held = options & options_there(t, tic);
  return is_mixed(held) && !t.mixed_entries ? held & kSerialOptions : held;
}

}  // namespace flitlab::sconnect
