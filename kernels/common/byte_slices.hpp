#pragma once
/// Slice: one byte from each of four items (routers or terminals) in a 32-bit word, the unit that one GPU thread
/// processes. A Slice has the same operations as the vectors of kernels/common/byte_lanes.hpp, so the same lane code
/// (code that works on one element per item) compiles for CPUs and GPUs.
#include "kernels/common/bits.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::lanes {

struct Slice {
  u32 word;

  Slice() = default;
  /// Makes a slice that has the same byte for all four items.
  FLITLAB_INLINE constexpr Slice(u8 byte) : word(byte * 0x01010101u) {}
  static FLITLAB_INLINE Slice of(u32 word) {
    Slice s;
    s.word = word;
    return s;
  }

  FLITLAB_INLINE Slice& operator&=(Slice b) { return word &= b.word, *this; }
  FLITLAB_INLINE Slice& operator|=(Slice b) { return word |= b.word, *this; }
  FLITLAB_INLINE Slice& operator^=(Slice b) { return word ^= b.word, *this; }
};

FLITLAB_INLINE Slice operator&(Slice a, Slice b) { return Slice::of(a.word & b.word); }
FLITLAB_INLINE Slice operator|(Slice a, Slice b) { return Slice::of(a.word | b.word); }
FLITLAB_INLINE Slice operator^(Slice a, Slice b) { return Slice::of(a.word ^ b.word); }
FLITLAB_INLINE Slice operator~(Slice a) { return Slice::of(~a.word); }

/// Adds two slices byte by byte. Bit 7 of each byte is added separately, so that no carry crosses into the next byte.
FLITLAB_INLINE Slice operator+(Slice a, Slice b) {
  const u32 upper = 0x80808080u;
  return Slice::of(((a.word & ~upper) + (b.word & ~upper)) ^ ((a.word ^ b.word) & upper));
}
FLITLAB_INLINE Slice operator-(Slice a, Slice b) {
  const u32 upper = 0x80808080u;
  return Slice::of(((a.word | upper) - (b.word & ~upper)) ^ (~(a.word ^ b.word) & upper));
}

/// Returns 0xFF in the bytes whose bit 7 is set.
FLITLAB_INLINE Slice spread(Slice x) {
#if defined(__CUDA_ARCH__) && !defined(CUDA_ON_HOST)
  u32 signs;  // in assembly, because CUDA's __byte_perm() has no sign replication
  asm("prmt.b32 %0, %1, 0, 0xBA98;" : "=r"(signs) : "r"(x.word));
  return Slice::of(signs);
#else
  const u32 upper = x.word & 0x80808080u;
  return Slice::of((upper << 1) - (upper >> 7));
#endif
}
FLITLAB_INLINE Slice nonzero(Slice x) { return spread(Slice::of(((x.word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | x.word)); }
FLITLAB_INLINE Slice operator==(Slice a, Slice b) { return ~nonzero(a ^ b); }

FLITLAB_INLINE Slice select(Slice mask, Slice a, Slice b) { return (a & mask) | (b & ~mask); }
FLITLAB_INLINE Slice has(Slice set, u32 member) { return spread(Slice::of(set.word << (7 - member))); }
FLITLAB_INLINE void put_where(Slice& to, Slice set, u32 member, Slice value) {
  to = select(has(set, member), value, to);
}
FLITLAB_INLINE Slice pick(Slice set, Slice first_priority) {
  Slice x = set & first_priority;
  x = select(nonzero(x), x, set);
  return x & (Slice(u8{0}) - x);
}
FLITLAB_INLINE Slice above(Slice served) { return ~(served | (served - Slice(u8{1}))); }

/// Returns the number of bytes that are not 0.
FLITLAB_INLINE u32 count_members(Slice x) { return bit_count(nonzero(x).word) / 8; }

/// Returns a reference to the byte of item `lane`, which must be one of this slice's four items.
FLITLAB_INLINE u8& lane_of(Slice& x, u32 lane) { return reinterpret_cast<u8*>(&x)[lane % 4]; }
FLITLAB_INLINE u32 lane_of(const Slice& x, u32 lane) { return x.word >> (lane % 4 * 8) & 0xFF; }

FLITLAB_INLINE void transpose8(Slice (&rows)[8]) {
  const auto swap = [](Slice& low, Slice& high, u32 distance, u32 which) {
    const u32 differ = ((low.word >> distance) ^ high.word) & which;
    high.word ^= differ;
    low.word ^= differ << distance;
  };
  for (int i = 0; i < 4; ++i) swap(rows[i], rows[i + 4], 4, 0x0F0F0F0Fu);
  for (int i = 0; i < 8; ++i)
    if (!(i & 2)) swap(rows[i], rows[i + 2], 2, 0x33333333u);
  for (int i = 0; i < 8; i += 2) swap(rows[i], rows[i + 1], 1, 0x55555555u);
}

}  // namespace flitlab::lanes
