/// Rates at which the software of Blue Gene/L's nodes takes packets out of FIFOs and puts them into FIFOs. Times are
/// derived by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/bgl/bgl.hpp"

namespace flitlab::bgl_software_test {
namespace {

using namespace testing;

/// Software takes packets of high priority first.
TEST(BglSoftware, TakesHighPriorityFirst) {
  BglTorus torus(
      {3, 3, 3},
      {{0, 12, 13, 2}, {0, 14, 13, 2}, {0, 10, 13, 2}, {100, 16, 13, 2, bgl::kHighPriority}, {100, 4, 13, 2}},
      Settings("reception.take_interval=100"));
  torus.drain();
  EXPECT_EQ(torus.delivered(3), 189u);  // complete since 188; taken 100 cycles after the first one, in 89 + 100
  EXPECT_LT(torus.delivered(3), torus.delivered(4));
}

/// Nodes start at random cycles within `software.start_spread`.
TEST(BglSoftware, BeginsWithinASpread) {
  std::vector<BglLine> lines;
  for (u32 node = 0; node < 27; ++node) lines.push_back({0, node, (node + 1) % 27, 1});
  for (u32 node = 0; node < 27; ++node) lines.push_back({5000, node, (node + 1) % 27, 1});
  BglTorus torus({3, 3, 3}, lines, Settings("software.start_spread=1000"));
  torus.drain();
  std::vector<u32> begins;
  for (u32 node = 0; node < 27; ++node) {
    begins.push_back(torus.leaves(node, node) - 3);
    EXPECT_EQ(torus.leaves(27 + node, node), 5003u);
  }
  std::sort(begins.begin(), begins.end());
  EXPECT_LT(begins.back(), 1000u);
  EXPECT_GT(begins.back() - begins.front(), 700u);
}

}  // namespace
}  // namespace flitlab::bgl_software_test
