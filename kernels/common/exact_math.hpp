#pragma once
/// Transcendental functions that return the same bits on every compiler and device. They use only IEEE + - * / on
/// doubles, without fused multiply-add (the build passes -ffp-contract=off and --fmad=false).
#include <cstring>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Returns the natural logarithm of a normal x in (0, 1], absolute error below 1e-12. Bit-identical on CPU and GPU,
/// unlike std::log.
FLITLAB_HD inline double exact_log(double x) {
  // Scale into [2/3, 4/3) by a power of two, which is exact, then sum the atanh series of (m-1)/(m+1): |z| <= 1/5. The
  // exponent is read from the bits, because the end of a scaling loop could not be predicted.
  constexpr u64 kMantissa = (u64{1} << 52) - 1, kOne = u64{1023} << 52, kFourThirds = 0x3FF5555555555555ull;
  u64 bits;
  std::memcpy(&bits, &x, sizeof x);
  const u64 fraction = (bits & kMantissa) | kOne;  // in [1, 2)
  const u64 halved = fraction >= kFourThirds;
  const int exponent = static_cast<int>(bits >> 52) - 1023 + static_cast<int>(halved);
  const u64 scaled = fraction - (halved << 52);
  std::memcpy(&x, &scaled, sizeof x);
  const double z = (x - 1.0) / (x + 1.0);
  const double z2 = z * z;
  double sum = 1.0 / 17.0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * z2 + 1.0 / static_cast<double>(k);
  return 2.0 * z * sum + static_cast<double>(exponent) * 0.693147180559945309417;
}

/// Returns the number of Bernoulli trials up to and including the first success (>= 1), from one uniform draw in (0,
/// 1]. `inverse_log_miss` is 1 / ln(1 - p), where p is the probability of success, or 0 for p = 1. The result is at
/// most 2^31 - 1, beyond the last cycle of any run.
FLITLAB_HD inline u32 geometric_trials(double uniform, double inverse_log_miss) {
  const double trials = exact_log(uniform) * inverse_log_miss;
  return trials < 2147483646.0 ? static_cast<u32>(trials) + 1u : 0x7FFFFFFFu;
}

}  // namespace flitlab
