/// Costs of an epoch on the host: the number of launches and copies does not grow with the number of replicas of a job.
/// The device that the host emulates counts them (tests/cuda_on_host); skipped elsewhere.
#include <gtest/gtest.h>

#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/networks.hpp"

namespace flitlab::calls_gpu_test {
namespace {

using namespace testing;

class GpuCalls : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!device_calls()) GTEST_SKIP() << "needs a build with FLITLAB_CUDA=HOST";
  }

  /// Returns replicas whose epochs of one cycle need one launch each, however slow the emulated device is.
  std::vector<Experiment> jobs(u32 replicas) const {
    std::vector<Experiment> list;
    for (u32 r = 0; r < replicas; ++r)
      list.push_back(
          experiment(Settings{"router.kind=", GetParam(), " traffic.load=0.1 run.seed=", r + 1,
                              " run.warmup_cycles=1 run.measure_cycles=4 run.epoch_cycles=1 run.watchdog_cycles=2"}));
    return list;
  }

  /// Returns the calls of each epoch. A job reports progress at the end of an epoch.
  std::vector<CudaOnHostCalls> epochs(u32 replicas) const {
    std::vector<CudaOnHostCalls> list;
    run_job(jobs(replicas), {"cuda", 1}, [&](const Progress&) { list.push_back(*device_calls()); });
    return list;
  }
};

TEST_P(GpuCalls, OfAnEpochDoNotGrowWithReplicas) {
  const std::vector<CudaOnHostCalls> one = epochs(1), many = epochs(5);
  ASSERT_GE(one.size(), 5u);
  ASSERT_GE(many.size(), 5u);
  // Epochs 0 and 4, in which the window begins and ends, read each replica's state. Epochs 1 and 3 search for
  // deadlocks.
  for (u32 epoch : {1u, 2u, 3u}) {
    EXPECT_EQ(many[epoch].launches, one[epoch].launches) << "epoch " << epoch;
    EXPECT_EQ(many[epoch].copies, one[epoch].copies) << "epoch " << epoch;
    // One launch for the cycles, two for totals, one for the audit's phases, one for each of at most four kinds of
    // items, to find their faults, and a memset, which counts as a launch, to clear the faults found before.
    EXPECT_LE(one[epoch].launches, 9u) << "epoch " << epoch;
    EXPECT_LE(one[epoch].copies, 4u + 1u) << "epoch " << epoch;
  }
  // Only totals and faults are copied: a histogram is a hundred times as large.
  EXPECT_LT(many[2].copied_bytes, 5 * 3 * sizeof(Totals));
}

/// An epoch is divided into pieces, each of which is a launch. Pieces grow from a short first one; later epochs do not
/// start with short pieces again.
TEST_P(GpuCalls, PiecesOfLaterEpochsAreNotCutAgain) {
  const std::vector<Experiment> replicas = jobs(2);
  const auto plan = make_plan(replicas.front());
  const auto engine = plan->make_engine(replicas, {"cuda", 1});
  Feeds feeds;
  Skips skips(replicas.front(), *plan);
  WorkSlicer slicer(1, std::chrono::hours(1));  // pieces of 1, 2, 4 cycles, however slow the emulated device is
  const std::vector<u32> all{0, 1};
  const auto launches = [&] {
    device_calls();
    advance(*engine, *plan, feeds, skips, 20, all, slicer);
    return device_calls()->launches;
  };
  EXPECT_GE(launches(), 5u);  // pieces of 1, 2, 4 and 8 cycles, and the rest
  EXPECT_LE(launches(), 2u);  // a piece of 16 cycles, and the rest
  EXPECT_EQ(launches(), 1u);
}

/// While few items are due (must be processed), the engine lists them, which takes two more barriers per cycle. While
/// most items are due, it does so only in every 16th cycle. The switch makes no such list; Blue Gene/L's nodes, the
/// T3E's routers and S-Connect's TICs are always listed. METRO has a barrier after each of its two phases, which use
/// the same shared memory.
TEST_P(GpuCalls, DueItemsAreListedWhileFew) {
  const std::string kind = GetParam();
  const auto barriers = [&](double load) {
    RawConfig config = Settings("router.kind=", kind, " traffic.load=", load, " topology.shape=[8,8]");
    if (kind == "t3e") config["topology.shape"] = IntList{4, 4, 4};
    if (kind == "metro" || kind == "switch") config.erase("topology.shape");
    if (kind == "vc") config["router.routing_delay"] = integer(8);  // so that no lane state is used
    const Experiment e = experiment(config);
    const auto engine = make_plan(e)->make_engine({e}, {"cuda", 1});
    const std::vector<u32> only{0};
    engine->advance(200, only);  // until few items are due
    device_calls();
    engine->advance(100, only);
    return static_cast<double>(device_calls()->block_barriers) / 100;
  };
  const double few = barriers(0.02), most = barriers(0.9);
  if (kind == "metro") {
    EXPECT_NEAR(few, 3, 0.5);
    EXPECT_NEAR(most, 3, 0.5);
    return;
  }
  if (kind == "switch") {
    EXPECT_LT(few, 1.5);
  } else {
    EXPECT_GT(few, 2.5);
  }
  if (kind == "bgl" || kind == "t3e" || kind == "sconnect") {
    EXPECT_GT(most, 2.5);
  } else {
    EXPECT_LT(most, 1.5);
  }
}

TEST_P(GpuCalls, TotalsAndAuditsOfManyAgreeWithSingleOnes) {
  const std::vector<Experiment> replicas = jobs(5);
  const auto plan = make_plan(replicas.front());
  const auto gpu = plan->make_engine(replicas, {"cuda", 1}), cpu = plan->make_engine(replicas, {"cpu", 1});
  const std::vector<u32> all{0, 1, 2, 3, 4}, some{4, 3, 0};
  for (Engine* engine : {gpu.get(), cpu.get()}) engine->advance(150, all);
  // The audits must report a damaged replica in the middle of the job and no other.
  const std::vector<std::byte> right = cpu->state(3);
  const ItemKind& routers = cpu->layout().kinds[0];
  for (const FieldInfo& field : routers.fields) {
    std::vector<std::byte> bytes(std::size_t{routers.count} * field.count * field.element_bytes);
    cpu->get_field(3, 0, field, bytes.data());
    bytes[bytes.size() / 2] ^= std::byte{1};
    cpu->set_field(3, 0, field, bytes.data());
    gpu->set_field(3, 0, field, bytes.data());
    const std::vector<FaultReport> a = gpu->audits(some), b = cpu->audits(some);
    for (u32 i = 0; i < some.size(); ++i)
      EXPECT_EQ(std::tie(a[i].bits, a[i].kind, a[i].item, a[i].port),
                std::tie(b[i].bits, b[i].kind, b[i].item, b[i].port))
          << field.name;
    EXPECT_EQ(a[0].bits, 0u);
    EXPECT_EQ(a[2].bits, 0u);
    cpu->set_state(3, right);  // because the audits above have written to the state
    gpu->set_state(3, right);
  }
  const std::vector<Totals> a = gpu->totals(some), b = cpu->totals(some);
  for (u32 i = 0; i < some.size(); ++i) {
    EXPECT_EQ(a[i], b[i]);
    EXPECT_EQ(a[i], std::to_array(gpu->counters(some[i]).total));
    EXPECT_EQ(b[i], std::to_array(cpu->counters(some[i]).total));
  }
  std::vector<u32> shown;
  gpu->each_state(some, 1, [&](std::size_t i, const std::vector<std::byte>& state) {
    shown.push_back(some[i]);
    EXPECT_EQ(state, gpu->state(some[i]));
  });
  EXPECT_EQ(shown, some);
}

INSTANTIATE_TEST_SUITE_P(Models, GpuCalls, ::testing::ValuesIn(testing::kinds()));

}  // namespace
}  // namespace flitlab::calls_gpu_test
