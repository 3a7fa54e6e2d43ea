#pragma once
/// Mail: what crosses a channel arrives in the receiver's state, in the slot of the cycle of its arrival. A flit is one
/// byte, a credit is one byte; eight ports share a word.
#include "kernels/common/types.hpp"

namespace flitlab {

/// A flit is its virtual channel + 1 with these marks; 0 is no flit. A credit is its virtual channel + 1.
inline constexpr u8 kHeadMark = 0x80;
inline constexpr u8 kTailMark = 0x40;
inline constexpr u8 kVcBits = 0x3F;

/// Puts a byte of mail into a word of eight ports.
FLITLAB_INLINE void post(u64& word, u32 port, u8 mail) { reinterpret_cast<u8*>(&word)[port & 7] = mail; }

/// The byte of a port in a word of eight; no other byte is read, so others may be writing those.
FLITLAB_INLINE u8 mail_byte(const u64& word, u32 port) { return reinterpret_cast<const u8*>(&word)[port & 7]; }

/// The position after `place` in a ring of `size` places.
FLITLAB_HD inline u8 next_place(u32 place, u32 size) {
  return static_cast<u8>((place + 1) & (0 - u32{place + 1 != size}));  // no branch: nobody could foresee it
}

}  // namespace flitlab
