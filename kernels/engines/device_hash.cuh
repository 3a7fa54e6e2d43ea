#pragma once
/// Hash of a replica's state, computed on the device.
#include "kernels/common/bits.hpp"
#include "kernels/engines/device_memory.cuh"

namespace flitlab {

/// Hash contribution of one 8-byte word of the canonical state (hash_state, kernels/engines/state_layout.hpp).
struct HashWord {
  const std::byte* state;
  /// `[b]`: where byte b of an item (in canonical order) is in a block of 32 items. x: its offset for item 0 of the
  /// block. y: distance from there to the same byte of the next item, or 0 if the byte is padding.
  const uint2* offsets;
  u64 first_word;  ///< number of the word, in canonical order, with which the kind's first item begins
  u32 item_bytes;

  __device__ u64 operator()(u64 i) const {
    const u64 item = i * 8 / item_bytes;
    const u32 byte = static_cast<u32>(i * 8 % item_bytes);
    const std::byte* block = state + item / 32 * 32 * item_bytes;
    u64 word = 0;
    for (u32 b = 0; b < 8; ++b) {
      const uint2 at = offsets[byte + b];
      if (at.y) word |= static_cast<u64>(block[at.x + item % 32 * at.y]) << (8 * b);
    }
    return mix64(word ^ mix64(first_word + i + 0x9E3779B97F4A7C15ull));
  }
};

/// Computes hashes: sums the contributions of all words of an item kind. It keeps its working memory for later calls.
class DeviceHash {
 public:
  u64 part(const HashWord& word, u64 words);

 private:
  DeviceArray<u64> sum_;
  DeviceArray<std::byte> scratch_;
};

}  // namespace flitlab
