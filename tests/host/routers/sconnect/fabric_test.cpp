#include "host/routers/sconnect/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "host/routers/sconnect/build.hpp"
#include "host/routers/sconnect/metrics.hpp"
#include "host/routers/sconnect/order.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/sconnect/fabrics.hpp"

namespace flitlab::sconnect_fabric_test {
namespace {

using sconnect::kPorts;
using sconnect::kSerial;
using sconnect::Link;
using sconnect::LinkKind;
using namespace testing;

/// Returns the far end of a port, such as "5a.2" (node 5, TIC a, port 2).
std::string far_end(const SconnectFabric& f, u32 tic, u32 port) {
  const Link& l = f.link(tic, port);
  if (l.kind == LinkKind::kNone) return "";
  if (l.kind == LinkKind::kHost) return "host " + std::to_string(l.far);
  return f.names[l.far] + "." + std::to_string(l.port);
}

u32 tic_named(const SconnectFabric& f, const std::string& name) {
  return static_cast<u32>(std::find(f.names.begin(), f.names.end(), name) - f.names.begin());
}

TEST(SconnectFabric, IsWiredBothWaysAndComplete) {
  for (const auto& [name, f] : testing::all_sconnect_fabrics()) {
    SCOPED_TRACE(name);
    ASSERT_EQ(f.links.size(), std::size_t{f.tics} * kPorts);
    ASSERT_EQ(f.node_of.size(), f.tics);
    EXPECT_EQ(std::set<std::string>(f.names.begin(), f.names.end()).size(), f.tics);
    EXPECT_EQ(f.terminals, f.nodes * f.host_ports);
    u32 terminals = 0;
    std::set<u32> nodes;
    for (u32 tic = 0; tic < f.tics; ++tic) {
      if (f.node_of[tic] != kNone) nodes.insert(f.node_of[tic]);
      for (u32 port = 0; port < kPorts; ++port) {
        const Link& l = f.link(tic, port);
        if (l.kind == LinkKind::kNone) continue;
        EXPECT_EQ(l.kind == LinkKind::kSerial, port < kSerial);
        if (l.kind == LinkKind::kHost) {
          EXPECT_EQ(l.far, terminals++);  // terminals are numbered node by node
          EXPECT_EQ(l.far / f.host_ports, f.node_of[tic]);
          continue;
        }
        ASSERT_LT(l.far, f.tics);
        EXPECT_NE(l.far, tic);
        const Link& back = f.link(l.far, l.port);
        EXPECT_EQ(back.far, tic);
        EXPECT_EQ(back.port, port);
        EXPECT_EQ(back.kind, l.kind);
        EXPECT_EQ(back.delay, l.delay);  // all TICs have equal phases
        EXPECT_EQ(l.round, l.delay + back.delay + 2);
        if (l.kind == LinkKind::kParallel) {
          EXPECT_EQ(l.delay, 1);
          EXPECT_EQ(f.node_of[l.far], f.node_of[tic]);
        } else {
          EXPECT_GE(l.delay, 1);
        }
      }
    }
    EXPECT_EQ(terminals, f.terminals);
    EXPECT_EQ(nodes.size(), f.nodes);
    for (u32 hops : sconnect_hops(f, {0})) EXPECT_NE(hops, kNone);
  }
}

TEST(SconnectFabric, MeshOfSingleNodes) {
  const SconnectFabric f = make_sconnect_mesh({3, 2}, single_nodes(2));
  // The mesh has the rows 3 4 5 and 0 1 2.
  EXPECT_EQ(f.tics, 6u);
  EXPECT_EQ(far_end(f, 1, 0), "2.1");
  EXPECT_EQ(far_end(f, 1, 1), "0.0");
  EXPECT_EQ(far_end(f, 1, 2), "4.2");  // a dimension of two nodes has one channel
  EXPECT_EQ(far_end(f, 1, 3), "");
  EXPECT_EQ(far_end(f, 0, 1), "");
  EXPECT_EQ(far_end(f, 4, 4), "host 8");
  EXPECT_EQ(far_end(f, 4, 5), "host 9");
  EXPECT_EQ(f.link(1, 0).delay, 2);
  EXPECT_EQ(f.shape, (std::vector<u32>{3, 2}));
}

TEST(SconnectFabric, MeshOfDualNodesHasTwoDimensionsOnEachTic) {
  const SconnectFabric f = make_sconnect_mesh({3, 3, 3, 3}, dual_nodes());
  const u32 a = tic_named(f, "40a"), b = tic_named(f, "40b");  // the node in the middle
  EXPECT_EQ(f.tics, 162u);
  EXPECT_EQ(far_end(f, a, 0), "41a.1");
  EXPECT_EQ(far_end(f, a, 1), "39a.0");
  EXPECT_EQ(far_end(f, a, 2), "43a.3");
  EXPECT_EQ(far_end(f, a, 3), "37a.2");
  EXPECT_EQ(far_end(f, b, 0), "49b.1");
  EXPECT_EQ(far_end(f, b, 1), "31b.0");
  EXPECT_EQ(far_end(f, b, 2), "67b.3");
  EXPECT_EQ(far_end(f, b, 3), "13b.2");
  EXPECT_EQ(far_end(f, a, 4), "host 40");
  EXPECT_EQ(far_end(f, a, 5), "40b.5");
  EXPECT_EQ(far_end(f, b, 4), "");
  const SconnectFabric g = make_sconnect_mesh({3, 3}, dual_nodes(2));
  EXPECT_EQ(far_end(g, 9, 4), "host 9");  // 4b is the second TIC of node 4
}

TEST(SconnectFabric, MeshesOfManyShortDimensionsFindRoom) {
  const SconnectFabric f = make_sconnect_mesh({2, 2, 2, 2}, single_nodes());
  EXPECT_EQ(far_end(f, 0, 3), "8.3");
  const SconnectFabric g = make_sconnect_mesh({3, 2, 3, 2, 2, 1}, dual_nodes());
  EXPECT_EQ(far_end(g, 0, 0), "1a.1");   // dimension 0: ports 0 and 1 of the first TIC
  EXPECT_EQ(far_end(g, 0, 2), "3a.2");   // dimension 1: port 2
  EXPECT_EQ(far_end(g, 1, 0), "6b.1");   // dimension 2 does not fit on the first TIC
  EXPECT_EQ(far_end(g, 0, 3), "18a.3");  // dimension 3 fits on the first TIC
  EXPECT_EQ(far_end(g, 1, 2), "36b.2");
}

TEST(SconnectFabric, HypercubeDimensionsTakeAPortEach) {
  const SconnectFabric f = make_sconnect_hypercube(7, dual_nodes());
  for (u32 n = 0; n < 128; ++n)
    for (u32 d = 0; d < 7; ++d)
      EXPECT_EQ(far_end(f, 2 * n + d / 4, d % 4),
                std::to_string(n ^ 1u << d) + (d < 4 ? "a." : "b.") + std::to_string(d % 4));
}

TEST(SconnectFabric, SwitchesAreRingsOfTics) {
  const SconnectFabric f = sconnect_graph(testing::kSwitchedGraph);
  EXPECT_EQ(far_end(f, tic_named(f, "huba"), 5), "hubb.4");
  EXPECT_EQ(far_end(f, tic_named(f, "hubb"), 5), "hubc.4");
  EXPECT_EQ(far_end(f, tic_named(f, "hubc"), 5), "huba.4");
  EXPECT_EQ(far_end(f, tic_named(f, "edgea"), 5), "edgeb.4");
  EXPECT_EQ(far_end(f, tic_named(f, "edgea"), 4), "edgeb.5");
  // The channels of a switch are spread over its TICs.
  EXPECT_EQ(far_end(f, tic_named(f, "huba"), 0), "edgea.0");
  EXPECT_EQ(far_end(f, tic_named(f, "hubb"), 0), "edgeb.0");
  EXPECT_EQ(far_end(f, tic_named(f, "hubc"), 0), "a.0");
  EXPECT_EQ(far_end(f, tic_named(f, "huba"), 1), "ba.0");
  EXPECT_EQ(far_end(f, tic_named(f, "bb"), 0), "edgea.1");
  EXPECT_EQ(f.link(tic_named(f, "huba"), 0).delay, 4);
  EXPECT_EQ(f.link(tic_named(f, "hubb"), 0).delay, 2);
  EXPECT_EQ(f.link(tic_named(f, "a"), 1).delay, 1);
  EXPECT_EQ(f.nodes, 4u);
  EXPECT_EQ(f.node_of[tic_named(f, "huba")], kNone);
  EXPECT_EQ(f.node_of[tic_named(f, "d")], 3u);
}

TEST(SconnectFabric, TreesHaveSwitchesWithRoom) {
  const SconnectFabric small = make_sconnect_tree(7, 3, true, single_nodes());
  EXPECT_EQ(small.nodes, 49u);
  EXPECT_EQ(small.tics, 8u * 2 + 49);
  const SconnectFabric large = make_sconnect_tree(11, 3, true, single_nodes());
  EXPECT_EQ(large.tics, 12u * 3 + 121);
  EXPECT_EQ(large.names[0], "s0a");
  const SconnectFabric nodes = make_sconnect_tree(3, 4, false, single_nodes());
  EXPECT_EQ(nodes.nodes, 40u);
}

TEST(SconnectMetrics, KnownDistances) {
  const auto of = [](const SconnectFabric& f) { return sconnect_metrics(f); };
  EXPECT_EQ(of(make_sconnect_mesh({4, 4}, single_nodes())).diameter, 6u);
  const SconnectMetrics mesh = of(make_sconnect_mesh({8, 8}, single_nodes()));
  EXPECT_EQ(mesh.diameter, 14u);
  EXPECT_NEAR(mesh.mean_channels, 2 * 63.0 / 24 * 64 / 63, 1e-12);  // (k - 1/k) / 3 per dimension, without self pairs
  EXPECT_NEAR(mesh.mean_hops, mesh.mean_channels, 1e-12);
  const SconnectMetrics cube = of(make_sconnect_hypercube(6, dual_nodes()));
  EXPECT_EQ(cube.diameter, 6u);
  EXPECT_NEAR(cube.mean_channels, 3 * 64.0 / 63, 1e-12);
  // A message that goes in dimension 4 or 5 crosses to the second TIC and returns.
  EXPECT_NEAR(cube.mean_hops, (3 + 2 * 0.75) * 64 / 63, 1e-12);
  EXPECT_EQ(of(make_sconnect_mesh({3, 3, 3, 3}, dual_nodes())).diameter, 8u);
  EXPECT_EQ(of(make_sconnect_tree(3, 4, false, single_nodes())).diameter, 6u);
  EXPECT_EQ(of(make_sconnect_tree(4, 3, true, single_nodes())).diameter, 4u);
  EXPECT_EQ(of(sconnect_graph(testing::kSwitchedGraph)).diameter, 3u);  // from a through hub and edge to c
}

TEST(SconnectMetrics, BisectionByFormulaAndBySearchAgree) {
  for (const SconnectFabric& f :
       {make_sconnect_mesh({4, 4}, single_nodes()), make_sconnect_mesh({8, 3}, single_nodes()),
        make_sconnect_mesh({5, 5}, single_nodes()), make_sconnect_mesh({4, 4, 4}, dual_nodes()),
        make_sconnect_hypercube(4, single_nodes()), make_sconnect_hypercube(6, dual_nodes())}) {
    const SconnectMetrics m = sconnect_metrics(f);
    EXPECT_TRUE(m.bisection_exact);
    EXPECT_EQ(m.bisection, searched_bisection(f)) << f.kind << " " << f.nodes;
  }
  EXPECT_EQ(sconnect_metrics(make_sconnect_mesh({8, 8}, single_nodes())).bisection, 8u);
  EXPECT_EQ(sconnect_metrics(make_sconnect_mesh({5, 5}, single_nodes())).bisection, 6u);
  // Bisections: two channels of a ring, one between two halves that it joins, three between a hub and half of its six
  // nodes.
  EXPECT_EQ(sconnect_metrics(make_sconnect_random(30, 2, 1, single_nodes())).bisection, 2u);
  EXPECT_EQ(sconnect_metrics(sconnect_graph("0,1\n1,2\n2,0\n3,4\n4,5\n5,3\n0,3\n")).bisection, 1u);
  EXPECT_EQ(sconnect_metrics(make_sconnect_tree(6, 2, true, single_nodes())).bisection, 3u);
  const SconnectMetrics random = sconnect_metrics(make_sconnect_random(128, 4, 1, single_nodes()));
  EXPECT_FALSE(random.bisection_exact);
  EXPECT_LE(random.bisection, 128u / 3 + 4);  // large graphs: at most a third of the nodes (Diaz, Serna, Wormald 2007)
  EXPECT_GE(random.bisection, 128u / 6);
}

TEST(SconnectRandom, GraphsAreSimpleRegularAndConnected) {
  for (u32 nodes = 3; nodes <= 24; ++nodes)
    for (u32 degree = 2; degree <= 8 && degree < nodes; ++degree) {
      if (nodes * degree % 2) continue;
      for (u64 seed = 0; seed < 3; ++seed) {
        const auto edges = make_random_regular(nodes, degree, seed);
        std::vector<std::set<u32>> next(nodes);
        for (const auto& [a, b] : edges) {
          EXPECT_LT(a, b);
          EXPECT_TRUE(next[a].insert(b).second);
          EXPECT_TRUE(next[b].insert(a).second);
        }
        for (const auto& n : next) EXPECT_EQ(n.size(), degree);
        std::set<u32> seen{0};
        for (bool more = true; more;) {
          more = false;
          for (u32 n = 0; n < nodes; ++n)
            if (seen.contains(n))
              for (u32 o : next[n]) more = seen.insert(o).second || more;
        }
        EXPECT_EQ(seen.size(), nodes);
      }
    }
}

TEST(SconnectRandom, GraphsDependOnTheSeedAlone) {
  EXPECT_EQ(make_random_regular(64, 4, 7), make_random_regular(64, 4, 7));
  std::set<std::vector<std::pair<u32, u32>>> all;
  for (u64 seed = 0; seed < 20; ++seed) all.insert(make_random_regular(64, 4, seed));
  EXPECT_EQ(all.size(), 20u);
}

TEST(SconnectRandom, EveryGraphIsAsLikely) {
  // There are 12 rings of 5 nodes.
  std::map<std::vector<std::pair<u32, u32>>, u32> count;
  constexpr u32 kDraws = 2400;
  for (u64 seed = 0; seed < kDraws; ++seed) ++count[make_random_regular(5, 2, seed)];
  EXPECT_EQ(count.size(), 12u);
  for (const auto& [edges, n] : count) EXPECT_NEAR(n, kDraws / 12, 5 * std::sqrt(kDraws / 12.0));
}

TEST(SconnectFabric, ReportsInvalidFabrics) {
  const auto mesh = [](const std::vector<u32>& shape, const SconnectNodes& nodes) {
    return message_of([&] { make_sconnect_mesh(shape, nodes); });
  };
  expect_in("topology.shape = [3, 3, 3] takes 6 channels", mesh({3, 3, 3}, single_nodes()));
  expect_in("topology.node = \"dual\" has 8", mesh({3, 3, 3}, single_nodes()));
  expect_in("takes 10 channels", mesh({3, 3, 3, 3, 3}, dual_nodes()));
  EXPECT_EQ(mesh({3, 3, 2, 1}, dual_nodes()), "");
  EXPECT_EQ(mesh({3, 2, 2, 1}, single_nodes()), "");
  expect_in("makes 1 nodes; 2 to", mesh({1}, single_nodes()));
  expect_in("makes 40000 nodes", mesh({200, 200}, single_nodes()));
  expect_in("topology.dimensions = 5", message_of([] { make_sconnect_hypercube(5, single_nodes()); }));
  const auto random = [](u32 nodes, u32 degree) {
    return message_of([&] { make_sconnect_random(nodes, degree, 1, single_nodes()); });
  };
  expect_in("topology.nodes = 7 with topology.degree = 3: their product", random(7, 3));
  expect_in("topology.degree = 4 must be less than topology.nodes = 4", random(4, 4));
  expect_in("topology.degree = 6 is more channels than a node has: a single node has 4", random(20, 6));
  const auto tree = [](u32 arity, u32 levels, bool switches) {
    return message_of([&] { make_sconnect_tree(arity, levels, switches, single_nodes()); });
  };
  expect_in("topology.arity = 4 takes 5 channels of an inner node or switch, which has 4", tree(4, 3, false));
  EXPECT_EQ(tree(4, 2, false), "");  // the root has no parent
  expect_in("makes a tree of 29524", tree(3, 10, false));
  EXPECT_EQ(tree(11, 3, true), "");
}

TEST(SconnectGraphFile, ReportsErrors) {
  const auto wrong = [](const std::string& text) { return message_of([&] { sconnect_graph(text); }); };
  expect_in(
      ":6: \"0,5\": node 0 has more channels than the 4 of its TICs. Set topology.node = \"dual\", with which nodes "
      "have 8, "
      "or remove",
      wrong("#\n0,1\n0,2\n0,3\n0,4\n0,5\n"));
  expect_in("the graph is disconnected: no path leads from 0 to 2", wrong("0,1\n2,3\n"));
  expect_in("from 0 to 1", wrong("0,2\n"));
  expect_in(":2: \"1,1\": 1 is joined to itself", wrong("0,1\n1,1\n"));
  expect_in("a node = \"x\" must be a whole number", wrong("0,x\n"));
  expect_in("a line is a,b (two node numbers), or node,NAME", wrong("0,1,2\n"));
  expect_in("fewer than two nodes", wrong("# nothing\n"));
  expect_in("fewer than two nodes", wrong("switch,s\nnode,a\nchannel,s,a\n"));
  expect_in("named nodes", wrong("0,1\nnode,a\n"));
  expect_in("named nodes", wrong("node,a\n0,1\n"));
  expect_in("there is no node or switch \"c\"", wrong("node,a\nnode,b\nchannel,a,c\n"));
  expect_in("the name \"a\" is used twice", wrong("node,a\nnode,a\n"));
  expect_in("two TICs would have the name xa", wrong("node,xa\nnode,x,2\n"));
  expect_in("TICs = \"1\" must be a whole number from 2 to 3", wrong("switch,a,1\n"));
  expect_in("TICs = \"4\" must be a whole number from 2 to 3", wrong("switch,a,4\n"));
  expect_in("TICs = \"0\" must be a whole number from 1 to 2", wrong("node,a,0\n"));
  expect_in("clocks = \"0\" must be a whole number from 6 to 360", wrong("node,a\nnode,b\nchannel,a,b,0\n"));
  expect_in(":1: \"0,0\": 0 is joined to itself", wrong("0,0\n"));
  expect_in("a is joined to itself", wrong("node,a\nchannel,a,a\n"));
  expect_in("a channel's line is channel,A,B[,clocks]", wrong("node,a\nnode,b\nchannel,a\n"));
  expect_in(":3: \"channel,a,b,12,9\": field 5, \"9\", is one too many: the line is channel,A,B[,clocks]",
            wrong("node,a\nnode,b\nchannel,a,b,12,9\n"));
  expect_in("field 4, \"1\", is one too many: the line is node,NAME[,TICs]", wrong("node,a\nnode,b,1,1\n"));
  expect_in("is one too many: the line is switch,NAME[,TICs]", wrong("switch,b,2,1\n"));
  const std::string star = "node,h,2\nnode,a\nnode,b\n";
  expect_in("node a has more channels than the 4 of its TICs. Give it another TIC",
            wrong(star + "channel,a,b\nchannel,a,b\nchannel,a,h\nchannel,a,h\nchannel,a,h\n"));
  std::string many = "switch,h,3\n";
  for (u32 i = 0; i < 13; ++i) many += "node,n" + std::to_string(i) + "\nchannel,h,n" + std::to_string(i) + "\n";
  expect_in("switch h has more channels than the 12 of its TICs. Remove channels.", wrong(many));
  expect_in("clocks = \"5\" must be a whole number from 6 to 360", wrong("node,a\nnode,b\nchannel,a,b,5\n"));
  expect_in("the name is missing", wrong("node\n"));
}

}  // namespace
}  // namespace flitlab::sconnect_fabric_test
