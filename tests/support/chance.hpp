#pragma once
/// Counts of random choices.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab::testing {

/// Whether `count` of `n` is what throws with chance `p` each give, but for one case in a million; if p is 0 or 1,
/// exactly.
inline void expect_share(u32 count, u32 n, double p, const std::string& what) {
  EXPECT_LE(std::abs(count - n * p), 5 * std::sqrt(n * p * (1 - p))) << what << ": " << count << " of " << n;
}

}  // namespace flitlab::testing
