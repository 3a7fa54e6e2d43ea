#pragma once
/// What there is to do in the channels of many TICs in a cycle, by one port: a byte for each TIC, eight to a word, so
/// that eight channels are looked at without a branch in the time of one.
#include <cstring>
#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

#include "kernels/common/members.hpp"
#include "kernels/routers/sconnect/channel.hpp"

namespace flitlab::sconnect {

/// A byte for each TIC of a batch.
template <u32 kTics>
struct BytesOf {
  alignas(8) u8 of[kTics];  ///< [TIC]

  FLITLAB_INLINE u64 eight(u32 from) const {
    u64 word;
    std::memcpy(&word, of + from, sizeof word);
    return word;
  }
  FLITLAB_INLINE void set_eight(u32 from, u64 word) { std::memcpy(of + from, &word, sizeof word); }
};

inline constexpr u64 kEachByte = 0x0101010101010101;

/// The lowest bits of eight bytes, whose others are 0, as a byte.
FLITLAB_INLINE u64 lowest_bits(u64 bytes) { return bytes * 0x0102040810204080ull >> 56; }

/// One bit of each TIC's byte.
template <u32 kTics>
FLITLAB_INLINE u64 set_of(const BytesOf<kTics>& bytes, u32 bit) {
  u64 set = 0;
#if defined(__SSE2__) && !defined(__CUDACC__)
  static_assert(kTics % 16 == 0);
  for (u32 i = 0; i < kTics; i += 16) {
    __m128i sixteen;
    std::memcpy(&sixteen, bytes.of + i, sizeof sixteen);
    const __m128i highest = _mm_sll_epi16(sixteen, _mm_cvtsi32_si128(static_cast<int>(7 - bit)));
    set |= u64{static_cast<u32>(_mm_movemask_epi8(highest))} << i;
  }
#else
  for (u32 i = 0; i < kTics; i += 8) set |= lowest_bits(bytes.eight(i) >> bit & kEachByte) << i;
#endif
  return set;
}

/// Channels of which a plain thing is to be done, as sets of TICs; several may be, in this order. `odd`: something
/// else.
struct Work {
  u64 taken, failed;  ///< what the slot holds has been, or comes back
  u64 due;            ///< an answer is
  u64 comes;          ///< a message does
  u64 odd;
};

template <u32 kTics>
struct Looks {
  using Bytes = BytesOf<kTics>;
  Bytes heard, reply;  ///< Port
  Bytes buffer, bits;  ///< Slot of this cycle
  Bytes came;          ///< protocol bits
  Bytes busy;          ///< 1: the port is in the middle of something, or no channel

  /// What there is to do at those of the first n TICs that have a channel there. From now on a plain port has heard
  /// what has come, and owes an answer to that.
  FLITLAB_INLINE Work work(u32 n, u64 channels) {
    static_assert(kNoBuffer == 0xFF);
    constexpr u64 k1 = kEachByte;
    const auto bit = [](u64 bytes, u32 mask) { return bytes / mask; };  // to the place of the lowest
    Work all{};
    for (u32 i = 0; i < n; i += 8) {
      const u64 h = heard.eight(i), r = reply.eight(i), b = bits.eight(i), c = came.eight(i);
      const u64 holds = bytes_present(~buffer.eight(i)) >> 7, readable = bit(h, kOccupied) & ~bit(h, kHit);
      const u64 taken = bit(h, kAnswer) ^ bit(b, kSending);
      const u64 odd = (busy.eight(i) | bit(c, kHit) | bit(c, kQuad) | bit(c, kAbort) | bit(b, kHoldsQuad) |
                       bit(b, kTooEarly) | (holds & ~readable)) &
                      k1;
      const u64 plain = odd ^ k1, kept = odd * 0xFF;
      all.taken |= lowest_bits(holds & taken & plain) << i;
      all.failed |= lowest_bits(holds & ~taken & plain) << i;
      all.due |= lowest_bits(bit(r, kOccupied) & plain) << i;
      all.comes |= lowest_bits(bit(c, kPresent) & plain) << i;
      all.odd |= lowest_bits(odd) << i;
      heard.set_eight(i, (h & kept) | (c & ~kept));
      reply.set_eight(i, (r & kept) | ((bit(c, kPresent) | bit(c, kLast)) & plain) * kOccupied);
    }
    return {all.taken & channels, all.failed & channels, all.due & channels, all.comes & channels, all.odd & channels};
  }
};

}  // namespace flitlab::sconnect
