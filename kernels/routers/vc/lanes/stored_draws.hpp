#pragma once
/// Random draws for a terminal's next packets, several at a time. One draw is a chain of dependent operations, so
/// several draws in a vector take little longer than one. The results equal the draws in kernels/traffic/traffic.hpp
/// bit by bit.
#include "kernels/common/byte_lanes.hpp"
#include "kernels/traffic/traffic.hpp"

namespace flitlab::vc::lanes {

using namespace flitlab::lanes;

/// Operations on 64-bit numbers in vectors of L bytes.
template <int L>
struct Side {
  using Words = typename Types<L>::Words;
  using Signed = typename Types<L>::Signed;
  using Reals = typename Types<L>::Reals;
  static constexpr u32 lanes = L / 8;

  /// Returns the products of the lower halves of `a` with `b`.
  static FLITLAB_INLINE Words product(Words a, u32 b) {
#if defined(__AVX512F__)
    if constexpr (L == 64) return (Words)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, _mm512_set1_epi64(b));
#endif
#if defined(__AVX2__)
    if constexpr (L == 32) return (Words)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#endif
#if defined(__SSE2__)
    if constexpr (L == 16) return (Words)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x(b));
#endif
    return (a & 0xFFFFFFFFu) * b;
  }

  /// Returns the first words of philox() draws number `counter`, `counter` + 1, ... of a stream.
  static FLITLAB_INLINE Words draws(u64 seed, u32 stream, u32 item, u32 counter) {
    Words c0{}, c1{}, c2 = Words{} + item, c3 = Words{} + stream;
    for (u32 i = 0; i < lanes; ++i) c0[i] = counter + i;
    u32 k0 = static_cast<u32>(seed), k1 = static_cast<u32>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const Words p0 = product(c0, 0xD2511F53u), p1 = product(c2, 0xCD9E8D57u);
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c1 = p1;  // only the lower half is used, as in c0, c2 and c3
      c3 = p0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return c0 & 0xFFFFFFFFu;
  }

  /// Returns geometric_trials() for each of several uniform draws.
  static FLITLAB_INLINE Words trials(Words words, double inverse_log_miss) {
    constexpr u64 kMantissa = (u64{1} << 52) - 1, kOne = u64{1023} << 52, kFourThirds = 0x3FF5555555555555ull;
    const Words bits = (Words)((__builtin_convertvector(words, Reals) + 1.0) * 0x1p-32);
    const Words fraction = (bits & kMantissa) | kOne, halved = (Words)(fraction >= kFourThirds) & 1;
    const Signed exponent = (Signed)((bits >> 52) - 1023 + halved);
    const Reals x = (Reals)(fraction - (halved << 52)), z = (x - 1.0) / (x + 1.0), z2 = z * z;
    Reals sum = Reals{} + 1.0 / 17.0;
    for (int k = 15; k >= 1; k -= 2) sum = sum * z2 + 1.0 / static_cast<double>(k);
    const Reals log = 2.0 * z * sum + __builtin_convertvector(exponent, Reals) * 0.693147180559945309417;
    const Reals trials = log * inverse_log_miss;
    const Words few = (Words)(trials < 2147483646.0);
    return (few & (__builtin_convertvector(trials, Words) + 1)) | (~few & 0x7FFFFFFF);
  }
};

/// Draws for a terminal's next packets, in one cache line.
struct StoredDraws {
  static constexpr u32 kPackets = 7;
  u32 first;             ///< number of the first packet whose draws are stored
  u32 stored;            ///< number of packets, from `first` on, whose draws are stored
  u32 gap[kPackets];     ///< Bernoulli: cycles from the previous creation to this one
  u32 target[kPackets];  ///< first word of packet_draws()

  FLITLAB_INLINE bool holds(u32 packet) const { return packet - first < stored; }

  template <int L>
  [[gnu::noinline]] void draw(const ReplicaRow& row, const SourceRate& rate, u32 terminal, u32 packet) {
    constexpr u32 kLanes = Side<L>::lanes;
    first = packet;
    stored = kPackets;
    for (u32 i = 0; i < kPackets; i += kLanes) {
      const auto gaps = Side<L>::trials(Side<L>::draws(row.seed, flitlab::stream::kInjection, terminal, packet + i),
                                        rate.inverse_log_miss);
      const auto targets = Side<L>::draws(row.seed, flitlab::stream::kPacket, terminal, packet + i);
      for (u32 j = 0; j < kLanes && i + j < kPackets; ++j) {
        gap[i + j] = static_cast<u32>(gaps[j]);
        target[i + j] = static_cast<u32>(targets[j]);
      }
    }
  }
};
static_assert(sizeof(StoredDraws) == 64);

}  // namespace flitlab::vc::lanes
