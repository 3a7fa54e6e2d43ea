#pragma once
/// Vectors of four numbers, one for each channel of a router in a two-dimensional network. Comparisons are signed, so
/// all compared values are below 2^31.
#include "kernels/routers/bless/rank.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace flitlab::bless {

using Quad = i32 __attribute__((vector_size(16), may_alias));

FLITLAB_INLINE Quad all_four(u32 x) { return Quad{} + static_cast<i32>(x); }

/// Returns the true elements of a comparison's result as a set of bits.
FLITLAB_INLINE u32 members(Quad truth) {
#if defined(__SSE2__)
  return static_cast<u32>(_mm_movemask_ps((__m128)truth));
#else
  return (truth[0] & 1) | (truth[1] & 2) | (truth[2] & 4) | (truth[3] & 8);
#endif
}

template <int kShift>
FLITLAB_INLINE Quad rotate(Quad x) {
  return __builtin_shufflevector(x, x, kShift % 4, (kShift + 1) % 4, (kShift + 2) % 4, (kShift + 3) % 4);
}

/// Four flits in structure-of-arrays form: element i of each member belongs to flit i. Members are fields of Packet.
struct FourFlits {
  Quad dst, src, injected, id, via;

  static FLITLAB_INLINE Quad low(Quad a, Quad b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
  static FLITLAB_INLINE Quad high(Quad a, Quad b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
  static FLITLAB_INLINE Quad first(Quad a, Quad b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); }
  static FLITLAB_INLINE Quad second(Quad a, Quad b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); }

  FLITLAB_INLINE explicit FourFlits(const Flit* flit) {
    static_assert(offsetof(Flit, dst) == 0 && offsetof(Flit, src) == 4 && offsetof(Flit, injected) == 12 &&
                  offsetof(Flit, id) == 16 && offsetof(Flit, via) == 20);
    const Quad* word = reinterpret_cast<const Quad*>(flit);
    const Quad ab = low(word[0], word[2]), cd = low(word[4], word[6]);
    dst = first(ab, cd);
    src = second(ab, cd);
    injected = second(high(word[0], word[2]), high(word[4], word[6]));
    const Quad ef = low(word[1], word[3]), gh = low(word[5], word[7]);
    id = first(ef, gh);
    via = second(ef, gh);
  }
};

/// Masks and ring lengths of the coordinates in the packed addresses of a two-dimensional network.
template <class T>
struct Coordinates {
  Quad mask[T::dims], around[T::dims];

  FLITLAB_INLINE explicit Coordinates(const T& t) {
    for (u32 dim = 0; dim < t.dims; ++dim) {
      mask[dim] = all_four(t.dim_mask[dim] << t.dim_shift[dim]);
      around[dim] = all_four(t.radix[dim] << t.dim_shift[dim]);
    }
  }

  /// Returns productive_channels() of four flits.
  FLITLAB_INLINE Quad productive(Quad here, Quad present) const {
    Quad set{};
    for (u32 dim = T::dims; dim-- > 0;) {
      const Quad from = here & mask[dim], to = present & mask[dim];
      Quad plus = to > from, minus = from > to;
      if constexpr (T::wraps != 0) {
        const Quad apart = plus | minus;
        const Quad up = to - from + (around[dim] & minus), down = around[dim] - up;
        plus = apart & ~(up > down);
        minus = apart & ~(down > up);
      }
      set = (set << 2) - plus - minus - minus;  // true is -1
    }
    return set;
  }
};

inline constexpr u32 kAll = 15, kChannel = 3, kDeflected = 4;

/// `kChoiceOf[begin][request][free]`: lookup table of choose_channel(). `begin`: channel from which deflections are
/// tried; `request`: set of productive channels, with the packet's preference() in the two bits above; `free`: set of
/// free channels, not empty. An entry is the channel, plus kDeflected if the flit is deflected.
inline constexpr auto kChoiceOf = [] {
  std::array<std::array<std::array<u8, 16>, 64>, 4> choices{};
  for (u32 begin = 0; begin < 4; ++begin)
    for (u32 request = 0; request < 64; ++request)
      for (u32 free = 1; free < 16; ++free) {
        const u32 productive = request & kAll;
        const u32 channel = choose_channel(productive, free, 4, begin, [&] { return request >> 4; });
        choices[begin][request][free] = static_cast<u8>(channel | (productive & free ? 0 : kDeflected));
      }
  return choices;
}();

/// Returns, for each of four flits, whether it is older() than the flit kShift elements further on.
template <int kShift>
FLITLAB_INLINE Quad older_than_next(const FourFlits& f) {
  const Quad injected = rotate<kShift>(f.injected), src = rotate<kShift>(f.src), id = rotate<kShift>(f.id),
             via = rotate<kShift>(f.via);
  return (f.injected < injected) |
         ((f.injected == injected) &
          ((f.src < src) | ((f.src == src) & ((f.id < id) | ((f.id == id) & (f.via < via))))));
}

/// `kOrderOf[index]`: the four inputs in the order of age, oldest first, one byte each. The index consists of
/// comparisons of ages: bits 0 to 3 come from older_than_next<1>, bits 4 and 5 from the first two elements of
/// older_than_next<2>.
inline constexpr std::array<u32, 64> kOrderOf = [] {
  std::array<u32, 64> orders{};
  for (u32 comparisons = 0; comparisons < 64; ++comparisons) {
    u32 before[4]{};
    const auto pair = [&](u32 bit, u32 a, u32 b) { ++before[comparisons >> bit & 1 ? b : a]; };
    for (u32 element = 0; element < 4; ++element) pair(element, element, (element + 1) % 4);
    pair(4, 0, 2);
    pair(5, 1, 3);
    for (u32 input = 0; input < 4; ++input) orders[comparisons] |= input << 8 * before[input];
  }
  return orders;
}();

/// Returns the inputs in the order of their flits' ages, in the form of kOrderOf. Inputs that are not in `present` hold
/// no flit and come last.
FLITLAB_INLINE u32 order_of(FourFlits f, Quad present) {
  f.injected |= ~present & all_four(0x7FFFFFFF);
  return kOrderOf[members(older_than_next<1>(f)) | (members(older_than_next<2>(f)) & 3) << 4];
}

}  // namespace flitlab::bless
