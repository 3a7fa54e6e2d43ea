/// Wiring of networks, derived by hand and compared with searches. Also tests that flitlab rejects wrong input.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/config/cross_checks.hpp"
#include "host/topology/metrics.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/temporary.hpp"
#include "tests/support/topology.hpp"

namespace flitlab::topology_topology_test {
namespace {

using namespace testing;

TEST(Mesh, IsWiredAsDrawn) {
  const Topology t = make_mesh({3, 2}, 1);
  // The mesh has the rows 3 4 5 and 0 1 2.
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

TEST(Grids, HaveTheirNames) {
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
       {make_mesh({3, 1, 5}, 2), make_torus({8, 8}, 1), make_hypercube(5, 1), make_graph(TextSource(ring.path), 1)})
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

TEST(Graph, RefusesWhatIsNoNetwork) {
  const auto refused = [](const std::string& text, const std::string& part) {
    const TextFile file(text);
    try {
      make_graph(TextSource(file.path), 1);
      FAIL() << text;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("0,1\n2,2\n", ":2: router 2 is joined to itself");
  refused("0,1\n2,3\n", "router 2 cannot be reached");
  refused("0,2\n", "router 1 has no edge");
  refused("0;1\n", ":1: \"0;1\" is not");
  refused("0\n", "two router numbers");
  refused("0,1,1,1,1\n", "a,b,delay,width");
  refused("0,1,4097\n", "delay = 4097.0: a delay is an integer from 1 to 4096 cycles");
  refused("0,1,1.5\n", "delay = 1.5");
  refused("0,1,1,2\n", "width = 2.0: a width is at most 1 flit/cycle");
  refused("0,1,1,0.3141\n", "a ratio of integers up to 64");
  refused("# nothing\n", "no edges");
}

TEST(Sizes, TooLargeAreRefusedWithoutOverflow) {
  for (const std::vector<u32>& shape :
       {std::vector<u32>{65535, 65535, 65535}, std::vector<u32>(10, 65535), std::vector<u32>{4096, 4097}})
    EXPECT_THROW(count_terminals(shape, 1), ConfigError);
  EXPECT_EQ(count_terminals({4096, 256}, 16), 1u << 24);
}

}  // namespace
}  // namespace flitlab::topology_topology_test
