/// Compares the bulk phase, which processes many routers per call, with the phase for one router. Engines with the
/// memory layout of GPUs have no bulk phases, so both forms run in this test.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/build.hpp"
#include "tests/support/same.hpp"

namespace flitlab::t3e_batch_test {
namespace {

using namespace testing;

/// Returns a machine of 48 to 96 nodes, which needs two or three bulk calls. Some are plain, with any load; others have
/// special features, such as links that break, so that packets are dropped.
Experiment any_machine(u32 seed) {
  std::mt19937 random(seed);
  const auto one_in = [&](u32 n) { return random() % n == 0; };
  const double loads[]{0.03, 0.1, 0.3, 0.6, 1.0};
  const IntList shapes[]{{4, 4, 3}, {8, 4, 3}, {4, 4, 5}};
  RawConfig c{{"router.kind", word("t3e")},
              {"run.seed", integer(seed)},
              {"topology.shape", shapes[random() % 3]},
              {"traffic.load", loads[random() % 5]},
              {"traffic.packet_flits", one_in(3) ? Lengths{{1, 1.0}} : Lengths{{1, 0.2}, {2, 0.4}, {10, 0.4}}},
              {"routing.adaptive", !one_in(4)},
              {"router.short_circuit", !one_in(4)}};
  if (one_in(3)) c["router.adaptive_vcs"] = integer(1 + random() % 4);
  if (one_in(3)) c["router.adaptive_choice"] = word("any");
  if (one_in(3)) c["traffic.mode"] = word("request_reply");
  if (one_in(3)) {
    c["barrier.units"] = integer(1 + random() % 3);
    c["barrier.work"] = integer(random() % 10);
  }
  if (one_in(3)) {
    set(c, "faults.links=[3,0,17,1] faults.cycle=100 faults.reroute_delay=150");
  }
  if (one_in(5)) {
    c["io.nodes"] = IntList{0, 9, 30};
    c["io.interval"] = integer(1 + random() % 3);
  } else if (one_in(3)) {
    c["traffic.pattern"] = word("neighbour");
  }
  return experiment(c);
}

TEST(T3eBatch, AgreesWithSingleRouters) {
  if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  u64 dropped = 0;
  for (u32 seed = 1; seed <= testing::trials(60); ++seed) {
    const Experiment e = any_machine(seed);
    Network many(e), one(e, {"cpu", 1, false, 1, testing::kWide});
    for (u32 epoch = 0; epoch < 8; ++epoch) {
      many.step(50);
      one.step(50);
      ASSERT_NO_FATAL_FAILURE(expect_the_same(*many.engine, *one.engine)) << "seed " << seed;
    }
    ASSERT_EQ(many.engine->audit(0).bits, 0u) << "seed " << seed;
    dropped += many.total(Total::kPacketsDropped);
  }
  EXPECT_GT(dropped, 0u);
}

}  // namespace
}  // namespace flitlab::t3e_batch_test
