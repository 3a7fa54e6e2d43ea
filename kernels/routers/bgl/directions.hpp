#pragma once
/// Operations on six values at once, one for each direction. The CPU engine keeps an item's values together, so it uses
/// 16-byte vectors; other engines loop.
#include <array>
#include <cstring>

#include "kernels/common/bits.hpp"
#include "kernels/routers/bgl/node_state.hpp"

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#define FLITLAB_BGL_VECTORS 1
#else
#define FLITLAB_BGL_VECTORS 0
#endif

namespace flitlab::bgl {

inline constexpr u32 kEveryDirection = (1u << kDirections) - 1;

template <class T>
FLITLAB_HD constexpr u32 all_of(const T& t) {
  return (1u << 2 * t.dims) - 1;
}

/// Returns all ones if a direction is in a set, else 0.
FLITLAB_HD constexpr u64 mask_of(u32 directions, u32 d) { return 0 - u64{directions >> d & 1}; }

/// `[set][direction]`: mask_of(set, direction).
inline constexpr std::array<std::array<u64, kDirections>, 64> kMasksOf = [] {
  std::array<std::array<u64, kDirections>, 64> masks{};
  for (u32 set = 0; set < 64; ++set)
    for (u32 d = 0; d < kDirections; ++d) masks[set][d] = mask_of(set, d);
  return masks;
}();

/// Returns the directions whose element of `field` equals `value`.
template <int W>
FLITLAB_INLINE u32 equal_set(const Item<W>& item, Field<u16> field, u16 value) {
#if FLITLAB_BGL_VECTORS
  if constexpr (W == 1) {
    u64 low;
    u32 high;  // the values after the sixth belong to other fields
    std::memcpy(&low, &item.at(field), sizeof low);
    std::memcpy(&high, &item.at(field, 4), sizeof high);
    const __m128i values = _mm_set_epi64x(high, static_cast<long long>(low));
    const __m128i equal = _mm_cmpeq_epi16(values, _mm_set1_epi16(static_cast<short>(value)));
    return static_cast<u32>(_mm_movemask_epi8(_mm_packs_epi16(equal, equal))) & kEveryDirection;
  }
#endif
  u32 set = 0;
  for (u32 d = 0; d < kDirections; ++d) set |= u32{item.at(field, d) == value} << d;
  return set;
}

/// Returns the directions whose element of `field` is not 0; direction 0 is element `first`.
template <int W>
FLITLAB_INLINE u32 nonzero_set(const Item<W>& item, Field<u32> field, u32 first) {
#if FLITLAB_BGL_VECTORS
  if constexpr (W == 1) {
    const auto zeros = [&](u32 at) {
      const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&item.at(field, first + at)));
      return static_cast<u32>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(values, _mm_setzero_si128()))));
    };
    return ~(zeros(0) | zeros(2) << 2) & kEveryDirection;
  }
#endif
  u32 set = 0;
  for (u32 d = 0; d < kDirections; ++d) set |= u32{item.at(field, first + d) != 0} << d;
  return set;
}

/// Returns the union of `sets[d]` for all directions d of `directions`.
FLITLAB_INLINE u64 union_of(const u64 (&sets)[kDirections], u32 directions) {
#if FLITLAB_BGL_VECTORS
  const auto& masks = kMasksOf[directions];
  const auto pair = [&](u32 d) {
    return _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&sets[d])),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(&masks[d])));
  };
  const __m128i all = _mm_or_si128(_mm_or_si128(pair(0), pair(2)), pair(4));
  return static_cast<u64>(_mm_cvtsi128_si64(_mm_or_si128(all, _mm_unpackhi_epi64(all, all))));
#else
  u64 all = 0;
  for (u32 d = 0; d < kDirections; ++d) all |= sets[d] & mask_of(directions, d);
  return all;
#endif
}

/// Adds a queue to the sets of `directions`, and removes it from the sets of all other directions. `queue`: the bit of
/// the queue.
FLITLAB_CALLED void set_membership(u64 (&sets)[kDirections], u64 queue, u32 directions) {
#if FLITLAB_BGL_VECTORS
  const auto& masks = kMasksOf[directions];
  const __m128i queue_bits = _mm_set1_epi64x(static_cast<long long>(queue));
  for (u32 d = 0; d < kDirections; d += 2) {
    __m128i* const set = reinterpret_cast<__m128i*>(&sets[d]);
    const __m128i in = _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&masks[d])), queue_bits);
    _mm_storeu_si128(set, _mm_or_si128(_mm_andnot_si128(queue_bits, _mm_loadu_si128(set)), in));
  }
#else
  for (u32 d = 0; d < kDirections; ++d) sets[d] = (sets[d] & ~queue) | (mask_of(directions, d) & queue);
#endif
}

/// Returns the set of directions whose byte of `word` is not 0.
FLITLAB_INLINE u32 bytes_set(u64 word) {
#if FLITLAB_BGL_VECTORS
  const __m128i zeros = _mm_cmpeq_epi8(_mm_cvtsi64_si128(static_cast<long long>(word)), _mm_setzero_si128());
  return ~static_cast<u32>(_mm_movemask_epi8(zeros)) & kEveryDirection;
#else
  constexpr u64 kLow = 0x7F7F7F7F7F7F7F7Full;
  const u64 present = (((word & kLow) + kLow) | word) & ~kLow;
  return static_cast<u32>((present >> 7) * 0x0102040810204080ull >> 56) & kEveryDirection;
#endif
}

}  // namespace flitlab::bgl
