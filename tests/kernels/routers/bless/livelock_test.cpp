/// Freedom from livelock: in a full network every hop brings the oldest flit nearer to its destination. So it arrives
/// within a bound, and then another flit is the oldest.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/topology/metrics.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "tests/support/bless/bless.hpp"

namespace flitlab::bless_livelock_test {
namespace {

using namespace testing;

/// Key of the age order in the README: injection cycle first, then source, packet and flit.
auto age(const FlyingFlit& f) { return std::make_tuple(f.flit.injected, f.flit.src, f.flit.id, f.flit.via); }

std::vector<RawConfig> full_networks() {
  const Lengths mixed{{1, 1.0}, {4, 1.0}, {9, 1.0}};
  return {Settings("topology.shape=[6,5]"),
          Settings("topology.kind=mesh topology.shape=[6,5] traffic.packet_flits=", mixed),
          Settings("topology.kind=ring topology.shape=[9]"),
          Settings("topology.kind=mesh topology.shape=[7] traffic.packet_flits=", mixed),
          Settings("topology.shape=[3,2,4] router.delay=1 traffic.packet_flits=", mixed),
          Settings("topology.kind=mesh topology.shape=[5,5] topology.channel_delay=3 traffic.pattern=hot_spot "
                   "traffic.hot_fraction=0.8")};
}

TEST(BlessLivelock, TheOldestFlitGetsNearerWithEveryHop) {
  for (RawConfig config : full_networks()) {
    set(config, "router.kind=bless traffic.load=1.0");
    BlessNetwork net(experiment(config));
    const Topology& top = net.bless.topology();
    std::vector<std::vector<u32>> hops;
    for (u32 r = 0; r < top.routers; ++r) hops.push_back(hops_from(top, r));
    const u32 bound = (distance_metrics(top).diameter + 1) * net.t.hop_delay;
    FlyingFlit before{};
    u32 moves = 0, ejections = 0, since = 0;
    for (u32 cycle = 0; cycle < 3000; ++cycle) {
      const std::vector<FlyingFlit> flits = net.flits();
      if (flits.empty()) {
        net.step(1);
        continue;
      }
      const FlyingFlit oldest =
          *std::min_element(flits.begin(), flits.end(), [](const auto& a, const auto& b) { return age(a) < age(b); });
      if (age(oldest) != age(before)) since = cycle;
      ASSERT_LT(cycle - since, bound) << "the oldest flit is still there";
      net.step(1);
      before = oldest;
      if (oldest.arrives != cycle) continue;
      // The flit has passed a router. It must still be the oldest one, unless an even older flit was injected.
      const std::vector<FlyingFlit> after = net.flits();
      const auto same = std::find_if(after.begin(), after.end(), [&](const auto& f) { return age(f) == age(oldest); });
      const u32 destination = top.router_at(oldest.flit.dst);
      if (same == after.end()) {
        ASSERT_EQ(oldest.router, destination);
        ++ejections;
        continue;
      }
      const bool overtaken =
          std::any_of(after.begin(), after.end(), [&](const auto& f) { return age(f) < age(oldest); });
      if (overtaken) continue;
      ASSERT_NE(oldest.router, destination) << "it was not ejected";
      ASSERT_EQ(hops[same->router][destination] + 1, hops[oldest.router][destination]);
      ++moves;
    }
    EXPECT_GT(moves, 100u);
    EXPECT_GT(ejections, 100u);
    EXPECT_GT(net.counted(bless::Count::kDeflections), 1000u) << "other flits were deflected";
  }
}

/// Every flit arrives within a bound: only a limited number of older flits go before it, and each of these leaves
/// within the bound for the oldest flit.
TEST(BlessLivelock, EveryFlitArrivesWithinABound) {
  for (RawConfig config : full_networks()) {
    set(config, "router.kind=bless traffic.load=1.0");
    BlessNetwork net(experiment(config));
    const Topology& top = net.bless.topology();
    const u64 older = top.channels * net.t.hop_delay + u64{top.terminals} * 9;
    const u64 bound = (older + 1) * (distance_metrics(top).diameter + 1) * net.t.hop_delay;
    u64 longest = 0;
    for (Cycle now = 0; now < 6000; now += 50) {
      for (const FlyingFlit& f : net.flits()) longest = std::max<u64>(longest, now - f.flit.injected);
      net.step(50);
    }
    EXPECT_LT(longest, bound);
    EXPECT_LT(longest, 3000u) << "in practice it is much less";
  }
}

/// With fewer reassembly buffers than needed, the remaining flits circulate without end, as the README and a warning
/// state.
TEST(BlessLivelock, OccursWithTooFewReassemblyBuffers) {
  BlessNetwork net(
      experiment("router.kind=bless topology.kind=mesh topology.shape=[2,2] router.reassembly_packets=1 "
                 "traffic.mode=batch traffic.batch_packets=30"));
  net.step(20000);
  const u64 delivered = net.total(Total::kPacketsDelivered);
  EXPECT_LT(delivered, 4u * 30u);
  net.step(20000);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), delivered);
  EXPECT_FALSE(net.flits().empty());
  check_conservation(*net.engine, *net.plan, 0);
}

}  // namespace
}  // namespace flitlab::bless_livelock_test
