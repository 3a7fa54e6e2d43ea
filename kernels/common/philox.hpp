#pragma once
/// Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11): a counter-based generator. A
/// draw is a pure function of (seed, stream, item, counter), so results do not depend on the order of draws.
#include "kernels/common/types.hpp"

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

namespace flitlab {

struct Random4 {
  u32 word[4];
};

/// Returns four independent 32-bit words for one (seed, stream, item, counter).
FLITLAB_HD inline Random4 philox(u64 seed, u32 stream, u32 item, u64 counter) {
#if defined(__SSE2__) && !defined(__CUDACC__)
  // The same computation with the words c0 to c3 in one vector register.
  const auto pair = [](u32 even, u32 odd) {
    return _mm_set_epi32(0, static_cast<int>(odd), 0, static_cast<int>(even));
  };
  __m128i c = _mm_set_epi64x(static_cast<long long>(u64{stream} << 32 | item), static_cast<long long>(counter));
  __m128i key = pair(static_cast<u32>(seed), static_cast<u32>(seed >> 32));
  for (int round = 0; round < 10; ++round) {
    const __m128i products = _mm_mul_epu32(c, pair(0xD2511F53u, 0xCD9E8D57u));
    c = _mm_xor_si128(_mm_shuffle_epi32(products, 0x1B), _mm_xor_si128(_mm_srli_epi64(c, 32), key));
    key = _mm_add_epi32(key, pair(0x9E3779B9u, 0xBB67AE85u));
  }
  Random4 random;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(random.word), c);
  return random;
#else
  u32 c0 = static_cast<u32>(counter), c1 = static_cast<u32>(counter >> 32), c2 = item, c3 = stream;
  u32 k0 = static_cast<u32>(seed), k1 = static_cast<u32>(seed >> 32);
  FLITLAB_UNROLLED for (int round = 0; round < 10; ++round) {
    const u64 p0 = u64{0xD2511F53u} * c0;
    const u64 p1 = u64{0xCD9E8D57u} * c2;
    const u32 n0 = static_cast<u32>(p1 >> 32) ^ c1 ^ k0;
    const u32 n2 = static_cast<u32>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<u32>(p1);
    c3 = static_cast<u32>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return Random4{{c0, c1, c2, c3}};
#endif
}

/// Returns a uniform integer in [0, n), n >= 1. The bias of the multiply-shift is below n / 2^32.
FLITLAB_HD inline u32 below(u32 random, u32 n) { return static_cast<u32>((u64{random} * n) >> 32); }

/// Returns a uniform double in (0, 1], exact on every platform.
FLITLAB_HD inline double unit_interval(u32 random) { return (static_cast<double>(random) + 1.0) * 0x1p-32; }

}  // namespace flitlab
