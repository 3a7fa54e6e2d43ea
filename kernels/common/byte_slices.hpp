#pragma once
/// Slice: one element from each of one, two or four items (routers or terminals) in a 32-bit word, the unit that one
/// GPU thread processes. An element has 32, 16 or 8 bits. A Slice has the same operations as the vectors of
/// kernels/common/byte_lanes.hpp, so the same lane code (code that works on one element per item) compiles for CPUs and
/// GPUs.
#include <type_traits>

#include "kernels/common/bits.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::lanes {

template <class E>
struct Slice;

/// The lowest bit, and the highest bit, of each element of a word.
template <class E>
inline constexpr u32 kLowBits = ~u32{0} / static_cast<E>(~E{0});
template <class E>
inline constexpr u32 kHighBits = kLowBits<E> << (8 * sizeof(E) - 1);

/// Returns all ones in the elements whose highest bit is set.
template <class E>
FLITLAB_INLINE Slice<E> spread(Slice<E> x) {
#if defined(__CUDA_ARCH__) && !defined(CUDA_ON_HOST)
  constexpr u32 kBytes = sizeof(E) == 1 ? 0xBA98 : sizeof(E) == 2 ? 0xBB99 : 0xBBBB;  // whose signs fill a byte each
  u32 signs;  // in assembly, because CUDA's __byte_perm() has no sign replication
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(signs) : "r"(x.word), "n"(kBytes));
  return Slice<E>::of(signs);
#else
  const u32 upper = x.word & kHighBits<E>;
  return Slice<E>::of((upper << 1) - (upper >> (8 * sizeof(E) - 1)));
#endif
}

/// Operations on slices. They are friends of a base, so that they accept objects that convert to slices, too
/// (kernels/common/byte_slices.cuh).
template <class E>
struct SliceOperations {
  using S = Slice<E>;
  static constexpr u32 kHigh = kHighBits<E>;

  friend FLITLAB_INLINE S operator&(S a, S b) { return S::of(a.word & b.word); }
  friend FLITLAB_INLINE S operator|(S a, S b) { return S::of(a.word | b.word); }
  friend FLITLAB_INLINE S operator^(S a, S b) { return S::of(a.word ^ b.word); }
  friend FLITLAB_INLINE S operator~(S a) { return S::of(~a.word); }

  /// Adds two slices element by element. The highest bit of each element is added separately, so that no carry crosses
  /// into the next element.
  friend FLITLAB_INLINE S operator+(S a, S b) {
    return S::of(((a.word & ~kHigh) + (b.word & ~kHigh)) ^ ((a.word ^ b.word) & kHigh));
  }
  friend FLITLAB_INLINE S operator-(S a, S b) {
    return S::of(((a.word | kHigh) - (b.word & ~kHigh)) ^ (~(a.word ^ b.word) & kHigh));
  }

  // Comparisons of unsigned elements; all ones: true.
  friend FLITLAB_INLINE S operator==(S a, S b) { return ~nonzero(a ^ b); }
  friend FLITLAB_INLINE S operator>=(S a, S b) {
    const u32 difference = (a - b).word;  // a borrow out of the highest bit means less
    return spread(S::of((a.word & ~b.word) | ((a.word | ~b.word) & ~difference)));
  }
  friend FLITLAB_INLINE S operator>(S a, S b) { return ~(b >= a); }

  friend FLITLAB_INLINE S nonzero(S x) { return spread(S::of(((x.word & ~kHigh) + ~kHigh) | x.word)); }
  friend FLITLAB_INLINE S select(S mask, S a, S b) { return (a & mask) | (b & ~mask); }
  friend FLITLAB_INLINE S has(S set, u32 member) {
    return spread(S::of(set.word << (8 * static_cast<u32>(sizeof(E)) - 1 - member)));
  }
  friend FLITLAB_INLINE S pick(S set, S first_priority) {
    S x = set & first_priority;
    x = select(nonzero(x), x, set);
    return x & (S(E{0}) - x);
  }
  friend FLITLAB_INLINE S above(S served) { return ~(served | (served - S(E{1}))); }

  /// Returns the number of elements that are not 0.
  friend FLITLAB_INLINE u32 count_members(S x) { return bit_count(nonzero(x).word) / (8 * sizeof(E)); }
};

template <class E>
struct Slice : SliceOperations<E> {
  static constexpr u32 items = 4 / sizeof(E);
  u32 word;

  Slice() = default;
  /// Makes a slice that has the same element for all items.
  FLITLAB_INLINE constexpr Slice(E element) : word(element * kLowBits<E>) {}
  static FLITLAB_INLINE Slice of(u32 word) {
    Slice s;
    s.word = word;
    return s;
  }

  FLITLAB_INLINE Slice& operator&=(Slice b) { return word &= b.word, *this; }
  FLITLAB_INLINE Slice& operator|=(Slice b) { return word |= b.word, *this; }
  FLITLAB_INLINE Slice& operator^=(Slice b) { return word ^= b.word, *this; }
};

template <class E>
FLITLAB_INLINE void put_where(Slice<E>& to, std::type_identity_t<Slice<E>> set, u32 member,
                              std::type_identity_t<Slice<E>> value) {
  to = select(has(set, member), value, to);
}

/// Returns a reference to the element of item `lane`, which must be one of this slice's items.
template <class E>
FLITLAB_INLINE E& lane_of(Slice<E>& x, u32 lane) {
  return reinterpret_cast<E*>(&x)[lane % Slice<E>::items];
}
template <class E>
FLITLAB_INLINE u32 lane_of(const Slice<E>& x, u32 lane) {
  return x.word >> (lane % Slice<E>::items * 8 * sizeof(E)) & static_cast<E>(~E{0});
}

}  // namespace flitlab::lanes
