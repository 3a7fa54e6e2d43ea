#pragma once
/// A flit buffer as a queue of packets: a circular buffer of packet descriptors, and a count of flits. The flits belong
/// to the queued packets in order.
#include "kernels/common/inbox.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"

namespace flitlab {

/// Returns the number of tails among the first `flits` flits of a queue whose front packet is at position `first` and
/// has `left` flits left. `ring`: size of the circular buffer. `length_of(position)`: flits of a packet.
template <class LengthOf>
FLITLAB_HD inline u32 tails_among(u32 ring, u32 first, u32 left, u32 flits, LengthOf&& length_of) {
  u32 tails = 0;
  for (u32 position = first; tails < ring && flits && flits >= left; ++tails) {  // the bound on `tails` ends the loop
                                                                                 // even if the state is corrupt
    flits -= left;
    position = next_position(position, ring);
    left = length_of(position);
  }
  return tails;
}
/// The same for a circular buffer that begins at `ring0` in a field.
template <int W>
FLITLAB_HD inline u32 tails_among(const Item<W>& item, Field<Packet> field, u32 ring0, u32 ring, u32 first, u32 left,
                                  u32 flits) {
  return tails_among(ring, first, left, flits,
                     [&](u32 position) -> u32 { return item.at(field, ring0 + position).flits; });
}

}  // namespace flitlab
