#pragma once
/// Branch-free classification of the work that ports have in a cycle: a byte for each port, eight in a machine word, so
/// that eight channels are examined in the time of one. A CPU examines one port of many TICs, a GPU's thread the ports
/// of one TIC.
#include <cstring>
#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

#include "kernels/common/lists.hpp"
#include "kernels/routers/sconnect/channel.hpp"

namespace flitlab::sconnect {

/// A byte for each TIC that is processed in bulk.
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

/// Returns the lowest bits of eight bytes as a byte; the other bits must be 0.
FLITLAB_INLINE u64 lowest_bits(u64 bytes) { return bytes * 0x0102040810204080ull >> 56; }

/// Returns the set of TICs whose byte has bit number `bit` set.
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

/// Sets of TICs by the work of their channel, in the order of processing; a TIC may be in several sets. TICs in `odd`
/// need the functions of a single TIC.
struct Work {
  u64 taken, failed;  ///< the slot's message has been accepted, or has failed
  u64 due;            ///< an acknowledgment is due
  u64 comes;          ///< a message arrives
  u64 odd;            ///< anything else
};

/// State of eight ports: of one port of eight TICs, or of the ports of one TIC. Byte k of each word belongs to the
/// k-th.
struct EightPorts {
  u64 heard, reply;  ///< members of Port
  u64 buffer, bits;  ///< members of this cycle's Slot
  u64 arriving;      ///< protocol bits that arrive
  u64 busy;          ///< 1: the port has a quad or damaged message in progress, or no channel

  /// Returns the work of the ports, as sets of them. Also updates `heard` and `reply` from the slots that arrive,
  /// except for the ports in `odd`.
  FLITLAB_INLINE Work work() {
    static_assert(kNoBuffer == 0xFF);
    constexpr u64 k1 = kEachByte;
    const u64 h = heard, r = reply, b = bits, c = arriving;
    const u64 holds = bytes_present(~buffer) >> 7, readable = bit(h, kOccupied) & ~bit(h, kHit);
    const u64 taken = bit(h, kAcknowledge) ^ bit(b, kSending);
    const u64 odd = (busy | bit(c, kHit) | bit(c, kQuad) | bit(c, kAbort) | bit(b, kHoldsQuad) | bit(b, kTooEarly) |
                     (holds & ~readable)) &
                    k1;
    const u64 plain = odd ^ k1, kept = odd * 0xFF;
    heard = (h & kept) | (c & ~kept);
    reply = (r & kept) | ((bit(c, kPresent) | bit(c, kLast)) & plain) * kOccupied;
    return {lowest_bits(holds & taken & plain), lowest_bits(holds & ~taken & plain),
            lowest_bits(bit(r, kOccupied) & plain), lowest_bits(bit(c, kPresent) & plain), lowest_bits(odd)};
  }

  /// Returns the set of ports whose slots expect the sequence bit that arrives: a message there is new (is_new()).
  FLITLAB_INLINE u64 expected() const {
    return lowest_bits(~(bit(arriving, kSequence) ^ bit(bits, kExpected)) & kEachByte);
  }

 private:
  /// Moves the bit of a mask to bit 0 of each byte.
  FLITLAB_INLINE static u64 bit(u64 bytes, u32 mask) { return bytes / mask; }
};

/// State of one port of each TIC, gathered byte by byte.
template <u32 kTics>
struct PortBytesOf {
  using Bytes = BytesOf<kTics>;
  Bytes heard, reply;  ///< members of Port
  Bytes buffer, bits;  ///< members of this cycle's Slot
  Bytes arriving;      ///< protocol bits that arrive
  Bytes busy;          ///< see EightPorts

  /// Returns the work of the first n TICs. `channels`: the TICs that have a channel at this port. Also updates `heard`
  /// and `reply` as EightPorts::work() does.
  FLITLAB_INLINE Work work(u32 n, u64 channels) {
    Work all{};
    for (u32 i = 0; i < n; i += 8) {
      EightPorts ports{heard.eight(i), reply.eight(i),    buffer.eight(i),
                       bits.eight(i),  arriving.eight(i), busy.eight(i)};
      const Work work = ports.work();
      all.taken |= work.taken << i;
      all.failed |= work.failed << i;
      all.due |= work.due << i;
      all.comes |= work.comes << i;
      all.odd |= work.odd << i;
      heard.set_eight(i, ports.heard);
      reply.set_eight(i, ports.reply);
    }
    return {all.taken & channels, all.failed & channels, all.due & channels, all.comes & channels, all.odd & channels};
  }
};

}  // namespace flitlab::sconnect
