/// Computed routing tables: a walk through any kind of fabric finds no faults in them, paths are short, and tables of
/// small fabrics equal hand-derived ones.
#include "host/routers/sconnect/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/routers/sconnect/grid.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/walker.hpp"

namespace flitlab::sconnect_tables_test {
namespace {

using sconnect::option;
using namespace testing;
using testing::sconnect_walker::expect_good;

TEST(SconnectTables, OfALineByHand) {
  const SconnectFabric f = make_sconnect_mesh({3}, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  // No path reverses direction, so a message may use both virtual channels.
  const u32 up = option(0, 0) | option(0, 1), down = option(1, 0) | option(1, 1);
  EXPECT_EQ(t.entry[0 * 3 + 0], option(4, 0));
  EXPECT_EQ(t.entry[0 * 3 + 1], up);
  EXPECT_EQ(t.entry[0 * 3 + 2], up);
  EXPECT_EQ(t.entry[1 * 3 + 2], up);
  EXPECT_EQ(t.entry[1 * 3 + 0], down);
  EXPECT_EQ(t.entry[2 * 3 + 0], down);
  EXPECT_DOUBLE_EQ(t.mean_hops, 4.0 / 3);
  EXPECT_DOUBLE_EQ(t.stretch, 1);
  EXPECT_FALSE(t.tree);
  // Mean number of options of the entries on a path, in the line of TICs 0-1-2. From 0 to 2 there are 2 options at TIC
  // 0; at TIC 1 there are 2 for a message on VC 0, and 1 for a message on VC 1. From 2 to 0 it is the same. From 0 to 1
  // and from 2 to 1 there are 2 options.
  EXPECT_DOUBLE_EQ(t.alternates, (2 * (2 + 2 + 1) + 2 + 2) / 8.0);
}

TEST(SconnectTables, AreGoodForAllKinds) {
  for (const auto& [name, f] : testing::all_sconnect_fabrics()) {
    SCOPED_TRACE(name);
    const SconnectTables shortest = shortest_sconnect_tables(f), tree = tree_sconnect_tables(f);
    expect_good(f, shortest);
    expect_good(f, tree);
    EXPECT_FALSE(shortest.tree);
    EXPECT_TRUE(tree.tree);
    EXPECT_GE(shortest.stretch, 1);
    EXPECT_LE(shortest.stretch, tree.stretch);
  }
}

TEST(SconnectTables, KeepAllShortestPathsOfGridsCubesAndTrees) {
  for (const SconnectFabric& f :
       {make_sconnect_mesh({4, 4}, single_nodes()), make_sconnect_mesh({8, 8}, single_nodes()),
        make_sconnect_mesh({3, 3, 3, 3}, dual_nodes()), make_sconnect_hypercube(4, single_nodes()),
        make_sconnect_hypercube(6, dual_nodes()), make_sconnect_hypercube(8, dual_nodes()),
        make_sconnect_tree(3, 4, false, single_nodes()), make_sconnect_tree(9, 3, true, single_nodes())}) {
    SCOPED_TRACE(f.kind + " of " + std::to_string(f.nodes));
    const SconnectTables t = shortest_sconnect_tables(f);
    EXPECT_EQ(t.stretch, 1);  // exactly
    EXPECT_EQ(sconnect_table_fault(f, t.entry), "");
  }
}

TEST(SconnectTables, TreePathsAreNoLongerThanThroughTheRoot) {
  for (const SconnectFabric& f :
       {make_sconnect_random(40, 4, 2, single_nodes()), make_sconnect_random(30, 5, 2, dual_nodes(2))}) {
    const SconnectTables t = tree_sconnect_tables(f);
    const std::vector<u32> depth = sconnect_hops(f, {sconnect_centre(f)});
    const auto hosts = sconnect_hosts(f);
    for (u32 d = 0; d < f.nodes; ++d) {
      u32 nearest = kNone;
      for (u32 tic : hosts[d]) nearest = std::min(nearest, depth[tic]);
      for (u32 s = 0; s < f.nodes; ++s)
        for (u32 at : hosts[s]) {
          const u32 most = depth[at] + nearest;
          u32 hops = 0;
          for (; f.node_of[at] != d; ++hops)
            at = f.link(at, static_cast<u32>(__builtin_ctz(t.entry[at * f.nodes + d])) / 2).far;
          EXPECT_LE(hops, most);
        }
    }
  }
}

TEST(SconnectTables, GridsOfTwoDimensionsOfferAllShortestPaths) {
  const SconnectFabric f = make_sconnect_mesh({4, 4}, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  // Ports 0 and 1 lead up and down in the first dimension, ports 2 and 3 in the second one.
  EXPECT_EQ(t.entry[0 * 16 + 15], option(0, 1) | option(2, 0) | option(2, 1));
  EXPECT_EQ(t.entry[15 * 16 + 0], option(1, 0) | option(3, 0));
  EXPECT_EQ(t.entry[12 * 16 + 3], option(0, 1) | option(3, 0) | option(3, 1));
  EXPECT_EQ(t.entry[3 * 16 + 12], option(1, 0) | option(2, 0));
  EXPECT_EQ(t.entry[3 * 16 + 15], option(2, 0) | option(2, 1));
  for (u32 s = 0; s < 16; ++s)
    for (u32 d = 0; d < 16; ++d) {
      const u32 set = t.entry[s * 16 + d];
      if (s == d) continue;
      EXPECT_EQ((set & 0x3) != 0, d % 4 > s % 4);
      EXPECT_EQ((set & 0xC) != 0, d % 4 < s % 4);
      EXPECT_EQ((set & 0x30) != 0, d / 4 > s / 4);
      EXPECT_EQ((set & 0xC0) != 0, d / 4 < s / 4);
    }
}

TEST(SconnectTables, DualNodesCrossOnce) {
  // Channels of dimensions 0 and 1 are on TIC 2n, channels of dimensions 2 and 3 on TIC 2n + 1.
  SconnectFabric f = make_sconnect_mesh({3, 3, 3, 3}, dual_nodes(2));
  f.parallel_vcs = 2;
  const SconnectTables t = shortest_sconnect_tables(f);
  const auto entry = [&](u32 tic, u32 d) { return u32{t.entry[tic * f.nodes + d]}; };
  const u32 far = 80;  // node at (2, 2, 2, 2); node 0 is at (0, 0, 0, 0)
  EXPECT_EQ(entry(0, far), option(0, 0) | option(2, 0));
  EXPECT_EQ(entry(1, far), option(0, 0) | option(2, 0) | option(0, 1) | option(2, 1));
  EXPECT_EQ(entry(0, 72) & 0xFF, 0u);  // node at (0, 0, 2, 2)
  EXPECT_EQ(entry(0, 72) & (option(4, 1) | option(5, 1)), 0u);
  EXPECT_EQ(entry(1, 8) & 0xFF, 0u);  // node at (2, 2, 0, 0)
  EXPECT_EQ(entry(1, 8) & (option(4, 0) | option(5, 0)), 0u);
}

/// If the parallel port has no virtual channels, the first TIC cannot distinguish a message that has returned from one
/// that starts there. So messages use VC 0 before they cross to the other TIC, and VC 1 if they do not cross.
TEST(SconnectTables, DualNodesCrossOnceWithOneQueue) {
  const SconnectFabric f = make_sconnect_mesh({3, 3, 3, 3}, dual_nodes(2));
  const SconnectTables t = shortest_sconnect_tables(f);
  const auto entry = [&](u32 tic, u32 d) { return u32{t.entry[tic * f.nodes + d]}; };
  EXPECT_EQ(entry(0, 80), option(0, 0) | option(2, 0));
  EXPECT_EQ(entry(0, 8), option(0, 1) | option(2, 1));  // node at (2, 2, 0, 0)
  EXPECT_EQ(entry(0, 72), option(5, 0));                // node at (0, 0, 2, 2)
  EXPECT_EQ(entry(1, 8), option(5, 0));
}

/// An entry is a mask of channel options or names a parallel port. With mixed entries it may contain both.
TEST(SconnectTables, EntriesMixPortsIfTheyMay) {
  SconnectFabric f = make_sconnect_random(20, 7, 5, dual_nodes());
  const auto mixed = [&] {
    const SconnectTables t = shortest_sconnect_tables(f);
    expect_good(f, t);
    return std::count_if(t.entry.begin(), t.entry.end(), [](u16 e) { return sconnect::is_mixed(e); });
  };
  EXPECT_EQ(mixed(), 0);
  f.mixed_entries = true;
  EXPECT_GT(mixed(), 0);
  f.parallel_vcs = 2;
  EXPECT_GT(mixed(), 0);
  f.mixed_entries = false;
  EXPECT_EQ(mixed(), 0);
}

TEST(SconnectTables, ByCoordinatesAreGoodForAllShapes) {
  for (u32 hosts : {1u, 2u})
    for (const SconnectFabric& f :
         {make_sconnect_mesh({2}, single_nodes()), make_sconnect_mesh({5, 7}, single_nodes()),
          make_sconnect_mesh({4, 2, 2}, single_nodes()), make_sconnect_mesh({2, 2, 2, 2}, single_nodes()),
          make_sconnect_mesh({6, 1, 3}, single_nodes()), make_sconnect_mesh({3, 4}, dual_nodes(hosts)),
          make_sconnect_mesh({3, 4, 3}, dual_nodes(hosts)), make_sconnect_mesh({4, 3, 4, 3}, dual_nodes(hosts)),
          make_sconnect_mesh({2, 3, 2, 3, 2, 2}, dual_nodes(hosts)), make_sconnect_hypercube(7, dual_nodes(hosts))}) {
      SCOPED_TRACE(f.kind + " of " + std::to_string(f.nodes) + ", " + std::to_string(hosts) + " hosts");
      const SconnectTables t = given_sconnect_tables(f, sconnect_tables_by_coordinates(f));
      expect_good(f, t);
      EXPECT_EQ(t.stretch, 1);  // exactly
    }
}

TEST(SconnectTables, RandomGraphsGetGoodOnesThatDependOnTheGraphAlone) {
  for (u64 seed = 0; seed < 20; ++seed) {
    const u32 nodes = 8 + 3 * static_cast<u32>(seed);
    const bool dual = seed % 3 == 1;
    const SconnectFabric f =
        make_sconnect_random(nodes, dual ? 6 : 4, seed, dual ? dual_nodes(1 + seed % 2) : single_nodes());
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SconnectTables t = shortest_sconnect_tables(f);
    expect_good(f, t);
    if (nodes < 40) {
      EXPECT_EQ(t.entry, shortest_sconnect_tables(f).entry);
    }
    EXPECT_FALSE(t.tree);
    EXPECT_LT(t.stretch, 1.06);
  }
}

TEST(SconnectTables, OfLargeRandomGraphsKeepNearlyAllShortestPaths) {
  const SconnectFabric f = make_sconnect_random(256, 4, 1, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  expect_good(f, t);
  EXPECT_GT(t.kept, 0.98);
  EXPECT_LT(t.stretch, 1.005);
  // The tables remove options that load the busiest channel. With all options the load would be 1.53 times the mean,
  // and entries would have 1.31 options.
  EXPECT_LT(t.busiest, 1.25);
  EXPECT_GT(t.alternates, 1.1);
}

TEST(SconnectTables, StretchIsThatOfThePaths) {
  const SconnectFabric f = make_sconnect_random(40, 4, 2, single_nodes());
  const SconnectTables t = tree_sconnect_tables(f);
  // Every entry has one option, so there is one path per pair.
  u64 hops = 0, direct = 0;
  for (u32 d = 0; d < f.nodes; ++d)
    for (u32 s = 0; s < f.nodes; ++s) {
      u32 at = s;
      for (; at != d; ++hops) {
        const u16 entry = t.entry[at * f.nodes + d];
        ASSERT_EQ(entry & (entry - 1), 0);
        at = f.link(at, static_cast<u32>(__builtin_ctz(entry)) / 2).far;
      }
      direct += sconnect_hops(f, {d})[s];
    }
  EXPECT_DOUBLE_EQ(t.mean_hops, static_cast<double>(hops) / (40 * 39));
  EXPECT_DOUBLE_EQ(t.stretch, static_cast<double>(hops) / static_cast<double>(direct));
  EXPECT_DOUBLE_EQ(t.alternates, 1);
}

TEST(SconnectTables, TreeTurnsAtTheLowestCommonAncestor) {
  const SconnectFabric f = make_sconnect_tree(3, 3, false, single_nodes());
  const SconnectTables t = tree_sconnect_tables(f);
  EXPECT_EQ(t.stretch, 1);
  // From leaf 4 to its sibling 5: up to node 1 on virtual channel 0, then down on virtual channel 1.
  EXPECT_EQ(t.entry[4 * 13 + 5], option(0, 0));
  EXPECT_EQ(t.entry[1 * 13 + 5], option(2, 1));
  EXPECT_EQ(t.entry[1 * 13 + 7], option(0, 0));
}

}  // namespace
}  // namespace flitlab::sconnect_tables_test
