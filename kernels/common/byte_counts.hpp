#pragma once
/// Small counters of a few bits each. One operation updates the counters of all items (routers or terminals) of a lane
/// block.
#include "kernels/common/byte_lanes.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::lanes {

/// Counters in bit-plane form. A lane is the element of one item, and each of its bits (virtual channels) has a
/// counter. `plane[j]` holds bit j of all counters. Operations on many planes end where no carry is left. `C`: vector
/// operations, a class with the interface of kernels/common/byte_vectors.hpp.
template <class C, int kPlanes>
struct Counts {
  using B = typename C::Value;
  using E = typename C::Element;
  typename C::Row plane[kPlanes];

  /// Whether to test for a carry before plane j. Few planes take less time than a test.
  static constexpr bool tests_at(int j) { return kPlanes > 8 && j % 4 == 0 && j; }

  /// Adds 1 to each counter in `set`.
  FLITLAB_INLINE void add(B set) {
    for (int j = 0; j < kPlanes; ++j) {
      if (tests_at(j) && !C::any(set)) return;
      const B carry = plane[j] & set;
      plane[j] ^= set;
      set = carry;
    }
  }
  FLITLAB_INLINE void subtract(B set) {
    for (int j = 0; j < kPlanes; ++j) {
      if (tests_at(j) && !C::any(set)) return;
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
      if (tests_at(j) && !C::any(carry)) return;
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
  /// Returns the sum of an item's counters in `set`.
  FLITLAB_INLINE u32 sum(u32 lane, u32 set) const {
    u32 sum = 0;
    FLITLAB_ROLLED for (int j = 0; j < kPlanes; ++j) sum += bit_count(lane_of(plane[j], lane) & set) << j;
    return sum;
  }
  /// Returns the set of an item's counters that are above `count`, or equal to it and in `or_equal`.
  FLITLAB_INLINE u32 above(u32 lane, u32 count, u32 or_equal) const {
    if (count >> kPlanes) return 0;
    u32 set = or_equal;
    FLITLAB_ROLLED for (int j = 0; j < kPlanes; ++j) set =
        count >> j & 1 ? set & lane_of(plane[j], lane) : set | lane_of(plane[j], lane);
    return set;
  }
  /// Returns the set of counters that are above `count`, or equal to it and in `or_equal`.
  FLITLAB_INLINE B above(u32 count, B or_equal) const {
    if (count >> kPlanes) return B{};
    B set = or_equal;
    for (int j = 0; j < kPlanes; ++j) set = count >> j & 1 ? set & plane[j] : set | plane[j];
    return set;
  }
  /// Sets each counter in `set`, which is 0, to `count`.
  FLITLAB_INLINE void start(B set, u32 count) {
    for (int j = 0; j < kPlanes; ++j)
      if (count >> j & 1) plane[j] |= set;
  }
  FLITLAB_INLINE void set(u32 lane, u32 bit, u32 count) {
    for (int j = 0; j < kPlanes; ++j)
      C::put_bits(lane_of(plane[j], lane), static_cast<E>(E{1} << bit), static_cast<E>((count >> j & 1u) << bit));
  }
};

}  // namespace flitlab::lanes
