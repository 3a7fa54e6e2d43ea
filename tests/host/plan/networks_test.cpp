/// Networks that experiments describe: channels between chips, terminals, and patterns that depend on groups.
#include <gtest/gtest.h>

#include <set>

#include "host/topology/patterns.hpp"
#include "tests/support/build.hpp"

namespace flitlab::plan_networks_test {
namespace {

using namespace testing;

/// Returns the routers at the ends of the channels that have a delay of their own.
std::set<std::pair<u32, u32>> slow_channels(const Topology& t) {
  std::set<std::pair<u32, u32>> ends;
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.network_ports; ++p)
      if (t.peer(r, p).item != kNone && t.channel(r, p).delay) {
        EXPECT_EQ(t.channel(r, p).delay, 7);
        EXPECT_EQ(t.channel(r, p).cycles, 4 * t.channel(r, p).flits);
        ends.insert({r, t.peer(r, p).item});
      }
  return ends;
}

using Ends = std::set<std::pair<u32, u32>>;

TEST(Chiplets, HaveSlowChannelsBetweenChips) {
  const auto network = [](const char* kind) {
    return make_topology(experiment("topology.kind=", kind,
                                    " topology.shape=[4,2] topology.chip_shape=[2,2] topology.chip_delay=7 "
                                    "topology.chip_width=0.25"));
  };
  // Rows 0 1 | 2 3 and 4 5 | 6 7.
  EXPECT_EQ(slow_channels(network("chiplet_mesh")), (Ends{{1, 2}, {2, 1}, {5, 6}, {6, 5}}));
  // A ring of two routers has two channel pairs; the one that closes the ring leads out of the chip.
  EXPECT_EQ(slow_channels(network("chiplet_torus")), (Ends{{0, 3},
                                                           {0, 4},
                                                           {1, 2},
                                                           {1, 5},
                                                           {2, 1},
                                                           {2, 6},
                                                           {3, 0},
                                                           {3, 7},
                                                           {4, 0},
                                                           {4, 7},
                                                           {5, 1},
                                                           {5, 6},
                                                           {6, 2},
                                                           {6, 5},
                                                           {7, 3},
                                                           {7, 4}}));
}

/// Two chips of one router each: every packet crosses the channel between them once.
TEST(Chiplets, HaveTheLatencyOfTheirChannels) {
  const RawConfig config = Settings(
      "topology.kind=chiplet_mesh topology.shape=[2] topology.chip_shape=[1] topology.chip_delay=7 "
      "topology.chip_width=1 traffic.pattern=neighbour traffic.packet_flits=1");
  RawConfig slow = config, fast = config;
  fast["topology.chip_delay"] = integer(1);
  EXPECT_EQ(derived(experiment(slow), "zero_load_latency_cycles"),
            derived(experiment(fast), "zero_load_latency_cycles") + 6);
}

TEST(NextPartners, AreTheNextRoutersOrGroups) {
  const Topology t = make_topology(
      experiment("topology.kind=dragonfly topology.groups=3 topology.group_routers=2 topology.concentration=2"));
  EXPECT_EQ(t.terminals, 12u);
  const auto routers = next_partners("next_router", t), groups = next_partners("next_group", t);
  EXPECT_EQ(routers[0], (std::vector<u32>{2, 3}));
  EXPECT_EQ(routers[11], (std::vector<u32>{0, 1}));
  EXPECT_EQ(groups[0], (std::vector<u32>{4, 5, 6, 7}));
  EXPECT_EQ(groups[7], (std::vector<u32>{8, 9, 10, 11}));
  EXPECT_EQ(groups[8], (std::vector<u32>{0, 1, 2, 3}));
}

/// In a Megafly only leaf routers have terminals, and routers with terminals are numbered first.
TEST(Terminals, AreAtTheFirstRouters) {
  const Topology t = make_topology(experiment("topology.kind=megafly topology.concentration=3"));
  EXPECT_EQ(t.routers, 72u);
  EXPECT_EQ(t.terminals, 108u);
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 c = 0; c < 3; ++c) EXPECT_EQ(t.peer(r, t.network_ports + c).item, r < 36 ? 3 * r + c : kNone);
}

}  // namespace
}  // namespace flitlab::plan_networks_test
