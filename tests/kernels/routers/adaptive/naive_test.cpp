/// Whole networks against a second implementation, and conservation for all topologies and loads.
#include <gtest/gtest.h>

#include <random>

#include "host/topology/patterns.hpp"
#include "kernels/routers/adaptive/params.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "tests/support/adaptive/naive.hpp"
#include "tests/support/adaptive/random.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::adaptive_naive_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::NaiveAdaptive;
using testing::Network;
using testing::TextFile;
using testing::trials;
using testing::word;

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
    for (u32 part = 0; part < 6; ++part) {
      net.step(40);
      for (u32 i = 0; i < 40; ++i) naive.step();
      ASSERT_EQ(net.total(Total::kPacketsInjected), naive.entered) << trial;
      ASSERT_EQ(net.total(Total::kPacketsDelivered), naive.delivered) << trial;
      ASSERT_EQ(net.total(Total::kLatencySum), naive.latency_sum) << trial;
      ASSERT_EQ(net.total(adaptive::Count::kSent), naive.sent) << trial;
      ASSERT_EQ(net.total(adaptive::Count::kMisrouted), naive.misrouted) << trial;
      const CounterShard counters = net.engine->counters(0);
      for (u32 p = 0; p < 4; ++p)
        ASSERT_EQ(counters.total[static_cast<u32>(adaptive::Count::kDelivered) + p], naive.delivered_of[p]) << trial;
      std::vector<u32> sent;
      for (u32 r = 0; r < plan.topology().routers; ++r)
        for (u32 c = 0; c < plan.topology().network_ports; ++c)
          if (plan.topology().peer(r, c).item != kNone) sent.push_back(naive.sent_on[r][c]);
      ASSERT_EQ(plan.channel_flits(net.engine->state(0)), sent) << trial;
    }
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
      config["router.assignment"] = word(assignment);
      config["traffic.mode"] = word("batch");
      config["traffic.batch_packets"] = integer(60);
      Network net(experiment(config));
      const u64 all = u64{60} * net.plan->topology().terminals;
      for (u32 cycles = 0; cycles < 40000 && net.total(Total::kPacketsDelivered) < all; cycles += 100) net.step(100);
      EXPECT_EQ(net.total(Total::kPacketsDelivered), all) << assignment << ' ' << trial;
      check_conservation(*net.engine, *net.plan, 0);
    }
}

}  // namespace
}  // namespace flitlab::adaptive_naive_test
