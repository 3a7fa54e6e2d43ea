#pragma once
/// Transcendentals that give the same bits on every compiler and device: only IEEE + - * / on doubles, evaluated
/// without contraction (the build passes -ffp-contract=off and --fmad=false).
#include "kernels/common/types.hpp"

namespace flitlab {

/// Natural logarithm of x in (0, 1], absolute error below 1e-12. Bit-identical on CPU and GPU, unlike std::log.
FLITLAB_HD inline double exact_log(double x) {
  // Scale into [2/3, 4/3) by exact doublings, then the atanh series of (m-1)/(m+1): |z| <= 1/5.
  int exponent = 0;
  while (x < 0x1p-16) {
    x *= 0x1p16;
    exponent -= 16;
  }
  while (x < 2.0 / 3.0) {
    x *= 2.0;
    --exponent;
  }
  const double z = (x - 1.0) / (x + 1.0);
  const double z2 = z * z;
  double sum = 1.0 / 17.0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * z2 + 1.0 / static_cast<double>(k);
  return 2.0 * z * sum + static_cast<double>(exponent) * 0.693147180559945309417;
}

/// Number of Bernoulli trials up to and including the first success (>= 1), from one uniform draw in (0, 1].
/// `inverse_log_miss` is 1 / ln(1 - p), or 0 for p = 1. Capped at 2^31 - 1, which a clock never reaches.
FLITLAB_HD inline u32 geometric_trials(double uniform, double inverse_log_miss) {
  const double trials = exact_log(uniform) * inverse_log_miss;
  return trials < 2147483646.0 ? static_cast<u32>(trials) + 1u : 0x7FFFFFFFu;
}

}  // namespace flitlab
