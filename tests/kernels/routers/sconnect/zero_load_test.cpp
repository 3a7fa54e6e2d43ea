/// Derived latencies of messages that are alone in a fabric, compared with runs over all pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "host/routers/sconnect/zero_load.hpp"
#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::sconnect_zero_load_test {
namespace {

using namespace testing;

/// Checks that the derivation (host/routers/sconnect/zero_load.hpp) agrees with a run over all pairs.
void all_pairs(RawConfig c, const std::string& name) {
  c.merge(Settings("topology.phases=random topology.channel_delay=8"));
  const Experiment e = testing::sconnect_experiment(c);
  const auto plan = make_plan(e);
  const auto& fabric = dynamic_cast<const SconnectPlan&>(*plan).fabric();
  std::string trace;
  for (u32 a = 0, at = 10; a < fabric.terminals; ++a)
    for (u32 b = 0; b < fabric.terminals; ++b, at += 50) trace += sends(at, a, b);
  SconnectNet net(c, trace);
  u64 cycles = 0, clocks = 0, hops = 0;
  for (u32 a = 0, id = 0; a < fabric.terminals; ++a)
    for (u32 b = 0; b < fabric.terminals; ++b, ++id) {
      net.deliver(id + 1);
      const auto end = net.events(EventKind::kDelivered, {a, id});
      ASSERT_EQ(end.size(), 1u) << name << ": " << a << " to " << b;
      const auto [tic, p] = net.host_port(end[0].item - fabric.tics);
      EXPECT_EQ(net.fabric().node_of[tic], net.fabric().node_of[net.host_port(b).first]);
      const u32 took = end[0].cycle - (10 + 50 * id), channels = net.events(EventKind::kArrived, {a, id}).size();
      const Journey j = journey(net.fabric(), net.plan().tables().entry, a, b);
      EXPECT_EQ(j.cycles, took) << name << ": " << a << " to " << b;
      const auto turn = [&](u32 at, u32 port) { return fabric.phase[at] + port; };
      const u32 clocks_took = 6 * took + turn(tic, p) - turn(net.host_port(a).first, net.host_port(a).second);
      EXPECT_EQ(j.clocks, clocks_took) << name << ": " << a << " to " << b;
      EXPECT_EQ(j.hops, channels) << name << ": " << a << " to " << b;
      cycles += took;
      hops += channels;
      clocks += clocks_took;
      net.discard_events();
    }
  const double n = fabric.terminals * fabric.terminals;
  const TerminalPlan uniform(e, plan->topology());
  const ZeroLoad mean = zero_load(net.fabric(), net.plan().tables().entry, uniform);
  EXPECT_DOUBLE_EQ(mean.cycles, cycles / n) << name;
  EXPECT_DOUBLE_EQ(mean.clocks, clocks / n) << name;
  EXPECT_DOUBLE_EQ(mean.hops, hops / n) << name;
  EXPECT_GT(mean.clocks_per_hop * hops, 0.5 * clocks) << name;
}

TEST(SconnectTiming, ZeroLoadOfAllPairs) {
  all_pairs(Settings("topology.shape=[4,4] topology.phases=equal"), "mesh in phase");
  all_pairs(Settings("topology.shape=[4,4]"), "mesh");
  all_pairs(Settings("topology.kind=hypercube topology.dimensions=4"), "hypercube");
  all_pairs(Settings("topology.shape=[2,2,2,2] topology.node=dual"), "dual mesh");
  all_pairs(Settings("topology.kind=random topology.nodes=16"), "random");
  all_pairs(Settings("topology.kind=tree topology.levels=2 topology.arity=9 topology.inner=switches"),
            "tree under a switch");
  all_pairs(Settings("topology.kind=tree topology.levels=3 topology.arity=3 topology.inner=switches "
                     "topology.host_ports=2 topology.channel_delay=6"),
            "tree under switches");
}

/// `flitlab inspect` prints the latency that a run has at a low load, also with quads and other traffic patterns.
TEST(SconnectTiming, TheLatencyThatInspectShows) {
  RawConfig c = Settings("topology.shape=[4,4] traffic.load=0.02");
  const auto measured_is_shown = [&] {
    testing::Network net(testing::sconnect_experiment(c));
    net.step(60000);
    const double mean =
        static_cast<double>(net.total(Total::kLatencySum)) / static_cast<double>(net.total(Total::kPacketsDelivered));
    EXPECT_NEAR(derived(sconnect_experiment(c), "zero_load_latency_cycles"), mean, 0.02 * mean);
  };
  for (const Lengths& lengths : {Lengths{{1, 1.0}}, Lengths{{4, 1.0}}, Lengths{{1, 1.0}, {4, 1.0}}}) {
    c["traffic.packet_flits"] = lengths;
    measured_is_shown();
  }
  for (const char* pattern : {"transpose", "neighbour", "divide"}) {
    c["traffic.pattern"] = word(pattern);
    measured_is_shown();
  }
}

}  // namespace
}  // namespace flitlab::sconnect_zero_load_test
