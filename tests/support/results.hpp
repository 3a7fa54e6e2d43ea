#pragma once
/// Comparison of the results of two jobs, without the parts that depend on the machine they ran on.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "host/run/checkpoint.hpp"
#include "host/run/result.hpp"

namespace flitlab::testing {

/// Returns all bytes of a result except the bytes that depend on the machine. NaN equals itself.
inline std::string bytes_of(Result result) {
  result.backend = result.device = "";
  result.threads = 1;
  result.wall_seconds = result.router_cycles_per_second = 0;
  std::ostringstream text;
  Saver saver(text);
  visit_result(saver, result);
  return text.str();
}

inline void expect_the_same(const std::vector<Result>& a, const std::vector<Result>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].state_hash, b[i].state_hash) << i;
    EXPECT_EQ(a[i].cycles, b[i].cycles) << i;
    EXPECT_EQ(a[i].packets.created, b[i].packets.created) << i;
    EXPECT_EQ(a[i].accepted, b[i].accepted) << i;
    EXPECT_TRUE(bytes_of(a[i]) == bytes_of(b[i])) << i;
  }
}

}  // namespace flitlab::testing
