/// Whole networks against a second implementation, and conservation for all topologies and loads.
#include <gtest/gtest.h>

#include <random>

#include "host/topology/patterns.hpp"
#include "kernels/routers/adaptive/params.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "tests/support/adaptive/naive.hpp"
#include "tests/support/adaptive/random.hpp"
#include "tests/support/build.hpp"
#include "tests/support/side_by_side.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::adaptive_naive_test {
namespace {

using namespace testing;

TEST(AdaptiveNaive, Agrees) {
  u64 misrouted = 0;
  for (u32 trial = 0; trial < trials(60); ++trial) {
    std::mt19937 random(trial);
    const TextFile graph(testing::random_graph(random));
    RawConfig config = testing::random_adaptive(random, graph.path);
    config["router.assignment"] = word(trial % 2 ? "greedy" : "fixed");
    const Experiment e = experiment(config);
    Network net(e);
    const auto& plan = dynamic_cast<const AdaptivePlan&>(*net.plan);
    const std::vector<u32> weights = e.ints(adaptive::param::router.priorities);
    NaiveAdaptive naive(plan.topology(), plan.table().traffic, make_row(e), e,
                        cumulative_thresholds({weights.begin(), weights.end()}));
    const auto step = [&](u32) {
      net.step(1);
      naive.step();
    };
    const auto compare = [&](Differences& d) {
      const CounterShard counters = net.engine->counters(0);
      const auto same = [&](u64 expected, TotalIndex total, u32 i = 0) {
        d.same(expected, counters.total[total.value + i], [&] { return "total " + std::to_string(total.value + i); });
      };
      same(naive.entered, Total::kPacketsInjected);
      same(naive.delivered, Total::kPacketsDelivered);
      same(naive.latency_sum, Total::kLatencySum);
      same(naive.sent, adaptive::Count::kSent);
      same(naive.misrouted, adaptive::Count::kMisrouted);
      for (u32 p = 0; p < 4; ++p) same(naive.delivered_of[p], adaptive::Count::kDelivered, p);
      const std::vector<u32> flits = plan.channel_flits(net.engine->state(0));
      for (u32 r = 0, n = 0; r < plan.topology().routers; ++r)
        for (u32 c = 0; c < plan.topology().network_ports; ++c)
          if (plan.topology().peer(r, c).item != kNone)
            d.same(u32{naive.sent_on[r][c]}, flits[n++], [&] { return "sent by channel " + std::to_string(n); });
    };
    if (!side_by_side(240, "trial " + std::to_string(trial), step, compare)) return;
    misrouted += naive.misrouted;
  }
  EXPECT_GT(misrouted, trials(1000));
}

TEST(AdaptiveConservation, HoldsForAllTopologiesAndLoads) {
  for (u32 trial = 0; trial < 90; ++trial) {
    std::mt19937 random(1000 + trial);
    const TextFile graph(testing::random_graph(random));
    RawConfig config = testing::random_adaptive(random, graph.path);
    config["router.assignment"] = word(trial % 3 == 0 ? "optimal" : trial % 3 == 1 ? "greedy" : "fixed");
    Network net(experiment(config));
    for (u32 part = 0; part < 8; ++part) {
      net.step(53);
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << trial;
    }
  }
}

/// At saturation no message is lost and none is misrouted without end: batches finish.
TEST(AdaptiveConservation, BatchesEnd) {
  for (const char* assignment : {"greedy", "fixed", "optimal"})
    for (u32 trial = 0; trial < 12; ++trial) {
      std::mt19937 random(2000 + trial);
      const TextFile graph(testing::random_graph(random));
      RawConfig config = testing::random_adaptive(random, graph.path);
      config.erase("traffic.load");
      set(config, "router.assignment=", assignment, " traffic.mode=batch traffic.batch_packets=60");
      Network net(experiment(config));
      const u64 all = u64{60} * net.plan->topology().terminals;
      for (u32 cycles = 0; cycles < 40000 && net.total(Total::kPacketsDelivered) < all; cycles += 100) net.step(100);
      EXPECT_EQ(net.total(Total::kPacketsDelivered), all) << assignment << ' ' << trial;
      check_conservation(*net.engine, *net.plan, 0);
    }
}

}  // namespace
}  // namespace flitlab::adaptive_naive_test
