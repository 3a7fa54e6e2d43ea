/// Routing tables for any graph: paths are shortest, an independent search finds no cycle of channel dependencies, and
/// tables come from flitlab or from users.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/routing/dependency.hpp"
#include "host/routing/tables.hpp"
#include "host/topology/families.hpp"
#include "host/topology/links.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/temporary.hpp"
#include "tests/support/topology.hpp"

namespace flitlab::routing_tables_test {
namespace {

using namespace testing;

/// Independent check for a cycle: a depth-first search with colours over all channel dependencies of a layer.
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
      u32 r = s, count = 0;
      std::vector<u32> before;
      while (r != d) {
        std::vector<u32> channels;  // all channels that a packet may take at this router
        u32 next = kNone;
        for (u32 set = ports_toward(t, table, r, d); set; set &= set - 1) {
          channels.push_back(r * t.network_ports + lowest_bit(set));
          ASSERT_TRUE(next == kNone || t.peer(r, lowest_bit(set)).item == next);
          next = t.peer(r, lowest_bit(set)).item;
        }
        for (u32 p = 0; p < t.network_ports; ++p)  // includes every channel to the next router
          ASSERT_EQ(std::count(channels.begin(), channels.end(), r * t.network_ports + p), t.peer(r, p).item == next);
        for (u32 from : before)
          for (u32 to : channels) layers[table.layer[s * t.routers + d]][from].insert(to);
        before = channels;
        r = next;
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
  const Topology t = make_graph(TextSource(petersen.path), 1);
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
    const Topology g = make_graph(TextSource(file.path), 1);
    expect_good_table(g, shortest_path_table(g, 16));
  }
}

TEST(Tables, UseAllOfSeveralChannelsBetweenTwoRouters) {
  const TextFile file(graph_text({{0, 1}, {0, 1}, {1, 2}, {0, 1}}));
  const Topology t = make_graph(TextSource(file.path), 1);
  const RouteTable table = shortest_path_table(t, 4);
  EXPECT_EQ(ports_toward(t, table, 0, 1), 0b111u);
  EXPECT_EQ(ports_toward(t, table, 0, 2), 0b111u);
  EXPECT_EQ(ports_toward(t, table, 1, 0), 0b1011u);
  EXPECT_EQ(ports_toward(t, table, 1, 2), 0b0100u);
  EXPECT_TRUE(has_parallel_ports(table));
  // A ring of four routers with a second channel in each direction between two of them: the paths over either channel
  // need a second layer.
  const TextFile ring(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1}}));
  const Topology r = make_graph(TextSource(ring.path), 1);
  expect_good_table(r, shortest_path_table(r, 4));
}

/// A line of a user's table names one port. flitlab combines the lines for all parallel channels to a router into one
/// entry.
TEST(Tables, OfTheUserNameOnePortOrAllParallelOnes) {
  const TextFile file(graph_text({{0, 1}, {0, 1}, {1, 2}, {0, 1}}));
  const Topology t = make_graph(TextSource(file.path), 1);
  const std::string rest = "0,2,1\n1,2,2\n2,0,0\n2,1,0\n";
  const auto table = [&](const std::string& lines) {
    const TextFile routes(lines + rest);
    return read_table("routing.table_file", TextSource(routes.path), t, 4);
  };
  const auto message = [&](const std::string& lines) -> std::string {
    try {
      table(lines);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const RouteTable one = table("0,1,2\n1,0,0\n");
  EXPECT_EQ(ports_toward(t, one, 0, 1), 0b100u);
  EXPECT_EQ(ports_toward(t, one, 0, 2), 0b010u);
  EXPECT_FALSE(has_parallel_ports(one));
  const RouteTable all = table("0,1,0\n1,0,0\n1,0,3\n0,1,2\n1,0,1\n0,1,1\n0,1,1\n");
  EXPECT_EQ(ports_toward(t, all, 0, 1), 0b111u);
  EXPECT_EQ(ports_toward(t, all, 0, 2), 0b010u);
  EXPECT_EQ(ports_toward(t, all, 1, 0), 0b1011u);
  EXPECT_NE(message("0,1,0\n1,0,0\n1,0,3\n").find("name 2 of 3 channels"), std::string::npos);
  EXPECT_NE(message("0,1,0\n1,0,0\n1,0,2\n").find("port 2 leads to another router"), std::string::npos);
}

TEST(Tables, NeedOneLayerOnATreeAndTwoOnARing) {
  const TextFile tree(graph_text({{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(shortest_path_table(make_graph(TextSource(tree.path), 1), 4).layers, 1u);
  const TextFile ring(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}));
  EXPECT_EQ(shortest_path_table(make_graph(TextSource(ring.path), 1), 4).layers, 2u);
  try {
    shortest_path_table(make_graph(TextSource(ring.path), 1), 1);
    FAIL();
  } catch (const ConfigError& error) {
    for (const char* part : {"need 2 virtual-channel layers", "there is 1;", "would close the cycle", "->"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// The message about too few layers has the number with which the same graph is accepted.
TEST(Tables, SayHowManyLayersTheyNeed) {
  const auto message = [](const Topology& t, u32 layers) -> std::string {
    try {
      shortest_path_table(t, layers);
    } catch (const TooFewLayers& error) {
      return error.what();
    }
    return "";
  };
  for (u64 seed = 1; seed <= 3; ++seed) {
    const Topology t = make_network(jellyfish(64, 4, seed), "test");
    u32 needed = 1;
    while (!message(t, needed).empty()) ++needed;
    ASSERT_GT(needed, 1u);
    for (u32 layers = 1; layers < needed; ++layers)
      EXPECT_NE(message(t, layers).find("need " + std::to_string(needed) + " virtual-channel layers"),
                std::string::npos)
          << message(t, layers);
  }
}

TEST(Tables, OfTheUserAreChecked) {
  const TextFile ring(graph_text({{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  const Topology t = make_graph(TextSource(ring.path), 1);
  // Returns the port of router r that leads to router `next`, counted modulo 4.
  const auto port_to = [&](u32 r, u32 next) {
    for (u32 p = 0; p < t.network_ports; ++p)
      if (t.peer(r, p).item == next) return p;
    return kNone;
  };
  std::string clockwise, layered, shared;
  for (u32 r = 0; r < 4; ++r)
    for (u32 d = 0; d < 4; ++d) {
      if (r == d) continue;
      const std::string line =
          std::to_string(r) + "," + std::to_string(d) + "," + std::to_string(port_to(r, (r + 1) % 4));
      clockwise += line + "\n";
      layered += line + ",0\n";
      shared += line + ",-1\n";
    }
  const TextFile good(clockwise), bad(layered), partial("0,1,0\n");
  const RouteTable table = read_table("routing.table_file", TextSource(good.path), t, 4);  // flitlab assigns the layers
  EXPECT_EQ(table.layers, 2u);
  const auto message = [&](const std::string& path) -> std::string {
    try {
      read_table("routing.table_file", TextSource(path), t, 4);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(bad.path).find("can deadlock"), std::string::npos) << message(bad.path);
  const TextFile all(shared), some(shared + "0,1,0\n"), below(layered + "0,0,-1\n");
  EXPECT_EQ(read_table("routing.table_file", TextSource(all.path), t, 1).layers, 1u);
  EXPECT_NE(message(some.path).find("12 of 13 lines have the layer -1"), std::string::npos) << message(some.path);
  EXPECT_NE(message(below.path).find("non-negative integers, or a layer -1"), std::string::npos) << message(below.path);
  EXPECT_NE(message(bad.path).find("[0->1]"), std::string::npos);
  EXPECT_NE(message(partial.path).find("no line for router 0 and destination 2. Add one, 0,2,PORT."),
            std::string::npos);
  std::string looping = clockwise;
  looping.replace(looping.find("1,3,"), 5, "1,3," + std::to_string(port_to(1, 0)));
  const TextFile loop(looping);
  EXPECT_NE(message(loop.path).find("loop"), std::string::npos) << message(loop.path);
  // Numbers that are one too high: of a router, a destination and a port.
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
}  // namespace flitlab::routing_tables_test
