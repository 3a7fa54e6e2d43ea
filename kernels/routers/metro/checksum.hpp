#pragma once
/// The two checksums: a router's of what it passes on in a stream (METRO, 4, Overview), and the endpoints' of a message
/// from end to end.
#include "kernels/common/types.hpp"

namespace flitlab::metro {

/// One more word of a stream, in w bits: turned by a bit, so that the order of words counts.
FLITLAB_HD constexpr u32 add_to_checksum(u32 sum, u32 payload, u32 width) {
  const u32 mask = (1u << width) - 1;
  return ((sum << 1 | sum >> (width - 1)) ^ payload) & mask;
}

/// A checksum after `words` words of zero.
FLITLAB_HD constexpr u32 turned_checksum(u32 sum, u32 words, u32 width) {
  const u32 turns = words % width, mask = (1u << width) - 1;
  return (sum << turns | sum >> (width - turns)) & mask;
}

/// A cyclic redundancy check of some bits.
struct Crc {
  u32 bits;        ///< 0: none
  u32 polynomial;  ///< without its highest term
};

inline constexpr Crc kCrcs[] = {{0, 0}, {8, 0x07}, {16, 0x1021}, {32, 0x04C11DB7}};

/// `bits` more bits of a message, the highest first. What a message and its check leave is 0.
FLITLAB_HD constexpr u32 add_to_crc(const Crc& crc, u32 state, u64 content, u32 bits) {
  if (!crc.bits) return 0;
  const u32 top = 1u << (crc.bits - 1), mask = top | (top - 1);
  for (u32 i = bits; i-- > 0;) {
    const bool out = ((state & top) != 0) != ((content >> i & 1) != 0);
    state = (state << 1 & mask) ^ (out ? crc.polynomial : 0);
  }
  return state;
}

}  // namespace flitlab::metro
