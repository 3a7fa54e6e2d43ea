/// Compares the bulk phase, which processes many TICs per call, with the phase for one TIC, and with the steps of a
/// block of GPU threads. CPU engines with the memory layout of GPUs have no bulk phases, so both forms run in this
/// test.
#include <gtest/gtest.h>

#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/sconnect/gather.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/random.hpp"

namespace flitlab::sconnect_batch_test {
namespace {

using namespace testing;

template <class Test>
class NeedsTwoLayouts : public Test {
 protected:
  void SetUp() override {
    if (testing::kWide == 1) GTEST_SKIP() << "no engine for wide layouts in this build";
  }
};
class SconnectBatch : public NeedsTwoLayouts<::testing::TestWithParam<u32>> {};
class SconnectLargeBatch : public NeedsTwoLayouts<::testing::Test> {};

const EngineChoice kOneByOne{"cpu", 1, false, 1, testing::kWide}, kGpu{"cuda", 1, false, 1};

/// Two engines with the same fabric: one processes TICs in bulk, the other one by one, or on a GPU.
struct Pair {
  explicit Pair(const RawConfig& config, u32 threads = 1, EngineChoice other = kOneByOne)
      : config_(config),
        e(sconnect_experiment(config)),
        many(e, {"cpu", threads, false, 1}),
        one(e, other),
        table(dynamic_cast<const SconnectPlan&>(*many.plan).table()) {}

  void step(u32 cycles) {
    many.step(cycles);
    one.step(cycles);
    const std::string when = "before cycle " + std::to_string(many.engine->now()) + testing::described(config_);
    ASSERT_EQ(many.engine->state_hash(0), one.engine->state_hash(0)) << when;
    const CounterShard a = many.engine->counters(0), b = one.engine->counters(0);
    for (u32 i = 0; i < kTotals; ++i) ASSERT_EQ(a.total[i], b.total[i]) << "total " << i << when;
    const u32 fault = many.engine->audit(0).bits;
    ASSERT_EQ(fault, one.engine->audit(0).bits) << when;
    ASSERT_EQ(fault, 0u) << when;
  }
  template <class F>
  void both(F&& f) {
    f(*many.engine);
    f(*one.engine);
  }

  RawConfig config_;
  Experiment e;
  Network many, one;
  const sconnect::Table& table;
};

/// Fabrics of one priority without errors that are larger than a bulk call: the usual case.
RawConfig plain_fabric(u64 seed) {
  Draw draw(seed);
  RawConfig c = Settings{"run.seed=", static_cast<std::int64_t>(seed), " topology.host_ports=", draw.between(1, 2)};
  if (draw.coin()) {
    c["topology.kind"] = word("random");
    c["topology.nodes"] = draw.one_of<std::int64_t>({20, 70, 150});
    c["topology.degree"] = draw.between(3, 4);
  } else {
    c["topology.node"] = word(draw.coin() ? "single" : "dual");
    c["topology.shape"] = draw.one_of<IntList>({{9, 9}, {4, 5}, {12, 11}});
  }
  if (draw.below(3) == 0) c["topology.phases"] = word("equal");
  if (draw.coin()) c["router.host_buffers"] = draw.between(1, 64);
  c["routing.age"] = word(draw.one_of({"requeued", "requeued", "head", "all"}));
  c["traffic.load"] = draw.one_of({0.02, 0.1, 0.3, 0.6, 1.0});
  return c;
}

TEST_P(SconnectBatch, AgreesWithSingleTics) {
  const TextFile graph(testing::kSwitchedGraph);
  Pair pair(random_sconnect(5000 + GetParam(), graph.path));
  for (u32 epoch = 0; epoch < 12; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(1 + 7 * epoch));
}

TEST_P(SconnectBatch, AgreesWithSingleTicsInPlainFabrics) {
  Pair pair(plain_fabric(GetParam()), 1 + GetParam() % 2);
  for (u32 epoch = 0; epoch < 6; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(60));
}

TEST_P(SconnectBatch, AgreesWithSingleTicsInClosedLoops) {
  const TextFile graph(testing::kSwitchedGraph);
  Pair pair(random_sconnect_loop(6000 + GetParam(), graph.path));
  for (u32 epoch = 0; epoch < 8; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(50));
}

/// Hosts' software sends requests, changes registers, switches ports off and on and counts events under traffic.
void control(Pair& pair, u64 seed) {
  Draw draw(seed);
  for (u32 epoch = 0; epoch < 40; ++epoch) {
    const u32 tic = draw.below(pair.table.routers), terminal = draw.below(pair.table.terminals);
    const u32 enabled = draw.coin() ? 63 : draw.below(64), counting = draw.below(33), tag = draw.below(256);
    const u32 address = draw.below(pair.table.nodes), change = draw.below(4);
    pair.both([&](Engine& engine) {
      if (change == 0) set_sconnect_register(engine, pair.table, tic, "enabled", enabled);
      if (change == 1) set_sconnect_register(engine, pair.table, tic, "counting", counting);
      if (change == 2)
        send_sconnect_control(engine, pair.table, terminal, {{"read_register", 4, 0, address, {}, 2, tag}});
      if (change == 3)
        send_sconnect_control(engine, pair.table, terminal, {{"write_register", 5, counting, address, {}, 1, tag}});
    });
    ASSERT_NO_FATAL_FAILURE(pair.step(1 + draw.below(12)));
  }
}

TEST_P(SconnectBatch, AgreesWithSingleTicsUnderSoftwareControl) {
  const TextFile graph(testing::kSwitchedGraph);
  Pair pair(GetParam() % 2 ? random_sconnect(7000 + GetParam(), graph.path) : plain_fabric(7000 + GetParam()));
  control(pair, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SconnectBatch, ::testing::Range(0u, testing::trials(40)));

/// The name of the test selects it among the tests of GPUs.
class SconnectGpuBatch : public ::testing::TestWithParam<u32> {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  }
  const TextFile graph{testing::kSwitchedGraph};
};

TEST_P(SconnectGpuBatch, AgreesWithTheCpu) {
  Pair pair(random_sconnect(5000 + GetParam(), graph.path), 1, kGpu);
  for (u32 epoch = 0; epoch < 12; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(1 + 7 * epoch));
}

TEST_P(SconnectGpuBatch, AgreesInPlainFabrics) {
  Pair pair(plain_fabric(GetParam()), 1, kGpu);
  for (u32 epoch = 0; epoch < 3; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(60));
}

TEST_P(SconnectGpuBatch, AgreesInClosedLoops) {
  Pair pair(random_sconnect_loop(6000 + GetParam(), graph.path), 1, kGpu);
  for (u32 epoch = 0; epoch < 4; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(50));
}

TEST_P(SconnectGpuBatch, AgreesUnderSoftwareControl) {
  Pair pair(GetParam() % 2 ? random_sconnect(7000 + GetParam(), graph.path) : plain_fabric(7000 + GetParam()), 1, kGpu);
  control(pair, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SconnectGpuBatch, ::testing::Range(0u, testing::trials(20)));

/// Fabrics larger than the cache are processed in smaller groups of TICs. 529 TICs are not a multiple of the group
/// size.
TEST_F(SconnectLargeBatch, AgreesWithSingleTics) {
  for (double load : {0.02, 0.3}) {
    Pair pair(Settings("topology.shape=[23,23] traffic.load=", load), 2);
    ASSERT_GT(u64{pair.table.routers} * pair.many.plan->layout().kinds[0].item_bytes, sconnect::kNear);
    for (u32 epoch = 0; epoch < 4; ++epoch) ASSERT_NO_FATAL_FAILURE(pair.step(50));
  }
}

/// The fabrics of the tests above must include messages that are refused and pools that are full.
TEST(SconnectBatches, MeetRefusalsAndFullPools) {
  u64 refused = 0, came_back = 0;
  for (u32 seed = 0; seed < 10; ++seed) {
    Network net(sconnect_experiment(plain_fabric(seed)));
    net.step(360);
    refused += net.total(sconnect::Count::kRejected);
    came_back += net.total(sconnect::Count::kFailed);
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(came_back, 1000u);
}

}  // namespace
}  // namespace flitlab::sconnect_batch_test
