#pragma once
/// Bit sets as machine words: lowest and highest member, member count, round-robin choice.
#include "kernels/common/types.hpp"

namespace flitlab {

FLITLAB_HD constexpr u32 lowest_bit(u32 set) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(__ffs(static_cast<int>(set)) - 1);
#else
  return static_cast<u32>(__builtin_ctz(set));
#endif
}

FLITLAB_HD inline u32 lowest_bit(u64 set) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(__ffsll(static_cast<long long>(set)) - 1);
#else
  return static_cast<u32>(__builtin_ctzll(set));
#endif
}

/// Returns the position of the highest set bit of a non-zero word.
FLITLAB_HD inline u32 log2_floor(u32 x) {
#if defined(__CUDA_ARCH__)
  return 31u - static_cast<u32>(__clz(static_cast<int>(x)));
#else
  return 31u - static_cast<u32>(__builtin_clz(x));
#endif
}

FLITLAB_HD inline u32 bit_count(u32 set) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(__popc(set));
#else
  return static_cast<u32>(__builtin_popcount(set));
#endif
}

FLITLAB_HD inline u32 bit_count64(u64 set) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(__popcll(set));
#else
  set -= set >> 1 & 0x5555555555555555ull;  // computed here, because on x86-64 without extensions the builtin calls a
                                            // library function
  set = (set & 0x3333333333333333ull) + (set >> 2 & 0x3333333333333333ull);
  return static_cast<u32>(((set + (set >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull >> 56);
#endif
}

/// Returns the number of bits needed to write x; 0 for 0.
FLITLAB_HD inline u32 bit_width(u32 x) {
#if defined(__CUDA_ARCH__)
  return static_cast<u32>(32 - __clz(static_cast<int>(x)));
#else
  return x ? static_cast<u32>(32 - __builtin_clz(x)) : 0u;
#endif
}

/// Round-robin choice: returns the first member at or after `pointer`, wrapping around. `set` must not be empty. The
/// pointer may be one past the last possible member, so the caller need not wrap it after an increment.
FLITLAB_HD constexpr u32 first_at_or_after(u32 set, u32 pointer) {
  const u32 above = set & static_cast<u32>(~u64{0} << pointer);
  return lowest_bit(above ? above : set);
}

/// first_at_or_after() for sets of up to 64 members.
FLITLAB_HD inline u32 first_at_or_after64(u64 set, u32 pointer) {
  const u64 above = pointer < 64 ? set & (~u64{0} << pointer) : 0;
  return lowest_bit(above ? above : set);
}

/// Returns a well-mixed 64-bit hash of a word (the finaliser of SplitMix64).
FLITLAB_HD inline u64 mix64(u64 x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace flitlab
