/// Several channels between the same two routers: all of them carry traffic, no cyclic wait occurs, and all engines
/// agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "host/routers/vc/plan.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"
#include "tests/support/topology.hpp"

namespace flitlab::vc_parallel_test {
namespace {

using namespace testing;

/// Returns the edges of a ring with chords, in which some channels are doubled or tripled. A router has at most 6
/// channels.
std::vector<std::pair<u32, u32>> edges(u32 seed, u32 routers) {
  std::vector<std::pair<u32, u32>> list;
  std::vector<u32> degree(routers, 0);
  const auto add = [&](u32 a, u32 b) {
    if (a == b || degree[a] > 5 || degree[b] > 5) return;
    ++degree[a];
    ++degree[b];
    list.emplace_back(a, b);
  };
  for (u32 r = 0; r < routers; ++r) add(r, (r + 1) % routers);
  for (u32 i = 0; i < 2 * routers; ++i) {
    const Random4 draw = philox(seed, 0, 0, i);
    const u32 a = below(draw.word[0], routers);
    for (u32 n = 0; n <= below(draw.word[2], 3); ++n) add(a, draw.word[1] % 2 ? (a + 1) % routers : (a + 5) % routers);
  }
  return list;
}

RawConfig of(const TextFile& graph, u32 vcs) {
  return Settings{"topology.kind=graph topology.file=", std::string(graph.path),
                  " routing.algorithm=table router.vcs=", vcs};
}

EngineChoice cpu(LaneUse lanes, u32 threads = 1, u32 width = 1, bool traced = false) {
  EngineChoice choice{"cpu", threads, traced, 1};
  choice.lanes = lanes;
  choice.width = width;
  return choice;
}

TEST(ParallelChannels, AllCarryTrafficWithoutDeadlock) {
  for (u32 seed = 0; seed < 6; ++seed) {
    const TextFile graph(graph_text(edges(seed, 18)));
    RawConfig config = of(graph, 6);
    set(config, "traffic.load=0.9 router.buffer_flits=2");
    Network net(experiment(config));
    const Topology& t = net.plan->topology();
    const auto& plan = dynamic_cast<const VcPlan&>(*net.plan);
    ASSERT_TRUE(plan.table().parallel);
    net.step(4000);
    const u32 only[] = {0};
    check_conservation(*net.engine, *net.plan, 0);
    check_deadlock(*net.engine, *net.plan, only, 1);
    const std::vector<u32> sent = plan.channel_flits(net.engine->state(0));
    std::map<std::pair<u32, u32>, std::vector<u32>> by_pair;
    u32 channel = 0;
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 p = 0; p < t.network_ports; ++p)
        if (t.peer(r, p).item != kNone) by_pair[{r, t.peer(r, p).item}].push_back(sent[channel++]);
    u32 doubled = 0;
    for (const auto& [pair, flits] : by_pair) {
      const u32 most = *std::max_element(flits.begin(), flits.end());
      const u32 least = *std::min_element(flits.begin(), flits.end());
      if (most < 200) continue;
      EXPECT_GT(least, most / 2) << "seed " << seed << ", from " << pair.first << " to " << pair.second;
      doubled += flits.size() > 1;
    }
    EXPECT_GT(doubled, 5u);
  }
}

TEST(ParallelChannels, AreTheSameOnEveryEngine) {
  u32 in_lanes = 0;
  for (u32 seed = 0; seed < 12; ++seed) {
    const TextFile graph(graph_text(edges(seed, 16 + seed)));
    RawConfig config = of(graph, 8);
    config["traffic.load"] = 0.1 + 0.05 * seed;
    if (seed % 3 == 1) {
      set(config, "router.flow_control=", seed % 2 ? "virtual_cut_through" : "store_and_forward",
          " router.buffer_flits=9");
    }
    if (seed % 3 == 2) config["traffic.mode"] = word("request_reply");
    if (seed % 4 == 3) config["router.vc_allocator"] = word("wavefront");
    const Experiment e = experiment(config);
    std::vector<std::pair<const char*, EngineChoice>> engines{{"threads", cpu(LaneUse::kNever, 2)},
                                                              {"traced", cpu(LaneUse::kNever, 1, 1, true)},
                                                              {"lanes", cpu(LaneUse::kAlways)},
                                                              {"wide", cpu(LaneUse::kNever, 1, kWide)}};
    Network single(e, cpu(LaneUse::kNever));
    in_lanes += vc::lanes::Lanes<vc::VcTable>::fits(dynamic_cast<const VcPlan&>(*single.plan).table());
    single.step(700);
    for (const auto& [name, choice] : engines) {
      Network other(e, choice);
      other.step(700);
      EXPECT_EQ(other.engine->state_hash(0), single.engine->state_hash(0)) << name << ", seed " << seed;
    }
    EXPECT_GT(single.total(Total::kPacketsDelivered), 200u);
  }
  EXPECT_GT(in_lanes, 3u);
}

}  // namespace
}  // namespace flitlab::vc_parallel_test
