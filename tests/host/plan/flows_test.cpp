/// Means over the packets of an experiment, compared with means over packets drawn one by one and over routes followed
/// one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/plan/hops.hpp"
#include "host/plan/plan.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/routing/tables.hpp"
#include "host/topology/metrics.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::plan_flows_test {
namespace {

using namespace testing;

/// Any quantity of a pair that differs between pairs and between the two directions.
const ValueOf kPair([](u32 source, u32 destination) {
  return std::fmod(source * 7.3 + destination * destination, 11.0);
});

/// Returns the mean of kPair over drawn packets: `each` packets from every terminal that sends.
double drawn(const TerminalPlan& traffic, u32 each) {
  const TrafficTable& t = traffic.table;
  ReplicaRow row{};
  row.seed = 5;
  double sum = 0;
  u64 packets = 0;
  for (u32 s = 0; s < t.terminals; ++s) {
    if (never_sends(t, s)) continue;
    for (u32 i = 0; i < each; ++i) sum += kPair.of(s, packet_destination(t, row, s, i));
    packets += each;
  }
  return sum / static_cast<double>(packets);
}

/// Tests every pattern, with and without the sender among the destinations, several hot terminals, and groups.
TEST(Flows, WeighDestinationsAsTerminalsDrawThem) {
  std::string lines;
  for (u32 s = 0; s < 16; ++s)
    for (u32 d = 0; d < 16; ++d)
      if (s != d) lines += std::to_string(s) + "," + std::to_string(d) + "," + std::to_string((s * d) % 5) + "\n";
  const testing::TextFile matrix(lines);
  const TerminalPlan::Groups halves{{0, 1, 2, 5, 9, 13, 14}, {3, 4, 6, 7, 8}, {10}};
  for (const char* pattern :
       {"uniform", "bit_complement", "bit_reverse", "shuffle", "transpose", "tornado", "neighbour", "hot_spot",
        "hot_region", "random_permutation", "matrix", "all_to_all", "all_to_region", "fft", "divide"})
    for (bool self : {true, false})
      for (bool grouped : {true, false}) {
        const std::string name = pattern;
        if (grouped && name != "uniform" && name != "hot_spot" && name != "all_to_all") continue;
        RawConfig c = Settings("traffic.pattern=", pattern, " traffic.self=", self);
        if (name == "matrix") c["traffic.matrix_file"] = matrix.path;
        if (name == "hot_spot") {
          set(c, "traffic.hot_terminals=[3,5,14] traffic.hot_fraction=0.7");
        }
        const Experiment e = experiment(c);
        const Topology topology = make_topology(e);
        const TerminalPlan traffic(e, topology, grouped ? halves : TerminalPlan::Groups{});
        EXPECT_NEAR(traffic.mean_over(kPair), drawn(traffic, 2520 * 8), 0.02) << name << self << grouped;
      }
}

/// Weights of packets in every mode: terminals of a batch are weighted by their number of packets, and replies have the
/// weight of their requests. A trace has no mean.
TEST(Flows, CountPacketsOfEveryMode) {
  const TerminalPlan::Groups groups{{0, 1, 2}, {3, 4}};
  const ValueOf source([](u32 s, u32) { return s; });
  const auto mean = [&](const RawConfig& c, const TerminalPlan::Groups& g) {
    const Experiment e = experiment(c);
    const Topology topology = make_topology(e);
    return TerminalPlan(e, topology, g).mean_over(source);
  };
  // Terminals 0, 1 and 2 send two packets each, terminals 3 and 4 one each.
  EXPECT_DOUBLE_EQ(mean(Settings("traffic.mode=batch traffic.pattern=all_to_all"), groups), 13 / 8.0);
  EXPECT_DOUBLE_EQ(mean(Settings("traffic.pattern=all_to_all"), groups), 2);
  // Half of the packets are replies, which start at the hot terminal 9.
  EXPECT_NEAR(
      mean(
          Settings(
              "traffic.mode=request_reply traffic.pattern=hot_spot traffic.hot_terminals=[9] traffic.hot_fraction=1.0"),
          {}),
      (7.5 + 9) / 2, 1e-6);
  EXPECT_TRUE(std::isnan(mean(Settings("traffic.mode=trace traffic.trace_file=any.csv"), {})));
}

TEST(Flows, MeansOverLengthsAreOverPackets) {
  const auto tails = [&](const RawConfig& c) {
    const Experiment e = experiment(c);
    const Topology topology = make_topology(e);
    return TerminalPlan(e, topology).mean_over_lengths([](u32 flits) { return flits > 2 ? flits - 2.0 : 0.0; });
  };
  EXPECT_DOUBLE_EQ(tails(Settings("traffic.packet_flits=[[1,15.0],[16,1.0]]")), 14 / 16.0);
  EXPECT_DOUBLE_EQ(
      tails(Settings("traffic.mode=request_reply traffic.packet_flits=[[1,1.0]] traffic.reply_flits=[[6,1.0]]")), 2);
  // A geometric length with mean 2, limited to 32: the sum of P(L >= n) for n from 3 on.
  double longer = 0;
  for (u32 n = 3; n <= 32; ++n) longer += std::pow(0.5, n - 1);
  EXPECT_NEAR(tails(Settings("traffic.packet_length=geometric traffic.packet_flits=[[2,1.0]]")), longer, 1e-12);
}

TEST(Hops, SumsOverSetsAreThoseOfPairs) {
  const auto check = [](const Topology& t, const PairValue& hops) {
    const TerminalSet set{0, 3, 4, t.terminals - 1, 3};
    const auto sum = hops.sum_over(set);
    for (u32 s = 0; s < t.terminals; ++s) {
      double one_by_one = 0;
      for (u32 d : set) one_by_one += hops.of(s, d);
      EXPECT_NEAR(sum(s), one_by_one, 1e-9) << t.kind << s;
    }
  };
  for (const Topology& t : {make_mesh({5, 3}, 2), make_torus({6, 3, 2}, 1), make_torus({7}, 1), make_torus({1, 4}, 3),
                            make_hypercube(4, 1)}) {
    check(t, GridHops(t));
    check(t, GridHops(t, true));
    for (u32 a = 0; a < t.terminals; ++a) {  // compares with a search in the graph of channels
      const std::vector<u32> hops = hops_from(t, t.terminal_router(a));
      for (u32 b = 0; b < t.terminals; ++b) EXPECT_EQ(GridHops(t).of(a, b), hops[t.terminal_router(b)]);
    }
  }
  std::string edges;
  for (u32 r = 0; r < 7; ++r) edges += std::to_string(r) + "," + std::to_string((r + 1) % 7) + "\n";
  const testing::TextFile file(edges + "0,3\n");
  const Topology graph = make_graph(TextSource(file.path), 2);
  const RouteTable routes = shortest_path_table(graph, 8);
  const TableHops hops(graph, [&](u32 r, u32 to) { return u32{routes.port[r * graph.routers + to]}; });
  check(graph, hops);
  EXPECT_EQ(hops.of(0, 7), 1);  // over the chord from router 0 to 3
}

}  // namespace
}  // namespace flitlab::plan_flows_test
