#pragma once
/// Inboxes. A sender writes a flit or credit into the receiver's state, into the slot of its arrival cycle; the
/// receiver clears the slot. A flit or a credit is one byte; eight ports share a 64-bit word.
#include "kernels/common/types.hpp"

namespace flitlab {

/// A flit's byte is its virtual channel + 1 with these marks; 0: no flit. A credit's byte is its virtual channel + 1.
inline constexpr u8 kHeadMark = 0x80;
inline constexpr u8 kTailMark = 0x40;
inline constexpr u8 kVcBits = 0x3F;

/// Writes the byte of a port into a word of eight ports.
FLITLAB_INLINE void put_byte(u64& word, u32 port, u8 arrival) { reinterpret_cast<u8*>(&word)[port & 7] = arrival; }

/// Returns the byte of a port in a word of eight ports. It reads no other byte, because other threads may write those.
FLITLAB_INLINE u8 byte_of_port(const u64& word, u32 port) { return reinterpret_cast<const u8*>(&word)[port & 7]; }

/// Returns the position after `position` in a circular buffer of `size` positions.
FLITLAB_HD inline u8 next_position(u32 position, u32 size) {
  return static_cast<u8>((position + 1) &
                         (0 - u32{position + 1 != size}));  // no branch, because it could not be predicted
}

}  // namespace flitlab
