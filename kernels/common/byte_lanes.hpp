#pragma once
/// Vectors that hold one element of each of several items (routers or terminals). One instruction processes the
/// elements, called lanes, of all items. An element is an unsigned number of 8, 16 or 32 bits, and mostly a set of
/// ports or virtual channels: a model chooses the smallest type that has a bit for each of them. Vectors are types
/// of GCC and Clang, so the code builds on any machine with one of these compilers. L is the width of the machine's
/// vector registers in bytes (16, 32 or 64), because wider vectors compile to scalar code; L / sizeof(E) items fit.
#include <cstring>
#include <type_traits>

#include "kernels/common/bits.hpp"
#include "kernels/common/types.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace flitlab::lanes {

template <int L>
struct Types {
  typedef u64 Words __attribute__((vector_size(L)));
  typedef long long Signed __attribute__((vector_size(L)));
  typedef double Reals __attribute__((vector_size(L)));
};

/// A vector of L bytes with elements of type E; `Unaligned`: the same at any address.
template <int L, class E>
struct VectorOf {
  typedef E Type __attribute__((vector_size(L)));
  typedef E Unaligned __attribute__((vector_size(L), aligned(1), may_alias));
};

/// Vectors, but no class with operations of its own (kernels/common/byte_slices.hpp).
template <class B>
concept Vector = !std::is_class_v<B>;

/// The element type of a vector.
template <class B>
using ElementOf = std::remove_cvref_t<decltype(std::declval<B&>()[0])>;
template <class B>
inline constexpr int kLanesOf = sizeof(B) / sizeof(ElementOf<B>);

/// Returns the set whose only member is `member`.
template <class E>
FLITLAB_INLINE E only_member(u32 member) {
  return static_cast<E>(E{1} << member);
}

/// Returns a lane of all ones for each element that is not 0, and 0 in the other lanes.
template <Vector B>
FLITLAB_INLINE B nonzero(B x) {
  return (B)(x != 0);
}

/// Returns `a` in the lanes where `mask` is all ones, and `b` in the lanes where it is 0.
template <Vector B>
FLITLAB_INLINE B select(B mask, B a, B b) {
  return (a & mask) | (b & ~mask);
}

/// Returns all ones in each lane whose set contains `member`, and 0 in the other lanes.
template <Vector B>
FLITLAB_INLINE B has(B set, u32 member) {
  const auto bit = only_member<ElementOf<B>>(member);
#if defined(__AVX512BW__)
  return nonzero(set & bit);
#else
  return (B)((set & bit) == bit);  // needs no inversion of the mask, unlike "!= 0"
#endif
}

/// Adds the members of `value` to `to`, which has none of them, in each lane where `set` contains `member`.
template <Vector B>
FLITLAB_INLINE void put_where(B& to, B set, u32 member, B value) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(B) == 64) {
    const B bit = B{} + only_member<ElementOf<B>>(member);
    if constexpr (sizeof(ElementOf<B>) == 1)
      to = (B)_mm512_mask_add_epi8((__m512i)to, _mm512_test_epi8_mask((__m512i)set, (__m512i)bit), (__m512i)to,
                                   (__m512i)value);
    else if constexpr (sizeof(ElementOf<B>) == 2)
      to = (B)_mm512_mask_add_epi16((__m512i)to, _mm512_test_epi16_mask((__m512i)set, (__m512i)bit), (__m512i)to,
                                    (__m512i)value);
    else
      to = (B)_mm512_mask_add_epi32((__m512i)to, _mm512_test_epi32_mask((__m512i)set, (__m512i)bit), (__m512i)to,
                                    (__m512i)value);
    return;
  }
#endif
  to |= has(set, member) & value;
}

/// Round-robin arbitration in each lane. Returns the lowest member of `set` that is in `first_priority`, or the lowest
/// member of `set` if no member is. The result is a set of one member; for an empty `set` it is empty (0).
template <Vector B>
FLITLAB_INLINE B pick(B set, B first_priority) {
  B x = set & first_priority;
  x = select(nonzero(x), x, set);
  return x & (0 - x);
}

/// Returns the indices that have priority in the round-robin order after the grant to `served` (a set of one member):
/// all indices above it.
template <Vector B>
FLITLAB_INLINE B above(B served) {
  return ~(served | (served - 1));
}

/// Returns the set of the lanes that are not 0: bit l stands for lane l.
template <Vector B>
FLITLAB_INLINE u64 members(B x) {
  constexpr int L = sizeof(B), kBytes = sizeof(ElementOf<B>);
#if defined(__AVX512BW__)
  if constexpr (L == 64 && kBytes == 1) return _mm512_test_epi8_mask((__m512i)x, (__m512i)x);
  if constexpr (L == 64 && kBytes == 2) return _mm512_test_epi16_mask((__m512i)x, (__m512i)x);
  if constexpr (L == 64 && kBytes == 4) return _mm512_test_epi32_mask((__m512i)x, (__m512i)x);
#endif
#if defined(__AVX2__)
  if constexpr (L == 32) {
    const __m256i zero = (__m256i)(B)(x == 0);
    if constexpr (kBytes == 1) return static_cast<u32>(~_mm256_movemask_epi8(zero));
    if constexpr (kBytes == 2) {
      const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(zero), _mm256_extracti128_si256(zero, 1));
      return ~static_cast<u32>(_mm_movemask_epi8(bytes)) & 0xFFFFu;
    }
    if constexpr (kBytes == 4) return ~static_cast<u32>(_mm256_movemask_ps((__m256)zero)) & 0xFFu;
  }
#endif
#if defined(__SSE2__)
  if constexpr (L == 16) {
    const __m128i zero = (__m128i)(B)(x == 0);
    if constexpr (kBytes == 1) return ~static_cast<u32>(_mm_movemask_epi8(zero)) & 0xFFFFu;
    if constexpr (kBytes == 2) return ~static_cast<u32>(_mm_movemask_epi8(_mm_packs_epi16(zero, zero))) & 0xFFu;
    if constexpr (kBytes == 4) return ~static_cast<u32>(_mm_movemask_ps((__m128)zero)) & 0xFu;
  }
#endif
  u64 words[L / 8], set = 0;
  const B low = nonzero(x) & 1;
  std::memcpy(words, &low, L);
  // The product moves the lowest bit of each element to the top of the word, in order.
  constexpr u64 kGather = kBytes == 1   ? 0x0102040810204080ull
                          : kBytes == 2 ? 0x1000200040008000ull
                                        : 0x4000000080000000ull;
  constexpr int kInWord = 8 / kBytes;
  for (int i = 0; i < L / 8; ++i) set |= (words[i] * kGather >> (64 - kInWord)) << (kInWord * i);
  return set;
}

template <Vector B>
FLITLAB_INLINE u32 count_members(B x) {
  return bit_count64(members(x));
}

/// Calls work(lane) for each lane in `set`; bit l stands for lane l.
template <class Work>
FLITLAB_INLINE void for_each_lane(u64 set, Work&& work) {
  for (; set; set &= set - 1) work(lowest_bit(set));
}

/// Writes to `list` the lanes of n vectors that are not 0, lane l of vector i as i * (lanes of a vector) + l, and
/// returns their number. `list` needs room for kListMargin more entries. The function writes several entries at a time
/// without a test, because a processor cannot predict the end of a loop over the lanes of one vector.
inline constexpr u32 kListMargin = 16;
template <Vector B>
FLITLAB_INLINE u32 list_lanes(const B* vectors, u32 n, u32* list) {
  constexpr u32 kLanes = kLanesOf<B>;
  u32 count = 0;
  for (u32 i = 0; i < n; ++i) {
    u64 lanes = members(vectors[i]);
#if defined(__AVX512F__)
    const __m512i first_lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (u32 lane = 0; lane < kLanes; lane += 16, lanes >>= 16) {
      const __m512i numbers = _mm512_add_epi32(first_lanes, _mm512_set1_epi32(static_cast<int>(i * kLanes + lane)));
      _mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), numbers));
      count += bit_count(static_cast<u32>(lanes & 0xFFFF));
    }
#else
    do {
      for (u32 j = 0; j < 4; ++j) {
        list[count] = i * kLanes + lowest_bit(lanes | u64{1} << 63);
        count += lanes != 0;
        lanes &= lanes - 1;
      }
    } while (lanes);
#endif
  }
  return count;
}

/// Transposes a square bit matrix in each lane, as wide as an element: bit j of rows[i] becomes bit i of rows[j].
template <Vector B>
FLITLAB_INLINE void transpose(B* rows) {
  using E = ElementOf<B>;
  using Words = typename Types<sizeof(B)>::Words;
  constexpr u32 kBits = 8 * sizeof(E);
  const auto swap = [](B& low, B& high, u32 distance, E which) __attribute__((always_inline)) {
    const B differ = ((B)((Words)low >> distance) ^ high) & which;
    high ^= differ;
    low ^= (B)((Words)differ << distance);
  };
  FLITLAB_UNROLLED for (u32 distance = kBits / 2; distance; distance /= 2) {
    const E which = static_cast<E>(static_cast<E>(~E{0}) / ((E{1} << distance) + E{1}));  // the lower half of each pair
    FLITLAB_UNROLLED for (u32 i = 0; i < kBits; ++i) if (!(i & distance))
        swap(rows[i], rows[i + distance], distance, which);
  }
}

/// Transposes n sets of numbers below n in each lane: to[j] becomes the set of the i for which from[i] contains j.
template <Vector B>
FLITLAB_INLINE void transpose_sets(const B* from, u32 n, B* to) {
  constexpr u32 kBits = 8 * sizeof(ElementOf<B>), kFew = kBits == 8 ? 5 : kBits == 16 ? 8 : 12;
  if (n <= kFew) {  // takes less than the transposition of a whole matrix
    for (u32 j = 0; j < n; ++j) {
      B set{};
      for (u32 i = 0; i < n; ++i) put_where(set, from[i], j, B{} + only_member<ElementOf<B>>(i));
      to[j] = set;
    }
    return;
  }
  B rows[kBits];
  for (u32 i = 0; i < kBits; ++i) rows[i] = i < n ? from[i] : B{};
  transpose(rows);
  for (u32 j = 0; j < n; ++j) to[j] = rows[j];
}

/// Returns a reference to the element of item `lane`.
template <Vector B>
FLITLAB_INLINE ElementOf<B>& lane_of(B& x, u32 lane) {
  return reinterpret_cast<ElementOf<B>*>(&x)[lane];
}
template <Vector B>
FLITLAB_INLINE u32 lane_of(const B& x, u32 lane) {
  return reinterpret_cast<const ElementOf<B>*>(&x)[lane];
}

}  // namespace flitlab::lanes
