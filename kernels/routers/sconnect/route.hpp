#pragma once
/// Entries of the routing table (S-Connect, 3.1): the ports and virtual channels that a message to a destination may
/// take, as bits 2 * port + virtual channel. An entry is a mask of the 8 virtual channels of serial ports, or names
/// parallel ports. An entry names two parallel ports only if both lead to the host, which can receive two messages at
/// once (3). A parallel port without virtual channels uses its even bit.
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

using Options = u32;  ///< bits 0 to 2 kPorts - 1

inline constexpr Options kOnVc1 = 0xAAA;
inline constexpr Options kSerialOptions = 0xFF;

FLITLAB_HD constexpr Options option(u32 port, u32 vc) { return 1u << (2 * port + vc); }

/// Returns the options of an entry for a message that arrived on virtual channel `came_on`: after virtual channel 1 the
/// message stays on 1 if the entry allows that. Injected messages count as arrived on virtual channel 0.
FLITLAB_HD constexpr Options allowed(Options entry, u32 came_on) {
  return came_on && (entry & kOnVc1) ? entry & kOnVc1 : entry;
}

/// Returns whether an entry has both virtual channels of serial ports and a parallel port; entries in the paper never
/// have both.
FLITLAB_HD constexpr bool is_mixed(Options entry) { return (entry & kSerialOptions) && (entry & ~kSerialOptions); }

/// Returns the options that a TIC has: the virtual channels of each port. Tables hold no other options, because a
/// message in the queue of a missing channel would never leave it.
template <class Table>
FLITLAB_HD inline Options options_there(const Table& t, u32 tic) {
  Options there = 0;
  for (u32 p = 0; p < kPorts; ++p) {
    const u32 vcs = vcs_of(t.links[tic * kPorts + p].kind, t.parallel_vcs);
    there |= ((1u << vcs) - 1) << kVcs * p;
  }
  return there;
}

/// Returns the part of `options` that an entry of a TIC's table can hold. Of serial and parallel options it keeps the
/// serial ones, unless mixed entries are allowed.
template <class Table>
FLITLAB_HD inline Options entry_of(const Table& t, u32 tic, Options options) {
  const Options held = options & options_there(t, tic);
  return is_mixed(held) && !t.mixed_entries ? held & kSerialOptions : held;
}

}  // namespace flitlab::sconnect
