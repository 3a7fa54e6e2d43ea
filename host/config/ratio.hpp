#pragma once
/// Parameters that are numbers for the user and ratios of integers in the model.
#include <cmath>
#include <optional>

#include "kernels/common/types.hpp"

namespace flitlab {

/// A positive number as a ratio of integers.
struct Ratio {
  u32 numerator, denominator;
};

/// Returns the ratio with the smallest denominator, up to 64, that is within 1e-4 of `x`; nothing if there is none.
inline std::optional<Ratio> ratio_of(double x) {
  constexpr u32 kMost = 64;
  constexpr double kError = 1e-4;
  for (u32 denominator = 1; denominator <= kMost; ++denominator) {
    const double numerator = std::round(x * denominator);
    if (numerator >= 1 && std::fabs(x - numerator / denominator) <= kError)
      return Ratio{static_cast<u32>(numerator), denominator};
  }
  return {};
}

}  // namespace flitlab
