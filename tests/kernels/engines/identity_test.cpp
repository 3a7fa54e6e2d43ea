/// Bit identity for every registered model: threads, grouping of replicas and memory layout do not change the state of
/// a network.
#include <gtest/gtest.h>

#include "host/config/registry.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/variations.hpp"

namespace flitlab::engines_identity_test {
namespace {

using namespace testing;

class Identity : public ::testing::TestWithParam<std::string> {};

TEST_P(Identity, OfThreadsAndLayouts) {
  for (const Experiment& e : variations(GetParam())) {
    Network one(e), two(e, {"cpu", 2, false, 1}), three(e, {"cpu", 3, false, 1}),
        wide(e, {"cpu", 2, false, 1, testing::kWide}), traced(e, {"cpu", 1, true, 1});
    for (u32 epoch = 0; epoch < trials(6); ++epoch) {
      std::vector<Network*> others{&two};
      if (epoch < trials(2)) others.push_back(&three);             // slow: more threads than cores
      if (trials(5) == 5) others.push_back(&wide);                 // sanitizers check threads and memory, not values
      if (trials(5) == 5 && epoch < 2) others.push_back(&traced);  // slow: writes events
      one.step(150);
      const u64 hash = one.engine->state_hash(0);
      for (Network* net : others) {
        net->step(150);
        ASSERT_EQ(net->engine->state_hash(0), hash) << e.structure_key();
        const CounterShard a = one.engine->counters(0), b = net->engine->counters(0);
        for (u32 i = 0; i < kTotals; ++i) ASSERT_EQ(a.total[i], b.total[i]) << i;
        for (u32 i = 0; i < kHistogramBins; ++i) ASSERT_EQ(a.latency[i], b.latency[i]) << i;
      }
    }
    ASSERT_GT(one.total(Total::kFlitsCreated), 0u);
  }
}

/// Engines select the active items, but if nearly all items are active they skip the selection for a while. With steps
/// of one cycle they select every time. Processing an idle item must not change it. Loads are low, so that networks
/// have idle and active items.
TEST_P(Identity, SingleCyclesAgreeWithLongerSteps) {
  for (double load : {0.02, 0.05, 0.1, 0.2})
    for (const char* pattern : {"uniform", "neighbour"}) {
      RawConfig config = Settings{"router.kind=", GetParam(), " traffic.pattern=", pattern, " traffic.load=", load};
      if (GetParam() == "sconnect") config["topology.host_ports"] = integer(2);  // one of the two may be idle
      const Experiment e = experiment(config);
      Network whole(e), pieces(e);
      for (u32 epoch = 0; epoch < trials(5); ++epoch) {
        whole.step(160);
        for (u32 cycle = 0; cycle < 160; ++cycle) pieces.step(1);
        ASSERT_EQ(whole.engine->state_hash(0), pieces.engine->state_hash(0)) << pattern << " at " << load;
      }
    }
}

TEST_P(Identity, OfReplicaBatching) {
  std::vector<Experiment> replicas;
  for (int seed = 1; seed <= 5; ++seed)
    replicas.push_back(
        experiment(Settings{"router.kind=", GetParam(), " run.seed=", seed, " traffic.load=", 0.1 * seed}));
  const auto plan = make_plan(replicas.front());
  const auto together = plan->make_engine(replicas, {"cpu", 2, false, 1});
  const std::vector<u32> all{0, 1, 2, 3, 4}, some{1, 4};
  together->advance(300, all);
  together->advance(300, some);
  for (u32 r = 0; r < 5; ++r) {
    Network alone(replicas[r]);
    alone.step(300);
    if (r == 1 || r == 4) alone.step(300);
    EXPECT_EQ(together->state_hash(r), alone.engine->state_hash(0)) << r;
  }
}

/// A state continues identically after it was written to a file's bytes and read back.
TEST_P(Identity, OfSavedStates) {
  const Experiment e = experiment("router.kind=", GetParam(), " traffic.load=0.3");
  Network whole(e), first(e), second(e);
  whole.step(500);
  first.step(200);
  second.engine->set_state(0, first.engine->state(0));
  second.engine->set_counters(0, first.engine->counters(0));
  second.engine->set_now(first.engine->now());
  second.step(300);
  EXPECT_EQ(whole.engine->state_hash(0), second.engine->state_hash(0));
  EXPECT_EQ(whole.total(Total::kLatencySum), second.total(Total::kLatencySum));
}

TEST_P(Identity, IsNotTrivial) {
  const Experiment a = experiment("router.kind=", GetParam(), " traffic.load=0.3");
  const Experiment b = experiment("router.kind=", GetParam(), " traffic.load=0.3 run.seed=2");
  Network x(a), y(b);
  x.step(100);
  y.step(100);
  EXPECT_NE(x.engine->state_hash(0), y.engine->state_hash(0));
  const u64 before = x.engine->state_hash(0);
  x.step(10);  // more than one cycle, because a single one may be idle
  EXPECT_NE(x.engine->state_hash(0), before);
}

/// A network that is too large for caches is processed router by router, a small one in bulk.
TEST(IdentityOfLarge, RoutersOneByOne) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  const Experiment e = experiment("topology.shape=[80,80] router.vcs=3 router.routing_delay=2 traffic.load=0.3");
  Network one(e), wide(e, {"cpu", 1, false, 1, testing::kWide});
  ASSERT_GT(one.plan->layout().bytes(1), std::size_t{1} << 23);
  one.step(60);
  wide.step(60);
  EXPECT_EQ(one.engine->state_hash(0), wide.engine->state_hash(0));
}

INSTANTIATE_TEST_SUITE_P(Models, Identity, ::testing::ValuesIn(testing::kinds()));

}  // namespace
}  // namespace flitlab::engines_identity_test
