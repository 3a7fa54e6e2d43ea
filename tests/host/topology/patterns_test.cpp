/// Traffic patterns: permutations from textbooks, exchanges with several partners, and networks for which a pattern is
/// no permutation.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/vc/plan.hpp"
#include "host/topology/patterns.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::topology_patterns_test {
namespace {

using namespace testing;

TEST(Patterns, AreThoseOfTheTextbook) {
  const Topology t = make_torus({4, 4}, 1);
  EXPECT_EQ(make_permutation("bit_complement", t, 1)[5], 10u);
  EXPECT_EQ(make_permutation("bit_reverse", t, 1)[1], 8u);
  EXPECT_EQ(make_permutation("shuffle", t, 1)[9], 3u);
  EXPECT_EQ(make_permutation("transpose", t, 1)[1], 4u);  // (1,0) -> (0,1)
  EXPECT_EQ(make_permutation("tornado", t, 1)[0], 5u);    // one hop further in both dimensions
  EXPECT_EQ(make_permutation("neighbour", t, 1)[15], 0u);
  EXPECT_EQ(make_permutation("tornado", make_torus({8}, 1), 1)[6], 1u);  // three hops further
  for (const char* name :
       {"bit_complement", "bit_reverse", "shuffle", "transpose", "tornado", "neighbour", "random_permutation"}) {
    std::vector<u32> to = make_permutation(name, t, 7);
    std::sort(to.begin(), to.end());
    for (u32 i = 0; i < 16; ++i) EXPECT_EQ(to[i], i) << name;
  }
  EXPECT_NE(make_permutation("random_permutation", t, 1), make_permutation("random_permutation", t, 2));
  EXPECT_EQ(hot_region(make_torus({4, 4}, 2), {1, 2}), (std::vector<u32>{0, 1, 8, 9}));
}

/// S-Connect, 2.1: partners whose numbers differ in one bit, and the edges of a binomial tree.
TEST(Patterns, ThatExchangeHaveSeveralDestinations) {
  using Rows = std::vector<std::vector<u32>>;
  EXPECT_EQ(exchange_partners("fft", 4), (Rows{{1, 2}, {0, 3}, {3, 0}, {2, 1}}));
  EXPECT_EQ(exchange_partners("divide", 8), (Rows{{1, 2, 4}, {0}, {3, 0}, {2}, {5, 6, 0}, {4}, {7, 4}, {6}}));
  const Rows tree = exchange_partners("divide", 256), butterfly = exchange_partners("fft", 256);
  std::set<std::pair<u32, u32>> edges;
  for (u32 k = 0; k < 8; ++k)
    for (u32 i = 0; i < 256; i += 2u << k) edges.insert({i, i + (1u << k)});
  EXPECT_EQ(edges.size(), 255u);
  u32 ends = 0;
  for (u32 i = 0; i < 256; ++i) {
    EXPECT_EQ(butterfly[i].size(), 8u);
    for (u32 j : butterfly[i]) EXPECT_TRUE(std::has_single_bit(i ^ j));
    for (u32 j : tree[i]) EXPECT_EQ(edges.count({std::min(i, j), std::max(i, j)}), 1u) << i << ' ' << j;
    ends += static_cast<u32>(std::set<u32>(tree[i].begin(), tree[i].end()).size());
  }
  EXPECT_EQ(ends, 2 * edges.size());
  for (const char* name : {"fft", "divide"}) EXPECT_THROW(exchange_partners(name, 6), ConfigError);
}

/// A terminal sends to all of its partners equally often, also within a machine's partitions.
TEST(Patterns, ThatExchangeAreDrawnEvenly) {
  const Experiment whole = experiment("traffic.pattern=fft");
  const Experiment parts = experiment("router.kind=t3e topology.partitions=[8,7,16,15] traffic.pattern=divide");
  const auto vc = make_plan(whole), t3e = make_plan(parts);
  const TrafficTable& a = dynamic_cast<const VcPlan&>(*vc).table().traffic;
  const TrafficTable& b = dynamic_cast<const T3ePlan&>(*t3e).table().traffic;
  const auto counts = [](const TrafficTable& t, u32 terminal) {
    std::map<u32, u32> n;
    for (u32 i = 0; i < 6000; ++i) ++n[packet_destination(t, ReplicaRow{}, terminal, i)];
    return n;
  };
  const auto even = [](const std::map<u32, u32>& n, const std::vector<u32>& partners) {
    ASSERT_EQ(n.size(), partners.size());
    for (u32 p : partners) EXPECT_NEAR(n.at(p), 6000.0 / static_cast<double>(n.size()), 200) << p;
  };
  even(counts(a, 5), {4, 7, 1, 13});
  even(counts(b, 8), {9, 10, 12});
  even(counts(b, 14), {15, 12});
  even(counts(b, 16), {17, 18, 20, 24});
  EXPECT_TRUE(never_sends(b, 0));
  EXPECT_FALSE(never_sends(b, 9));
}

TEST(Patterns, ThatAreNoPermutationAreRefused) {
  const auto refused = [](const std::string& pattern, const Topology& t, const std::string& allowed) {
    try {
      make_permutation(pattern, t, 1);
      FAIL() << pattern;
    } catch (const ConfigError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("traffic.pattern = \"" + pattern + "\""), std::string::npos) << text;
      EXPECT_NE(text.find(std::to_string(t.terminals) + " terminals"), std::string::npos) << text;
      EXPECT_NE(text.find(allowed), std::string::npos) << text;
    }
  };
  const TextFile eight(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}));
  const TextFile six(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
  refused("transpose", make_graph(TextSource(eight.path), 1), "power of four");  // three address bits cannot be halved
  refused("transpose", make_mesh({4, 8}, 1), "power of four");
  refused("transpose", make_mesh({4, 3}, 1), "power of four");
  refused("bit_complement", make_graph(TextSource(six.path), 1), "power-of-two");
  refused("shuffle", make_hypercube(3, 3), "power-of-two");
  EXPECT_EQ(make_permutation("transpose", make_mesh({2, 8}, 1), 1)[1], 4u);
  EXPECT_EQ(make_permutation("transpose", make_mesh({3, 3}, 2), 1)[2], 6u);
  EXPECT_EQ(make_permutation("shuffle", make_graph(TextSource(eight.path), 1), 1)[4], 1u);
}

}  // namespace
}  // namespace flitlab::topology_patterns_test
