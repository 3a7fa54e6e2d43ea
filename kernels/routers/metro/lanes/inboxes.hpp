#pragma once
/// Inboxes of a whole network in one array. All words of a cycle are contiguous, so items with arriving words are found
/// quickly, and the far end of a port is one index.
#include <vector>

#include "kernels/routers/metro/wire.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace flitlab::metro::lanes {

/// Routers, or endpoints, in a block: the items that each step processes together. The processor mispredicts loop
/// exits, and larger blocks have fewer of them per item.
inline constexpr u32 kBlock = 128;
static_assert(kBlock <= 256);  // a position in a block fits in a byte

/// Layout of an inbox slot, which holds the words that arrive in one cycle. First come the words for forward ports,
/// `[router][forward port]`. The words for backward ports, `[router][backward port]`, start at index `backward`, and
/// the words for endpoints, `[endpoint][link][slice]`, at index `endpoints`.
struct InboxLayout {
  u32 backward, endpoints, slot_words;

  template <class T>
  explicit InboxLayout(const T& t)
      : backward(t.routers * t.inputs),
        endpoints(backward + t.routers * t.outputs),
        slot_words((endpoints + t.terminals * 2 * t.links * t.slices + 15) / 16 * 16) {}
};

/// The far end of a wire.
struct FarEnd {
  u32 position = kNone;  ///< index in a slot; kNone: not wired
  u32 delay = 0;         ///< cycles from the sending of a word to its arrival
};

/// The far ends of all wires.
struct Wiring {
  std::vector<FarEnd> port;  ///< `port[router][port]`: forward ports, then backward ports
  std::vector<FarEnd> link;  ///< `link[endpoint][link][slice]`: leaving links, then entering links

  template <class T>
  explicit Wiring(const T& t) {
    const InboxLayout layout(t);
    const auto far_end = [&](const Wire& wire, u32 slice, u32 delay) {
      const u32 router = wire.item * t.slices + slice;
      u32 position = router * t.inputs + wire.port;
      if (wire.item == kNone)
        position = kNone;
      else if (wire.to_endpoint)
        position = layout.endpoints + (wire.item * 2 * t.links + wire.port) * t.slices + slice;
      else if (wire.port >= t.inputs)
        position = layout.backward + router * t.outputs + wire.port - t.inputs;
      return FarEnd{position, delay + wire.delay};
    };
    for (u32 i = 0; i < t.routers; ++i)
      for (u32 p = 0; p < t.ports(); ++p)
        port.push_back(far_end(t.wires[i / t.slices * t.ports() + p], i % t.slices, t.stages));
    for (u32 i = 0; i < t.terminals * 2 * t.links; ++i)
      for (u32 s = 0; s < t.slices; ++s) link.push_back(far_end(t.endpoint_wires[i], s, 1));
  }
};

/// Writes words into the inboxes at the far ends of wires, like FarInbox (wire.hpp).
struct Outbox {
  const FarEnd* port;
  const FarEnd* link;
  u32 ports, link_words;  ///< number of ports of a router, and of words in a slot for all links of an endpoint
  Word* inbox;
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
    if (end.position != kNone) put_wired(end, word, now);
  }
  /// Writes a word into the inbox at the far end of a wire, which must be wired.
  FLITLAB_INLINE void put_wired(const FarEnd& end, Word word, Cycle now) const {
    inbox[std::size_t{((now + end.delay) & slot_mask) * slot_words + end.position}] = word;
  }
};

/// Returns the set of words that are not 0, of up to 32 words. The function also reads up to seven words behind them.
/// These are within the memory of the replica and do not affect the result, even if another thread writes them.
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

/// Returns whether any of n words is not 0.
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
