#pragma once
/// The two checksums: the checksum of a router over the words that it passes on (METRO, 4, Overview), and the
/// end-to-end check of a message.
#include <array>
#include <iterator>

#include "kernels/common/types.hpp"

namespace flitlab::metro {

/// Adds a word of w bits to a router's checksum. The sum is rotated by one bit first, so that the order of words
/// counts.
FLITLAB_HD constexpr u32 add_to_checksum(u32 sum, u32 payload, u32 width) {
  const u32 mask = (1u << width) - 1;
  return ((sum << 1 | sum >> (width - 1)) ^ payload) & mask;
}

/// Returns a router's checksum after `words` more words of zero.
FLITLAB_HD constexpr u32 turned_checksum(u32 sum, u32 words, u32 width) {
  const u32 turns = words % width, mask = (1u << width) - 1;
  return (sum << turns | sum >> (width - turns)) & mask;
}

/// A cyclic redundancy check.
struct Crc {
  u32 bits;        ///< length; 0: no check
  u32 polynomial;  ///< generator polynomial, without its highest term
};

inline constexpr Crc kCrcs[] = {{0, 0}, {8, 0x07}, {16, 0x1021}, {32, 0x04C11DB7}};

/// During the calculation a check is kept in the highest bits of a word, so that checks of all lengths take the same
/// steps.
namespace detail {

FLITLAB_HD constexpr u32 crc_step(u32 state, u32 polynomial) { return state << 1 ^ (state >> 31 ? polynomial : 0); }

/// `kCrcSteps[check][highest 8 bits of a state]`: contribution of these bits to the state after eight steps; an index
/// of only k bits gives the contribution after k steps.
inline constexpr auto kCrcSteps = [] {
  std::array<std::array<u32, 256>, std::size(kCrcs)> table{};
  for (std::size_t c = 1; c < std::size(kCrcs); ++c)
    for (u32 top = 0; top < 256; ++top) {
      u32 state = top << 24;
      for (u32 i = 0; i < 8; ++i) state = crc_step(state, kCrcs[c].polynomial << (32 - kCrcs[c].bits));
      table[c][top] = state;
    }
  return table;
}();

#if defined(__CUDACC__)
__device__ const auto kCrcStepsOnDevice = kCrcSteps;
#endif

}  // namespace detail

/// Adds the lowest `bits` bits of `content` to a check, the highest of them first. A message followed by its check
/// gives 0.
FLITLAB_HD FLITLAB_ONE_COPY constexpr u32 add_to_crc(Crc crc, u32 state, u64 content, u32 bits) {
  if (!crc.bits) return 0;
  const u32 check = crc.bits == 32 ? 3 : crc.bits / 8;
#if defined(__CUDA_ARCH__)
  const auto& steps = detail::kCrcStepsOnDevice[check];
#else
  const auto& steps = detail::kCrcSteps[check];
#endif
  state <<= 32 - crc.bits;
  FLITLAB_ROLLED for (u32 left = bits; left;) {
    const u32 n = (left - 1) % 8 + 1;  // an incomplete byte first, then whole bytes
    left -= n;
    const u32 next = static_cast<u32>(content >> left) & (0xFFu >> (8 - n));
    state = state << n ^ steps[state >> (32 - n) ^ next];
  }
  return state >> (32 - crc.bits);
}

}  // namespace flitlab::metro
