/// The adaptive router: order of messages, derived numbers, and rejected parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "host/routers/adaptive/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/adaptive/pool.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::adaptive_router_test {
namespace {

using namespace testing;

Packet packet(u32 priority, Cycle injected, u32 src, u32 id) {
  Packet p{};
  p.message_class = static_cast<u8>(priority);
  p.injected = injected;
  p.src = src;
  p.id = id;
  return p;
}

/// Figure 4, step 2.1: each rule decides only between messages that all earlier rules rank equally.
TEST(AdaptiveOrder, GoesByPriorityThenAgeThenOptionsThenSource) {
  using adaptive::preferred;
  EXPECT_TRUE(preferred(packet(1, 90, 9, 9), 0b111, packet(0, 10, 1, 1), 0b001));
  EXPECT_TRUE(preferred(packet(1, 10, 9, 9), 0b111, packet(1, 11, 1, 1), 0b001));
  EXPECT_TRUE(preferred(packet(1, 10, 9, 9), 0b001, packet(1, 10, 1, 1), 0b011));
  EXPECT_TRUE(preferred(packet(1, 10, 1, 9), 0b100, packet(1, 10, 2, 1), 0b001));
  EXPECT_TRUE(preferred(packet(1, 10, 1, 1), 0b100, packet(1, 10, 1, 2), 0b001));
  EXPECT_TRUE(preferred(packet(0, 0xFFFFFFF0u, 9, 9), 0b111, packet(0, 5, 1, 1), 0b001)) << "after wrap-around";
  EXPECT_FALSE(preferred(packet(1, 10, 1, 1), 1, packet(1, 10, 1, 1), 1));
}

/// Rule a in a network: all channels are full, yet messages of the highest priority are not delayed.
TEST(AdaptiveOrder, OfPriorityDecidesBelowAFullLoad) {
  Network net(
      experiment("router.kind=adaptive topology.concentration=4 router.ejection=0 router.priorities=[90,0,0,10] "
                 "traffic.load=1.0"));
  net.step(3000);
  const CounterShard totals = net.engine->counters(0);
  const auto delivered = [&](u32 priority) { return total_of(totals, adaptive::Count::kDelivered, priority); };
  EXPECT_GT(delivered(3), 1000u);
  EXPECT_EQ(delivered(1), 0u);
  EXPECT_EQ(delivered(0) + delivered(3), net.total(Total::kPacketsDelivered));
}

TEST(AdaptiveDerived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{Settings("topology.channel_delay=3"),
                                        Settings("topology.kind=hypercube topology.dimensions=5"),
                                        Settings("topology.kind=mesh topology.concentration=2"),
                                        Settings("traffic.pattern=tornado"), Settings("traffic.self=false")};
  for (RawConfig config : settings) {
    set(config, "router.kind=adaptive traffic.load=0.002 run.measure_cycles=60000 run.warmup_cycles=1000");
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"),
                0.01 * r.latency_cycles.mean + 1.5 * r.latency_cycles.ci95);
    EXPECT_EQ(derived(e, "zero_load_latency_units"), 10 * derived(e, "zero_load_latency_cycles"));
  }
}

TEST(AdaptiveDerived, LoadIsBoundedByChannelsAndByTerminals) {
  const auto bound = [](RawConfig c) {
    c.merge(Settings("router.kind=adaptive topology.kind=hypercube"));
    return derived(experiment(c), "saturation_load_bound");
  };
  // In a hypercube the mean number of hops of a message is half the number of a router's channels.
  EXPECT_DOUBLE_EQ(bound(Settings("topology.concentration=4 router.ejection=0")), 0.5);
  EXPECT_DOUBLE_EQ(bound(Settings("topology.concentration=4 router.ejection=1")), 0.25);
  EXPECT_DOUBLE_EQ(bound({}), 1.0);
}

TEST(AdaptiveChecks, BadInputIsRejected) {
  const TextFile trace("0,0,1,1\n"), loop("0,1\n");
  expect_rejected(Settings("router.kind=adaptive traffic.packet_flits=[[4,1.0]]"),
                  "traffic.packet_flits makes packets of up to 4 flits");
  expect_rejected(Settings("router.kind=adaptive traffic.mode=request_reply"), "traffic.mode = \"request_reply\"");
  expect_rejected(Settings("router.kind=adaptive traffic.mode=program"), "traffic.mode = \"program\"");
  expect_rejected(
      Settings("router.kind=adaptive traffic.mode=trace traffic.trace_file=", trace.path, " router.ejection=0"),
      "router.ejection = 0");
  expect_rejected(Settings("router.kind=adaptive router.priorities=[]"), "router.priorities = []");
  expect_rejected(Settings("router.kind=adaptive router.priorities=[0,0]"), "router.priorities = [0, 0]");
  expect_rejected(Settings("router.kind=adaptive router.priorities=[1,1,1,1,1]"),
                  "router.priorities = [1, 1, 1, 1, 1]");
  expect_rejected(Settings("router.kind=adaptive router.spare_buffers=0 router.channel_buffers=0"),
                  "router.spare_buffers = 0");
  expect_rejected(Settings("router.kind=adaptive topology.kind=graph"), "topology.file");
  std::string star;
  for (int i = 1; i <= 33; ++i) star += "0," + std::to_string(i) + "\n";
  const TextFile large(star);
  expect_rejected(Settings("router.kind=adaptive topology.kind=graph topology.file=", large.path), "33 channels");
}

}  // namespace
}  // namespace flitlab::adaptive_router_test
