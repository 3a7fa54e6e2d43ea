/// Hand-derived clock counts of the T3E's router (paper, Table 2).
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_timing_test {
namespace {

using namespace testing;

/// Returns a trace with one packet for each pair, `gap` cycles apart, so that no two packets meet.
std::string one_by_one(const std::vector<std::pair<u32, u32>>& pairs, u32 gap, u32 flits) {
  std::string text;
  u32 cycle = 0;
  for (const auto& [from, to] : pairs) {
    text += std::to_string(cycle) + "," + std::to_string(from) + "," + std::to_string(to) + "," +
            std::to_string(flits) + "\n";
    cycle += gap;
  }
  return text;
}

/// Returns the clocks of a head flit: 10 at the source, 3 at each router that it goes straight through, 6 where it
/// turns, and 10 at the destination. To be independent of the code under test, it finds distances by counting steps and
/// turns by counting dimensions.
u32 by_hand(const std::vector<u32>& shape, u32 from, u32 to) {
  u32 hops = 0, dims = 0;
  for (u32 d = 0; d < 3; ++d) {
    const u32 a = from % shape[d], b = to % shape[d];
    from /= shape[d];
    to /= shape[d];
    if (a == b) continue;
    ++dims;
    u32 plus = 0, minus = 0;
    for (u32 x = a; x != b; x = (x + 1) % shape[d]) ++plus;
    for (u32 x = a; x != b; x = (x + shape[d] - 1) % shape[d]) ++minus;
    hops += std::min(plus, minus);
  }
  return 10 + 3 * (hops - dims) + 6 * (dims - 1) + 10;
}

class T3eTiming : public ::testing::TestWithParam<std::tuple<IntList, bool, int>> {};

TEST_P(T3eTiming, EveryPairTakesTheSumOfItsParts) {
  const auto [extents, adaptive, flits] = GetParam();
  const std::vector<u32> shape(extents.begin(), extents.end());
  const u32 nodes = shape[0] * shape[1] * shape[2], gap = 90;
  const bool large = nodes > 500;  // large machines: a third of one node's destinations, a ninth of the others'
  std::vector<std::pair<u32, u32>> pairs;
  for (u32 from : {0u, 1u, nodes / 2 + 1, nodes - 1})
    for (u32 to = 0; to < nodes; ++to)
      if (from != to && !(large && to % (from ? 9 : 3))) pairs.emplace_back(from, to);
  const TextFile trace(one_by_one(pairs, gap, static_cast<u32>(flits)));
  Network net(experiment("router.kind=t3e topology.shape=", extents, " routing.adaptive=", adaptive,
                         " traffic.mode=trace traffic.trace_file=", trace.path));
  u64 before = 0, delivered = 0;
  for (const auto& [from, to] : pairs) {
    net.step(gap);
    const u64 sum = net.total(Total::kLatencySum);
    ASSERT_EQ(net.total(Total::kPacketsDelivered), ++delivered);
    ASSERT_EQ(sum - before, by_hand(shape, from, to) + static_cast<u32>(flits) - 1) << from << " to " << to;
    before = sum;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, T3eTiming,
                         ::testing::Combine(::testing::Values(IntList{2, 4, 2}, IntList{4, 4, 4}, IntList{8, 4, 3}),
                                            ::testing::Bool(), ::testing::Values(1, 10)));
INSTANTIATE_TEST_SUITE_P(Large, T3eTiming,
                         ::testing::Values(std::tuple(IntList{8, 12, 9}, false, 1),
                                           std::tuple(IntList{4, 8, 9}, true, 10)));

}  // namespace
}  // namespace flitlab::t3e_timing_test
