#pragma once
/// A buffer of flits is a queue of packets: a ring of descriptors and a number of flits, which belong to them in order.
#include "kernels/common/layout.hpp"
#include "kernels/common/mail.hpp"
#include "kernels/common/packet.hpp"

namespace flitlab {

/// Tails among the `flits` first flits of a queue of packets that starts at ring position `first`; the front packet
/// has `left` flits left.
template <int W>
FLITLAB_HD inline u32 tails_among(const Item<W>& item, Field<Packet> field, u32 ring0, u32 ring, u32 first, u32 left,
                                  u32 flits) {
  u32 tails = 0;
  for (u32 place = first; tails < ring && flits && flits >= left; ++tails) {  // a broken state must not hang us
    flits -= left;
    place = next_place(place, ring);
    left = item.at(field, ring0 + place).flits;
  }
  return tails;
}

}  // namespace flitlab
