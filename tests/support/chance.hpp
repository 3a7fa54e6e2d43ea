#pragma once
/// A statistical check for the frequency of a random choice.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab::testing {

/// Expects that `count` is consistent with n draws of probability `p`; a correct count fails once in a million cases.
/// The check is exact if p is 0 or 1.
inline void expect_share(u32 count, u32 n, double p, const std::string& what) {
  EXPECT_LE(std::abs(count - n * p), 5 * std::sqrt(n * p * (1 - p))) << what << ": " << count << " of " << n;
}

}  // namespace flitlab::testing
