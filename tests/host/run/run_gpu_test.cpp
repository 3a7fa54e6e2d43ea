/// Whole jobs: the CUDA engine gives the results of the CPU engine, on a GPU and on the device that the host emulates
/// (tests/cuda_on_host). Skipped, with the reason, if neither exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "host/plan/interrupt.hpp"
#include "host/run/run.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/results.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::gpu_run_test {
namespace {

using namespace testing;

struct Stop {};

class GpuRun : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  }

  /// Returns replicas that end at different times. Packets of Blue Gene/L take hundreds of cycles.
  std::vector<Experiment> jobs() const {
    std::vector<Experiment> list;
    for (const double load : {GetParam() == "bgl" ? 0.01 : 0.05, 0.2, 0.9})
      list.push_back(
          experiment(Settings{"router.kind=", GetParam(), " traffic.load=", load,
                              " run.warmup_cycles=150 run.measure_cycles=", GetParam() == "bgl" ? 1200 : 300,
                              " run.drain_cycles=", GetParam() == "bgl" ? 1200 : 300, " run.epoch_cycles=50"}));
    return list;
  }
};

/// Returns whether some replica has a latency: replicas past saturation have none.
bool has_latency(const std::vector<Result>& results) {
  return std::ranges::any_of(results,
                             [](const Result& r) { return r.packets.delivered && !std::isnan(r.latency_cycles.mean); });
}

TEST_P(GpuRun, ResultsAreThoseOfTheCpu) {
  const std::vector<Result> cpu = run_job(jobs(), {"cpu", 1}, nullptr), gpu = run_job(jobs(), {"cuda", 1}, nullptr);
  EXPECT_EQ(cpu.front().backend, "cpu");
  EXPECT_EQ(gpu.front().backend, "cuda");
  expect_the_same(gpu, cpu);
  EXPECT_TRUE(has_latency(gpu));
}

/// A job is stopped after every second epoch. It resumes from its file on the other engine.
TEST_P(GpuRun, AJobResumesOnTheOtherEngine) {
  const std::string path = testing::temporary(".checkpoint");
  std::vector<Result> pieces;
  u32 stops = 0;
  while (pieces.empty()) try {
      u32 epochs = 0;
      pieces = run_job(jobs(), {stops % 2 ? "cpu" : "cuda", 1},
                       [&](const Progress&) {
                         if (++epochs == 2) throw Stop{};
                       },
                       {path, 1e9});
    } catch (const Stop&) {
      ++stops;
    }
  std::filesystem::remove(path);
  EXPECT_GE(stops, 4u);
  expect_the_same(pieces, run_job(jobs(), {"cpu", 1}, nullptr));
}

u32 interrupt_checks = 0;

/// Ctrl-C takes effect within an epoch, and the completed part is kept. The first piece of the epoch has 215 cycles for
/// a T3E (WorkSlicer) on any machine.
TEST(GpuStop, WithinAnEpochTakesEffectAndIsKept) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  const std::vector<Experiment> jobs{
      experiment("router.kind=t3e traffic.load=0.2 run.warmup_cycles=600 run.measure_cycles=600 run.epoch_cycles=600")};
  const std::string path = testing::temporary(".checkpoint");
  interrupt_checks = 0;
  set_interrupt_check([] {
    if (++interrupt_checks == 1) throw Stop{};
  });
  u32 epochs = 0;
  EXPECT_THROW(run_job(jobs, {"cuda", 1}, [&](const Progress&) { ++epochs; }, {path, 1e9}), Stop);
  set_interrupt_check(nullptr);
  EXPECT_EQ(epochs, 0u);
  const std::vector<Result> gpu = run_job(jobs, {"cuda", 1}, nullptr, {path, 1e9});
  std::filesystem::remove(path);
  expect_the_same(gpu, run_job(jobs, {"cpu", 1}, nullptr));
}

INSTANTIATE_TEST_SUITE_P(Models, GpuRun, ::testing::ValuesIn(testing::kinds()));

}  // namespace
}  // namespace flitlab::gpu_run_test
