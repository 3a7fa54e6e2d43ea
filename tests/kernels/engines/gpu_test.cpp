/// The CUDA engine against the CPU engine, on a GPU and on the device that the host emulates (tests/cuda_on_host).
/// Skipped, with the reason, if neither exists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/t3e/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/same.hpp"
#include "tests/support/variations.hpp"

namespace flitlab::engines_gpu_test {
namespace {

using namespace testing;

const EngineChoice kGpu{"cuda", 1, false, 1};

/// Sets an environment variable of the emulated device for the lifetime of this object; a GPU ignores it.
struct OnDeviceWith {
  OnDeviceWith(const char* setting, const char* value) : name(setting) { setenv(name, value, 1); }
  ~OnDeviceWith() { unsetenv(name); }
  const char* name;
};

class Gpu : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  }
  Experiment model(RawConfig changes) const {
    changes["router.kind"] = GetParam();
    return experiment(changes);
  }
};

TEST_P(Gpu, CountsAgreeWithTheCpu) {
  u64 measured_packets = 0;
  for (const Experiment& e : variations(GetParam())) {
    Network cpu(e), gpu(e, kGpu);
    measure_until(450, {cpu.engine.get(), gpu.engine.get()});
    for (u32 epoch = 0; epoch < trials(4); ++epoch) {
      cpu.step(150);
      gpu.step(150);
      ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine)) << e.structure_key();
      // Audits run on both engines, because they change counters.
      ASSERT_EQ(gpu.engine->audit(0).bits, cpu.engine->audit(0).bits) << e.structure_key();
    }
    ASSERT_GT(cpu.total(Total::kFlitsCreated), 0u);
    measured_packets += measured(*gpu.engine);
  }
  EXPECT_GT(measured_packets, 100u);
}

/// Many networks of one router share warps: 120 networks on a device of three multiprocessors.
TEST(GpuSmall, ReplicasThatShareAWarpAreTheSame) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  std::vector<Experiment> replicas;
  std::vector<u32> all;
  for (u32 r = 0; r < 120; ++r) {
    replicas.push_back(experiment("router.kind=switch topology.ports=4 run.seed=", r + 1, " traffic.load=0.4"));
    all.push_back(r);
  }
  const auto plan = make_plan(replicas.front());
  const auto gpu = plan->make_engine(replicas, kGpu), cpu = plan->make_engine(replicas, {"cpu", 1});
  measure_until(100, {gpu.get(), cpu.get()});
  device_calls();  // counts from here on
  for (Engine* engine : {gpu.get(), cpu.get()}) engine->advance(120, all);
  if (const auto calls = device_calls()) {
    EXPECT_EQ(calls->launches, 1u);
    EXPECT_LE(calls->blocks, 120u / 2);  // a warp has at least two of them
  }
  EXPECT_GT(measured(*gpu), 10u);
  for (u32 r : all) ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu, *cpu, r)) << "replica " << r;
}

/// Blocks of threads that list the work of several replicas (EngineCost::block_items): twelve networks of different
/// loads on a device of three multiprocessors.
TEST(GpuBlocks, ReplicasThatShareABlockAreTheSame) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  for (const char* kind : {"bgl", "metro", "t3e"}) {
    std::vector<Experiment> replicas;
    std::vector<u32> all;
    for (u32 r = 0; r < 12; ++r) {
      replicas.push_back(experiment("router.kind=", kind, " run.seed=", r + 1, " traffic.load=", 0.06 * (r + 1)));
      all.push_back(r);
    }
    const auto plan = make_plan(replicas.front());
    const auto gpu = plan->make_engine(replicas, kGpu), cpu = plan->make_engine(replicas, {"cpu", 1});
    device_calls();  // counts from here on
    for (Engine* engine : {gpu.get(), cpu.get()}) engine->advance(150, all);
    if (const auto calls = device_calls()) {
      EXPECT_EQ(calls->blocks, 3u) << kind;
    }
    for (u32 r : all) ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu, *cpu, r)) << kind << ", replica " << r;
  }
}

/// Networks with more routers than a block can take. They need barriers of the whole grid.
class GpuGrid : public Gpu {};

TEST_P(GpuGrid, Agrees) {
  const OnDeviceWith small("CUDA_ON_HOST_THREADS", "32");
  RawConfig changes = testing::network_of_a_grid(GetParam());
  changes["traffic.load"] = 0.2;
  const Experiment e = model(changes);
  Network cpu(e), gpu(e, kGpu);
  ASSERT_GT(cpu.engine->layout().kinds[0].count, 256u);  // capacity of a block of 32 threads
  const u32 part = GetParam() == "bgl" ? 200 : 50;       // packets take hundreds of cycles
  measure_until(2 * part, {cpu.engine.get(), gpu.engine.get()});
  device_calls();  // counts from here on
  for (int epoch = 0; epoch < 3; ++epoch) {
    cpu.step(part);
    gpu.step(part);
    if (const auto calls = device_calls()) {
      EXPECT_GT(calls->grid_barriers, 0u);
    }
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine));
  }
  EXPECT_GT(measured(*gpu.engine), 10u);
}

TEST_P(Gpu, ReplicasAdvanceAloneAndTogether) {
  std::vector<Experiment> replicas;
  for (int seed = 1; seed <= 5; ++seed)
    replicas.push_back(model(Settings("run.seed=", seed, " traffic.load=", 0.1 * seed)));
  const auto plan = make_plan(replicas.front());
  const auto gpu = plan->make_engine(replicas, kGpu), cpu = plan->make_engine(replicas, {"cpu", 1, false, 1});
  const std::vector<u32> all{0, 1, 2, 3, 4}, some{1, 4};
  measure_until(250, {gpu.get(), cpu.get()});
  for (Engine* engine : {gpu.get(), cpu.get()}) {
    engine->advance(200, all);
    engine->advance(100, some);
  }
  for (u32 r : all) expect_the_same(*gpu, *cpu, r);
  EXPECT_NE(gpu->totals(std::vector<u32>{1}), gpu->totals(std::vector<u32>{4}));  // each replica has its own counters
  EXPECT_GT(measured(*gpu, 1), 10u);
}

/// A thread processes one router or several. Threads run in a different order each time.
TEST_P(Gpu, BlocksOfAnySizeAgree) {
  const Experiment e = model(Settings("traffic.load=0.4"));
  for (const auto& [threads, seed] : {std::pair("32", "11"), {"64", "12"}, {"512", "13"}}) {
    const OnDeviceWith setting("CUDA_ON_HOST_THREADS", threads), order("CUDA_ON_HOST_SEED", seed);
    Network cpu(e), gpu(e, kGpu);
    measure_until(200, {cpu.engine.get(), gpu.engine.get()});
    cpu.step(300);
    for (u32 piece = 0; piece < 3; ++piece) gpu.step(100);
    expect_the_same(*gpu.engine, *cpu.engine);
    EXPECT_GT(measured(*gpu.engine), 10u);
  }
}

/// Blocks of 32 threads select due routers (routers to be processed) from a hundred in several rounds; some rounds fill
/// a list together.
TEST_P(Gpu, ListsOfSeveralRoundsAgree) {
  const OnDeviceWith setting("CUDA_ON_HOST_THREADS", "32");
  RawConfig changes = Settings("topology.shape=[10,10] traffic.load=0.04");
  if (GetParam() == "t3e") changes["topology.shape"] = IntList{8, 4, 4};
  if (GetParam() == "metro" || GetParam() == "switch") changes.erase("topology.shape");
  std::vector<Experiment> replicas;
  for (int seed = 1; seed <= 6; ++seed) {
    changes["run.seed"] = integer(seed);
    replicas.push_back(model(changes));
  }
  const auto plan = make_plan(replicas.front());
  const auto gpu = plan->make_engine(replicas, kGpu), cpu = plan->make_engine(replicas, {"cpu", 1});
  const std::vector<u32> all{0, 1, 2, 3, 4, 5};
  measure_until(100, {gpu.get(), cpu.get()});
  for (Engine* engine : {gpu.get(), cpu.get()}) engine->advance(200, all);
  for (u32 r : all) ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu, *cpu, r));
}

/// A router is processed even if only a barrier packet arrives.
TEST(GpuLists, BarriersOfT3ePassRoutersWithoutPackets) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  const Experiment e = experiment("router.kind=t3e barrier.units=2 traffic.load=0.0");
  Network cpu(e), gpu(e, kGpu);
  for (Network* net : {&cpu, &gpu}) net->step(300);
  ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine));
  EXPECT_GT(cpu.total(t3e::Count::kBarriers), 100u);
}

TEST_P(Gpu, StatesAndFieldsMoveBetweenEngines) {
  const Experiment e = model(Settings("traffic.load=0.3"));
  Network whole(e), gpu(e, kGpu), again(e);
  whole.step(300);
  gpu.step(100);
  const auto move = [](Engine& from, Engine& to) {
    to.set_state(0, from.state(0));
    to.set_counters(0, from.counters(0));
    to.set_now(from.now());
  };
  move(*gpu.engine, *again.engine);
  again.step(100);
  move(*again.engine, *gpu.engine);
  gpu.step(100);
  expect_the_same(*gpu.engine, *whole.engine);
  for (u32 kind = 0; kind < gpu.engine->layout().kinds.size(); ++kind)
    for (const FieldInfo& field : gpu.engine->layout().kinds[kind].fields) {
      const std::size_t bytes = std::size_t{gpu.engine->layout().kinds[kind].count} * field.count * field.element_bytes;
      std::vector<std::byte> a(bytes), b(bytes), changed(bytes);
      gpu.engine->get_field(0, kind, field, a.data());
      whole.engine->get_field(0, kind, field, b.data());
      ASSERT_EQ(a, b) << field.name;
      for (std::size_t i = 0; i < bytes; ++i) changed[i] = static_cast<std::byte>(i * 37 + 1);
      gpu.engine->set_field(0, kind, field, changed.data());
      gpu.engine->get_field(0, kind, field, b.data());
      ASSERT_EQ(changed, b) << field.name;
      gpu.engine->set_field(0, kind, field, a.data());
      const u32 item = gpu.engine->layout().kinds[kind].count - 1, index = field.count / 2;
      const std::size_t one = std::size_t{field.count} * field.element_bytes, at = item * one;
      gpu.engine->set_item(0, kind, item, field, &changed[at]);
      gpu.engine->set_item(0, kind, item, field.only(index), &a[at + index * field.element_bytes]);
      gpu.engine->get_field(0, kind, field, b.data());
      std::vector<std::byte> expected = a;
      std::copy(&changed[at], &changed[at] + one, &expected[at]);
      std::copy_n(&a[at + index * field.element_bytes], field.element_bytes,
                  &expected[at + index * field.element_bytes]);
      ASSERT_EQ(expected, b) << field.name;
      gpu.engine->set_field(0, kind, field, a.data());
      gpu.engine->get_item(0, kind, item, field, b.data());
      ASSERT_TRUE(std::equal(&a[at], &a[at] + one, b.begin())) << field.name;
    }
  EXPECT_EQ(gpu.engine->state_hash(0), whole.engine->state_hash(0));
}

/// An engine has copies of all arrays of its plan: it reads no host memory after the plan has ended.
TEST_P(Gpu, APlanMayEndBeforeItsEngine) {
  const Experiment e = model(Settings("traffic.load=0.3"));
  Network cpu(e);
  cpu.step(200);
  auto plan = make_plan(e);
  const auto gpu = plan->make_engine({e}, kGpu);
  plan.reset();
  const u32 only[] = {0};
  gpu->advance(200, only);
  EXPECT_EQ(gpu->state_hash(0), cpu.engine->state_hash(0));
}

/// The audits of the CUDA engine and of the CPU engine report the same fault at the same location.
TEST_P(Gpu, AuditsFindTheSameFault) {
  const Experiment e = model(Settings("traffic.load=0.4"));
  Network cpu(e), gpu(e, kGpu);
  cpu.step(200);
  u32 found = 0;
  for (u32 kind = 0; kind < cpu.engine->layout().kinds.size(); ++kind)
    for (const FieldInfo& field : cpu.engine->layout().kinds[kind].fields) {
      const ItemKind& items = cpu.engine->layout().kinds[kind];
      std::vector<std::byte> right(std::size_t{items.count} * field.count * field.element_bytes);
      cpu.engine->get_field(0, kind, field, right.data());
      std::vector<std::byte> wrong = right;
      wrong[wrong.size() / 2] ^= std::byte{1};
      cpu.engine->set_field(0, kind, field, wrong.data());
      gpu.engine->set_state(0, cpu.engine->state(0));
      gpu.engine->set_now(cpu.engine->now());
      const FaultReport a = gpu.engine->audit(0), b = cpu.engine->audit(0);
      ASSERT_EQ(a.bits, b.bits) << field.name;
      if (a.bits) {
        ++found;
        ASSERT_EQ(std::tie(a.kind, a.item, a.port), std::tie(b.kind, b.item, b.port)) << field.name;
      }
      cpu.engine->set_state(0, gpu.engine->state(0));
      cpu.engine->set_field(0, kind, field, right.data());
    }
  EXPECT_GT(found, 0u);
}

INSTANTIATE_TEST_SUITE_P(Models, Gpu, ::testing::ValuesIn(testing::kinds()));
INSTANTIATE_TEST_SUITE_P(Models, GpuGrid, ::testing::ValuesIn(testing::kinds(true)));  // a switch is one router

}  // namespace
}  // namespace flitlab::engines_gpu_test
