#pragma once
/// Small counters of a few bits each. One operation updates the counters of all items (routers or terminals) of a lane
/// block.
#include "kernels/common/byte_lanes.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::lanes {

/// Counters in bit-plane form. A lane is the byte of one item, and each of its eight bits (virtual channels) has a
/// counter. `plane[j]` holds bit j of all counters. `C`: vector operations, a class with the interface of
/// kernels/common/byte_vectors.hpp.
template <class C, int kPlanes>
struct Counts {
  using B = typename C::Value;
  typename C::Row plane[kPlanes];

  /// Adds 1 to each counter in `set`.
  FLITLAB_INLINE void add(B set) {
    for (int j = 0; j < kPlanes; ++j) {
      const B carry = plane[j] & set;
      plane[j] ^= set;
      set = carry;
    }
  }
  FLITLAB_INLINE void subtract(B set) {
    for (int j = 0; j < kPlanes; ++j) {
      const B borrow = ~plane[j] & set;
      plane[j] ^= set;
      set = borrow;
    }
  }
  /// Adds 1 to each counter in `more` and subtracts 1 from each counter in `fewer`. A counter in both sets keeps its
  /// value.
  FLITLAB_INLINE void change(B more, B fewer) {
    B carry = more ^ fewer;
    for (int j = 0; j < kPlanes; ++j) {
      const B before = plane[j];
      plane[j] ^= carry;
      carry &= before ^ fewer;
    }
  }
  /// Returns the set of counters that are not 0.
  FLITLAB_INLINE B nonzero_counts() const {
    B any = plane[0];
    for (int j = 1; j < kPlanes; ++j) any |= plane[j];
    return any;
  }
  /// Returns the set of counters in `set` that equal 1.
  FLITLAB_INLINE B ones(B set) const {
    B more{};
    for (int j = 1; j < kPlanes; ++j) more |= plane[j];
    return set & plane[0] & ~more;
  }
  FLITLAB_INLINE u32 get(u32 lane, u32 bit) const {
    u32 count = 0;
    for (int j = 0; j < kPlanes; ++j) count |= ((u32{lane_of(plane[j], lane)} >> bit) & 1u) << j;
    return count;
  }
  /// Sets each counter in `set` to `count`.
  FLITLAB_INLINE void set(B set, u32 count) {
    for (int j = 0; j < kPlanes; ++j) plane[j] = count >> j & 1 ? plane[j] | set : plane[j] & ~set;
  }
  FLITLAB_INLINE void set(u32 lane, u32 bit, u32 count) {
    for (int j = 0; j < kPlanes; ++j)
      C::put_bits(lane_of(plane[j], lane), static_cast<u8>(1u << bit), static_cast<u8>((count >> j & 1u) << bit));
  }
};

}  // namespace flitlab::lanes
