#pragma once
/// Mail of a whole network side by side: what is on all wires in a cycle is one array, in which who hears something is
/// soon found, and where a port's words go is one number.
#include <vector>

#include "kernels/routers/metro/wire.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace flitlab::metro::lanes {

/// Routers, and endpoints, that are worked on at once. The more, the fewer loops end where a processor does not foresee
/// it.
inline constexpr u32 kBlock = 128;
static_assert(kBlock <= 256);  // a byte says which one

/// Where the words of a slot lie: [router][I] at forward ports, [router][O] at backward ones, [endpoint][2L][c].
struct Places {
  u32 backward, endpoints, slot_words;

  template <class T>
  explicit Places(const T& t)
      : backward(t.routers * t.inputs),
        endpoints(backward + t.routers * t.outputs),
        slot_words((endpoints + t.terminals * 2 * t.links * t.slices + 15) / 16 * 16) {}
};

/// The far end of a wire.
struct FarEnd {
  u32 place = kNone;  ///< in a slot; kNone: there is none
  u32 delay = 0;      ///< cycles from its sender's to its reader's
};

/// The far ends of all wires.
struct Wiring {
  std::vector<FarEnd> port;  ///< [router][I + O]
  std::vector<FarEnd> link;  ///< [endpoint][2L][c]

  template <class T>
  explicit Wiring(const T& t) {
    const Places places(t);
    const auto far_end = [&](const Wire& wire, u32 slice, u32 delay) {
      const u32 router = wire.item * t.slices + slice;
      u32 place = router * t.inputs + wire.port;
      if (wire.item == kNone)
        place = kNone;
      else if (wire.to_endpoint)
        place = places.endpoints + (wire.item * 2 * t.links + wire.port) * t.slices + slice;
      else if (wire.port >= t.inputs)
        place = places.backward + router * t.outputs + wire.port - t.inputs;
      return FarEnd{place, delay + wire.delay};
    };
    for (u32 i = 0; i < t.routers; ++i)
      for (u32 p = 0; p < t.ports(); ++p)
        port.push_back(far_end(t.wires[i / t.slices * t.ports() + p], i % t.slices, t.stages));
    for (u32 i = 0; i < t.terminals * 2 * t.links; ++i)
      for (u32 s = 0; s < t.slices; ++s) link.push_back(far_end(t.endpoint_wires[i], s, 1));
  }
};

/// Puts words into mail; see FarMail.
struct Outbox {
  const FarEnd* port;
  const FarEnd* link;
  u32 ports, link_words;  ///< of a router, of an endpoint
  Word* mail;
  u32 slot_words, slot_mask;

  FLITLAB_INLINE const FarEnd& far_end(u32 router, u32 p) const { return port[router * ports + p]; }
  FLITLAB_INLINE void from_port(const RouterName& name, u32 p, Word word, Cycle now) const {
    put(far_end(name.index, p), word, now);
  }
  template <class T>
  FLITLAB_INLINE void from_link(const T& t, u32 index, u32 l, u32 slice, Word word, Cycle now) const {
    put(link[index * link_words + l * t.slices + slice], word, now);
  }

  FLITLAB_INLINE void put(const FarEnd& end, Word word, Cycle now) const {
    if (end.place != kNone) put_surely(end, word, now);
  }
  FLITLAB_INLINE void put_surely(const FarEnd& end, Word word, Cycle now) const {
    mail[std::size_t{((now + end.delay) & slot_mask) * slot_words + end.place}] = word;
  }
};

/// Which of up to 32 words are not 0. Reads up to seven words more, of which there always are some behind mail;
/// they may be those of another thread, but then nothing is made of them.
FLITLAB_INLINE u32 words_present(const Word* words, u32 n) {
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
  u32 absent = 0;
  for (u32 i = 0; i < n; i += 8) {
    const auto is_zero = [&](u32 at) __attribute__((always_inline)) {
      return _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words + at)), _mm_setzero_si128());
    };
    const __m128i eight = _mm_packs_epi32(is_zero(i), is_zero(i + 4));
    absent |= static_cast<u32>(_mm_movemask_epi8(_mm_packs_epi16(eight, _mm_setzero_si128()))) << i;
  }
  return ~absent & (~0u >> (32 - n));
#else
  u32 present = 0;
  for (u32 i = 0; i < n; ++i) present |= u32{words[i] != 0} << i;
  return present;
#endif
}

/// Whether any of some words is not 0.
FLITLAB_INLINE bool any_present(const Word* words, u32 n) {
  u32 i = 0;
  bool any = false;
#if defined(__SSE2__)
  __m128i four = _mm_setzero_si128();
  for (; i + 4 <= n; i += 4) four = _mm_or_si128(four, _mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i)));
  any = _mm_movemask_epi8(_mm_cmpeq_epi32(four, _mm_setzero_si128())) != 0xFFFF;
#endif
  for (; i < n; ++i) any |= words[i] != 0;
  return any;
}

}  // namespace flitlab::metro::lanes
