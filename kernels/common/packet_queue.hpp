#pragma once
/// A flit buffer as a queue of packets: a circular buffer of packet descriptors, and a count of flits. The flits belong
/// to the queued packets in order.
#include "kernels/common/inbox.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"

namespace flitlab {

/// Returns the number of tails among the first `flits` flits of a queue whose front packet is at position `first` and
/// has `left` flits left. `ring0`, `ring`: start and size of the circular buffer in the field.
template <int W>
FLITLAB_HD inline u32 tails_among(const Item<W>& item, Field<Packet> field, u32 ring0, u32 ring, u32 first, u32 left,
                                  u32 flits) {
  u32 tails = 0;
  for (u32 position = first; tails < ring && flits && flits >= left; ++tails) {  // the bound on `tails` ends the loop
                                                                                 // even if the state is corrupt
    flits -= left;
    position = next_position(position, ring);
    left = item.at(field, ring0 + position).flits;
  }
  return tails;
}

}  // namespace flitlab
