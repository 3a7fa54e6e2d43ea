#pragma once
/// Vectors that hold one byte of each of L items (routers or terminals). One instruction processes the bytes, called
/// lanes, of all L items. They are vector types of GCC and Clang, so the code builds on any machine with one of these
/// compilers. L is the width of the machine's vector registers in bytes (16, 32 or 64), because wider vectors compile
/// to scalar code.
#include <cstring>
#include <initializer_list>

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
  typedef u8 Bytes __attribute__((vector_size(L)));
  typedef u8 Unaligned __attribute__((vector_size(L), aligned(1), may_alias));  ///< `Bytes` at any address
  typedef u64 Words __attribute__((vector_size(L)));
  typedef long long Signed __attribute__((vector_size(L)));
  typedef double Reals __attribute__((vector_size(L)));
};

/// A vector of one byte from each of L items.
template <int L>
using Bytes = typename Types<L>::Bytes;

template <int L>
FLITLAB_INLINE Bytes<L> every(u32 byte) {
  return Bytes<L>{} + static_cast<u8>(byte);
}

/// Returns the set whose only member is `member`.
FLITLAB_INLINE u8 only(u32 member) { return static_cast<u8>(1u << member); }

/// Returns 0xFF in each lane that is not 0, and 0 in the other lanes.
template <class B>
FLITLAB_INLINE B nonzero(B x) {
  return (B)(x != 0);
}

/// Returns `a` in the lanes where `mask` is 0xFF, and `b` in the lanes where it is 0.
template <class B>
FLITLAB_INLINE B select(B mask, B a, B b) {
  return (a & mask) | (b & ~mask);
}

/// Returns 0xFF in each lane whose set contains `member`, and 0 in the other lanes.
template <class B>
FLITLAB_INLINE B has(B set, u32 member) {
#if defined(__AVX512BW__)
  return nonzero(set & only(member));
#else
  return (B)((set & only(member)) == only(member));  // needs no inversion of the mask, unlike "!= 0"
#endif
}

/// Copies `value` to `to` in each lane where `set` contains `member`.
template <class B>
FLITLAB_INLINE void put_where(B& to, B set, u32 member, B value) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(B) == 64) {
    const __mmask64 lanes = _mm512_test_epi8_mask((__m512i)set, _mm512_set1_epi8(static_cast<char>(only(member))));
    to = (B)_mm512_mask_mov_epi8((__m512i)to, lanes, (__m512i)value);
    return;
  }
#endif
  to = select(has(set, member), value, to);
}

/// Round-robin arbitration in each lane. Returns the lowest member of `set` that is in `first_priority`, or the lowest
/// member of `set` if no member is. The result is a set of one member; for an empty `set` it is empty (0).
template <class B>
FLITLAB_INLINE B pick(B set, B first_priority) {
  B x = set & first_priority;
  x = select(nonzero(x), x, set);
  return x & (0 - x);
}

/// Returns the indices that have priority in the round-robin order after the grant to `served` (a set of one member):
/// all indices above it.
template <class B>
FLITLAB_INLINE B above(B served) {
  return ~(served | (served - 1));
}

/// Returns the set of the lanes that are not 0: bit l stands for lane l.
template <class B>
FLITLAB_INLINE u64 members(B x) {
  constexpr int L = sizeof(B);
#if defined(__AVX512BW__)
  if constexpr (L == 64) return _mm512_test_epi8_mask((__m512i)x, (__m512i)x);
#endif
#if defined(__AVX2__)
  if constexpr (L == 32) return static_cast<u32>(~_mm256_movemask_epi8((__m256i)(B)(x == 0)));
#endif
#if defined(__SSE2__)
  if constexpr (L == 16) return ~static_cast<u32>(_mm_movemask_epi8((__m128i)(B)(x == 0))) & 0xFFFFu;
#endif
  u64 words[L / 8], set = 0;
  const B low = nonzero(x) & 1;
  std::memcpy(words, &low, L);
  for (int i = 0; i < L / 8; ++i) set |= (words[i] * 0x0102040810204080ull >> 56) << (8 * i);
  return set;
}

template <class B>
FLITLAB_INLINE u32 count_members(B x) {
  return bit_count64(members(x));
}

/// Calls work(lane) for each lane in `set`; bit l stands for lane l.
template <class Work>
FLITLAB_INLINE void for_each_lane(u64 set, Work&& work) {
  for (; set; set &= set - 1) work(lowest_bit(set));
}

/// Writes to `list` the lanes of n vectors that are not 0, lane l of vector i as i * L + l, and returns their number.
/// `list` needs room for kListMargin more entries. The function writes several entries at a time without a test,
/// because a processor cannot predict the end of a loop over the lanes of one vector.
inline constexpr u32 kListMargin = 16;
template <std::size_t n, class B>
FLITLAB_INLINE u32 list_lanes(const B (&vectors)[n], u32* list) {
  u32 count = 0;
  for (u32 i = 0; i < n; ++i) {
    u64 lanes = members(vectors[i]);
#if defined(__AVX512F__)
    const __m512i first_lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (u32 lane = 0; lane < sizeof(B); lane += 16, lanes >>= 16) {
      const __m512i numbers = _mm512_add_epi32(first_lanes, _mm512_set1_epi32(static_cast<int>(i * sizeof(B) + lane)));
      _mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), numbers));
      count += bit_count(static_cast<u32>(lanes & 0xFFFF));
    }
#else
    do {
      for (u32 j = 0; j < 4; ++j) {
        list[count] = i * static_cast<u32>(sizeof(B)) + lowest_bit(lanes | u64{1} << 63);
        count += lanes != 0;
        lanes &= lanes - 1;
      }
    } while (lanes);
#endif
  }
  return count;
}

/// Transposes 8 x 8 bits in each lane: bit j of rows[i] becomes bit i of rows[j].
template <int L>
FLITLAB_INLINE void transpose8(Bytes<L> (&rows)[8]) {
  using Words = typename Types<L>::Words;
  const auto swap = [](Bytes<L>& low, Bytes<L>& high, int distance, u8 which) __attribute__((always_inline)) {
    const Bytes<L> differ = ((Bytes<L>)((Words)low >> distance) ^ high) & which;
    high ^= differ;
    low ^= (Bytes<L>)((Words)differ << distance);
  };
  for (int i : {0, 1, 2, 3}) swap(rows[i], rows[i + 4], 4, 0x0F);
  for (int i : {0, 1, 4, 5}) swap(rows[i], rows[i + 2], 2, 0x33);
  for (int i : {0, 2, 4, 6}) swap(rows[i], rows[i + 1], 1, 0x55);
}

/// Returns a reference to the byte of item `lane`.
template <class B>
FLITLAB_INLINE u8& lane_of(B& x, u32 lane) {
  return reinterpret_cast<u8*>(&x)[lane];
}
template <class B>
FLITLAB_INLINE u32 lane_of(const B& x, u32 lane) {
  return reinterpret_cast<const u8*>(&x)[lane];
}

}  // namespace flitlab::lanes
