#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "host/routers/t3e/plan.hpp"
#include "host/routers/vc/plan.hpp"
#include "host/routing/dependency.hpp"
#include "host/routing/tables.hpp"
#include "host/topology/metrics.hpp"
#include "host/topology/patterns.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::topology_topology_test {
namespace {

using testing::experiment;
using testing::graph_text;
using testing::TextFile;
using testing::word;

/// Far ends are mutual, and every channel pair is counted.
void expect_consistent(const Topology& t) {
  u64 channels = 0;
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.ports; ++p) {
      const Peer& peer = t.peer(r, p);
      if (peer.item == kNone) continue;
      if (peer.is_terminal) {
        EXPECT_EQ(t.terminal_router(peer.item), r);
        EXPECT_EQ(t.terminal_port(peer.item), p);
        continue;
      }
      ++channels;
      EXPECT_EQ(t.peer(peer.item, peer.port).item, r);
      EXPECT_EQ(t.peer(peer.item, peer.port).port, p);
    }
  EXPECT_EQ(channels, t.channels);
}

TEST(Mesh, IsWiredAsDrawn) {
  const Topology t = make_mesh({3, 2}, 1);
  // 3 4 5
  // 0 1 2
  expect_consistent(t);
  EXPECT_EQ(t.channels, 14u);
  EXPECT_EQ(t.peer(1, 0).item, 2u);
  EXPECT_EQ(t.peer(1, 1).item, 0u);
  EXPECT_EQ(t.peer(1, 2).item, 4u);
  EXPECT_EQ(t.peer(1, 3).item, kNone);
  EXPECT_EQ(t.peer(5, 4).item, 5u);
  EXPECT_TRUE(t.peer(5, 4).is_terminal);
  EXPECT_EQ(t.bisection_channels, 4u);
}

TEST(Grids, AreCalledWhatTheyAre) {
  EXPECT_EQ(make_torus({4}, 1).kind, "ring");
  EXPECT_EQ(make_torus({4, 4}, 1).kind, "torus");
  EXPECT_EQ(make_mesh({4}, 1).kind, "mesh");
}

TEST(Torus, HasParallelChannelsAtRadixTwoAndNoneAtOne) {
  const Topology t = make_torus({2, 1, 3}, 2);
  expect_consistent(t);
  EXPECT_EQ(t.peer(0, 0).item, 1u);
  EXPECT_EQ(t.peer(0, 1).item, 1u);
  EXPECT_EQ(t.peer(0, 2).item, kNone);
  EXPECT_EQ(t.peer(0, 5).item, 4u);
  EXPECT_EQ(t.terminals, 12u);
}

TEST(Shapes, AreConsistentAtRandom) {
  for (u32 i = 0; i < 40; ++i) {
    const Random4 r = philox(1, 0, 0, i);
    const std::vector<u32> shape{1 + r.word[0] % 5, 1 + r.word[1] % 5, 1 + r.word[2] % 4};
    expect_consistent(make_mesh(shape, 1 + r.word[3] % 3));
    expect_consistent(make_torus(shape, 1 + r.word[3] % 3));
  }
  expect_consistent(make_hypercube(5, 2));
}

TEST(Addresses, LeadBackToTheirRouter) {
  const TextFile ring(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}));
  for (const Topology& t :
       {make_mesh({3, 1, 5}, 2), make_torus({8, 8}, 1), make_hypercube(5, 1), make_graph(ring.path, 1)})
    for (u32 r = 0; r < t.routers; ++r) EXPECT_EQ(t.router_at(t.address[r]), r) << t.kind;
}

TEST(Metrics, AgreeWithASearch) {
  for (const Topology& t : {make_mesh({4, 3, 2}, 1), make_torus({5, 4}, 1), make_torus({7}, 1), make_hypercube(4, 1)}) {
    u64 sum = 0;
    u32 most = 0;
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 hops : hops_from(t, r)) {
        sum += hops;
        most = std::max(most, hops);
      }
    const DistanceMetrics m = distance_metrics(t);
    EXPECT_EQ(m.diameter, most);
    EXPECT_DOUBLE_EQ(m.mean_hops, static_cast<double>(sum) / (t.routers * t.routers));
  }
}

TEST(Patterns, AreThoseOfTheTextbook) {
  const Topology t = make_torus({4, 4}, 1);
  EXPECT_EQ(make_permutation("bit_complement", t, 1)[5], 10u);
  EXPECT_EQ(make_permutation("bit_reverse", t, 1)[1], 8u);
  EXPECT_EQ(make_permutation("shuffle", t, 1)[9], 3u);
  EXPECT_EQ(make_permutation("transpose", t, 1)[1], 4u);  // (1,0) -> (0,1)
  EXPECT_EQ(make_permutation("tornado", t, 1)[0], 5u);    // one on in both dimensions
  EXPECT_EQ(make_permutation("neighbour", t, 1)[15], 0u);
  EXPECT_EQ(make_permutation("tornado", make_torus({8}, 1), 1)[6], 1u);  // +3
  for (const char* name :
       {"bit_complement", "bit_reverse", "shuffle", "transpose", "tornado", "neighbour", "random_permutation"}) {
    std::vector<u32> to = make_permutation(name, t, 7);
    std::sort(to.begin(), to.end());
    for (u32 i = 0; i < 16; ++i) EXPECT_EQ(to[i], i) << name;
  }
  EXPECT_NE(make_permutation("random_permutation", t, 1), make_permutation("random_permutation", t, 2));
  EXPECT_EQ(hot_region(make_torus({4, 4}, 2), {1, 2}), (std::vector<u32>{0, 1, 8, 9}));
}

/// S-Connect, 2.1: numbers that differ in one bit; the edges of a binomial tree.
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

/// Packets go to all partners equally often, in the partitions of a machine too.
TEST(Patterns, ThatExchangeAreDrawnEvenly) {
  const Experiment whole = experiment({{"traffic.pattern", word("fft")}});
  const Experiment parts = experiment({{"router.kind", word("t3e")},
                                       {"topology.partitions", IntList{8, 7, 16, 15}},
                                       {"traffic.pattern", word("divide")}});
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

TEST(Graph, RefusesWhatIsNoNetwork) {
  const auto refused = [](const std::string& text, const std::string& says) {
    const TextFile file(text);
    try {
      make_graph(file.path, 1);
      FAIL() << text;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  };
  refused("0,1\n2,2\n", ":2: router 2 is joined to itself");
  refused("0,1\n2,3\n", "router 2 cannot be reached");
  refused("0,2\n", "router 1 has no edge");
  refused("0;1\n", ":1: \"0;1\" is not");
  refused("0,1,2\n", "two router numbers");
  refused("# nothing\n", "no edges");
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
  refused("transpose", make_graph(eight.path, 1), "power of four");  // three address bits have no halves
  refused("transpose", make_mesh({4, 8}, 1), "power of four");
  refused("transpose", make_mesh({4, 3}, 1), "power of four");
  refused("bit_complement", make_graph(six.path, 1), "power-of-two");
  refused("shuffle", make_hypercube(3, 3), "power-of-two");
  EXPECT_EQ(make_permutation("transpose", make_mesh({2, 8}, 1), 1)[1], 4u);
  EXPECT_EQ(make_permutation("transpose", make_mesh({3, 3}, 2), 1)[2], 6u);
  EXPECT_EQ(make_permutation("shuffle", make_graph(eight.path, 1), 1)[4], 1u);
}

TEST(Sizes, TooLargeAreRefusedWithoutOverflow) {
  for (const std::vector<u32>& shape :
       {std::vector<u32>{65535, 65535, 65535}, std::vector<u32>(10, 65535), std::vector<u32>{4096, 4097}})
    EXPECT_THROW(count_terminals(shape, 1), ConfigError);
  EXPECT_EQ(count_terminals({4096, 256}, 16), 1u << 24);
}

/// Independent check: depth-first search with colours over all dependencies of a layer.
bool naive_has_cycle(const std::vector<std::set<u32>>& after) {
  std::vector<int> colour(after.size(), 0);
  const auto visit = [&](auto&& self, u32 c) -> bool {
    colour[c] = 1;
    for (u32 next : after[c])
      if (colour[next] == 1 || (colour[next] == 0 && self(self, next))) return true;
    colour[c] = 2;
    return false;
  };
  for (u32 c = 0; c < after.size(); ++c)
    if (colour[c] == 0 && visit(visit, c)) return true;
  return false;
}

void expect_good_table(const Topology& t, const RouteTable& table) {
  std::vector<std::vector<std::set<u32>>> layers(table.layers, std::vector<std::set<u32>>(t.routers * t.network_ports));
  for (u32 s = 0; s < t.routers; ++s) {
    const std::vector<u32> hops = hops_from(t, s);
    for (u32 d = 0; d < t.routers; ++d) {
      u32 r = s, count = 0, before = kNone;
      while (r != d) {
        const u32 port = table.port[r * t.routers + d], channel = r * t.network_ports + port;
        if (before != kNone) layers[table.layer[s * t.routers + d]][before].insert(channel);
        before = channel;
        r = t.peer(r, port).item;
        ASSERT_NE(r, kNone);
        ASSERT_LE(++count, hops[d]);
      }
      ASSERT_EQ(count, hops[d]);
    }
  }
  for (const auto& layer : layers) EXPECT_FALSE(naive_has_cycle(layer));
}

TEST(Tables, AreShortestAndFreeOfCycles) {
  const TextFile petersen(graph_text({{0, 1},
                                      {1, 2},
                                      {2, 3},
                                      {3, 4},
                                      {4, 0},
                                      {0, 5},
                                      {1, 6},
                                      {2, 7},
                                      {3, 8},
                                      {4, 9},
                                      {5, 7},
                                      {7, 9},
                                      {9, 6},
                                      {6, 8},
                                      {8, 5}}));
  const Topology t = make_graph(petersen.path, 1);
  expect_consistent(t);
  expect_good_table(t, shortest_path_table(t, 8));
  for (u32 seed = 0; seed < 10; ++seed) {
    std::vector<std::pair<u32, u32>> edges;
    for (u32 r = 1; r < 24; ++r) edges.emplace_back(r, philox(seed, 0, 0, r).word[0] % r);
    for (u32 i = 0; i < 20; ++i) {
      const Random4 w = philox(seed, 1, 0, i);
      if (w.word[0] % 24 != w.word[1] % 24) edges.emplace_back(w.word[0] % 24, w.word[1] % 24);
    }
    const TextFile file(graph_text(edges));
    const Topology g = make_graph(file.path, 1);
    expect_good_table(g, shortest_path_table(g, 16));
  }
}

TEST(Tables, NeedOneLayerOnATreeAndTwoOnARing) {
  const TextFile tree(graph_text({{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(shortest_path_table(make_graph(tree.path, 1), 4).layers, 1u);
  const TextFile ring(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}));
  EXPECT_EQ(shortest_path_table(make_graph(ring.path, 1), 4).layers, 2u);
  try {
    shortest_path_table(make_graph(ring.path, 1), 1);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("would close the cycle"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("->"), std::string::npos);
  }
}

TEST(Tables, OfTheUserAreChecked) {
  const TextFile ring(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  const Topology t = make_graph(ring.path, 1);
  // Port toward the next higher router (mod 4), by peer.
  const auto port_to = [&](u32 r, u32 next) {
    for (u32 p = 0; p < t.network_ports; ++p)
      if (t.peer(r, p).item == next) return p;
    return kNone;
  };
  std::string clockwise, layered;
  for (u32 r = 0; r < 4; ++r)
    for (u32 d = 0; d < 4; ++d) {
      if (r == d) continue;
      const std::string line =
          std::to_string(r) + "," + std::to_string(d) + "," + std::to_string(port_to(r, (r + 1) % 4));
      clockwise += line + "\n";
      layered += line + ",0\n";
    }
  const TextFile good(clockwise), bad(layered), partial("0,1,0\n");
  const RouteTable table = read_table("routing.table_file", good.path, t, 4);  // the tool finds the layers
  EXPECT_EQ(table.layers, 2u);
  const auto message = [&](const std::string& path) -> std::string {
    try {
      read_table("routing.table_file", path, t, 4);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(bad.path).find("can deadlock"), std::string::npos) << message(bad.path);
  EXPECT_NE(message(bad.path).find("[0->1]"), std::string::npos);
  EXPECT_NE(message(partial.path).find("unreachable"), std::string::npos);
  std::string looping = clockwise;
  looping.replace(looping.find("1,3,"), 5, "1,3," + std::to_string(port_to(1, 0)));
  const TextFile loop(looping);
  EXPECT_NE(message(loop.path).find("loop"), std::string::npos) << message(loop.path);
  // The first router and the first port that do not exist.
  const TextFile router("4,0,0\n"), destination("0,4,0\n"), port("0,1," + std::to_string(t.network_ports) + "\n");
  for (const std::string& path : {router.path, destination.path})
    EXPECT_NE(message(path).find("routers are numbered 0 to 3"), std::string::npos) << message(path);
  EXPECT_NE(message(port.path).find("has no channel at port"), std::string::npos) << message(port.path);
}

TEST(DependencyGraph, FindsACycleIfThereIsOne) {
  for (u32 seed = 0; seed < 200; ++seed) {
    DependencyGraph graph(12);
    std::vector<std::set<u32>> naive(12);
    for (u32 i = 0; i < 14; ++i) {
      const Random4 w = philox(seed, 2, 0, i);
      graph.add(w.word[0] % 12, w.word[1] % 12);
      naive[w.word[0] % 12].insert(w.word[1] % 12);
    }
    const std::vector<u32> cycle = graph.cycle();
    EXPECT_EQ(!cycle.empty(), naive_has_cycle(naive)) << seed;
    for (std::size_t i = 0; i + 1 < cycle.size(); ++i) EXPECT_TRUE(graph.has(cycle[i], cycle[i + 1]));
    if (!cycle.empty()) {
      EXPECT_EQ(cycle.front(), cycle.back());
    }
  }
}

}  // namespace
}  // namespace flitlab::topology_topology_test
