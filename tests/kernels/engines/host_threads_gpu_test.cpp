/// CUDA engines in several host threads, as the jobs of a sweep, on a GPU and on the device that the host emulates
/// (tests/cuda_on_host). Skipped, with the reason, if neither exists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "kernels/common/error.hpp"
#include "kernels/engines/device.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/results.hpp"
#include "tests/support/same.hpp"

namespace flitlab::host_threads_gpu_test {
namespace {

using namespace testing;

class GpuHostThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  }
  void TearDown() override { unsetenv("CUDA_ON_HOST_MEMORY"); }
};

/// Plans with lane state, with scalar state and of other models: networks in blocks of threads and one in a grid.
std::vector<RawConfig> plans() {
  return {Settings("topology.shape=[4,4] traffic.load=0.3"),
          Settings("topology.shape=[5,5] traffic.load=0.3 router.routing_delay=8"),
          Settings("topology.shape=[24,24] traffic.load=0.2"),
          Settings("router.kind=bless topology.shape=[6,6] traffic.load=0.2"),
          Settings("router.kind=metro traffic.load=0.2")};
}

TEST_F(GpuHostThreads, EnginesOfDifferentPlansAgreeWithTheCpu) {
  constexpr u32 kReplicas = 2;
  const std::vector<u32> all{0, 1};
  std::vector<std::thread> threads;
  for (const RawConfig& config : plans())
    threads.emplace_back([&all, config] {
      std::vector<Experiment> replicas;
      for (u32 seed = 1; seed <= kReplicas; ++seed) {
        RawConfig of_seed = config;
        of_seed["run.seed"] = integer(seed);
        replicas.push_back(experiment(of_seed));
      }
      const auto plan = make_plan(replicas.front());
      const auto gpu = plan->make_engine(replicas, {"cuda", 1}), cpu = plan->make_engine(replicas, {"cpu", 1});
      measure_until(120, {gpu.get(), cpu.get()});
      for (u32 piece = 0; piece < 8; ++piece) {
        for (Engine* engine : {gpu.get(), cpu.get()}) {
          engine->advance(20, all);
          engine->totals(all);
          for (const FaultReport& report : engine->audits(all)) EXPECT_EQ(report.bits, 0u);
        }
        for (u32 r : all) ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu, *cpu, r)) << replicas[r].structure_key();
      }
      EXPECT_GT(measured(*gpu), 0u) << replicas.front().structure_key();
    });
  for (std::thread& thread : threads) thread.join();
}

/// An engine may be made in one thread and used in others.
TEST_F(GpuHostThreads, AnEngineMovesFromThreadToThread) {
  const Experiment e = experiment("traffic.load=0.3");
  Network cpu(e);
  std::unique_ptr<Network> gpu;
  std::thread([&] { gpu = std::make_unique<Network>(e, EngineChoice{"cuda", 1}); }).join();
  measure_until(150, {gpu->engine.get(), cpu.engine.get()});
  for (u32 piece = 0; piece < 4; ++piece) {
    cpu.step(40);
    std::thread([&] { gpu->step(40); }).join();
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu->engine, *cpu.engine));
    std::thread([&] { gpu->engine->set_state(0, cpu.engine->state(0)); }).join();
  }
  EXPECT_GT(measured(*gpu->engine), 0u);
}

TEST_F(GpuHostThreads, JobsAtTheSameTimeHaveTheResultsOfTheCpu) {
  std::vector<std::vector<Experiment>> jobs;
  for (u32 vcs : {2u, 3u, 4u}) {
    jobs.emplace_back();
    for (const double load : {0.1, 0.4})
      jobs.back().push_back(experiment(
          Settings{"router.vcs=", vcs, " traffic.load=", load,
                   " run.warmup_cycles=100 run.measure_cycles=200 run.drain_cycles=100 run.epoch_cycles=50"}));
  }
  std::vector<std::vector<Result>> results(jobs.size());
  std::vector<std::thread> threads;
  for (std::size_t job = 0; job < jobs.size(); ++job)
    threads.emplace_back([&, job] { results[job] = run_job(jobs[job], {"cuda", 1}, nullptr); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t job = 0; job < jobs.size(); ++job)
    expect_the_same(results[job], run_job(jobs[job], {"cpu", 1}, nullptr));
}

/// A job beside others does not use less memory by giving up lane state. It fails with DeviceFull, and fits when the
/// other one has ended.
TEST_F(GpuHostThreads, AJobThatDoesNotFitBesideAnotherFailsWithDeviceFull) {
  if (!device_calls()) GTEST_SKIP() << "needs a build with FLITLAB_CUDA=HOST";
  const std::vector<Experiment> replicas(3, experiment("topology.shape=[48,48] traffic.load=0.2"));
  const auto plan = make_plan(replicas.front());
  const EngineChoice beside{.backend = "cuda", .threads = 1, .beside_others = true};
  const u64 before = cuda_free_memory();
  auto other = plan->make_engine(replicas, beside);
  const u64 with_lanes = before - cuda_free_memory();
  ASSERT_GT(with_lanes, cuda_bytes(plan->layout()) * replicas.size() * 5 / 4);  // lane state is a second copy
  // Memory for another engine without lane state, and for no other engine; in addition the room that an engine leaves.
  const u64 canonical = cuda_bytes(plan->layout()) * replicas.size(), room = 5000000;
  for (const u64 bytes : {with_lanes + canonical + 1000000, with_lanes}) {
    setenv("CUDA_ON_HOST_MEMORY", std::to_string((bytes + room) / 1000000).c_str(), 1);
    EXPECT_THROW(plan->make_engine(replicas, beside), DeviceFull) << bytes;
  }
  EXPECT_THROW(choose_engine(*plan, 300, beside), DeviceFull);
  EXPECT_THROW(choose_engine(*plan, 300, {"cuda"}), ConfigError);  // with the number of replicas that fit
  other.reset();
  const u64 free = cuda_free_memory();
  other = plan->make_engine(replicas, beside);
  EXPECT_EQ(free - cuda_free_memory(), with_lanes);
}

/// A sweep's job has an estimate for all jobs of its size, and a limit by free memory only when it starts.
TEST_F(GpuHostThreads, TheEngineOfAJobDependsOnTheJobsBesideIt) {
  if (!device_calls()) GTEST_SKIP() << "needs a build with FLITLAB_CUDA=HOST";
  const Experiment e = experiment("topology.shape=[8,8]");
  const auto backend = [&](u32 replicas, u32 jobs) {
    return engine_of_job(e, replicas, {.backend = "auto", .threads = 1, .jobs = jobs}).backend;
  };
  EXPECT_EQ(backend(1, 1), "cpu");
  EXPECT_EQ(backend(1000, 1), "cuda");
  u32 replicas = 1;
  while (backend(replicas, 1) == "cpu") ++replicas;
  EXPECT_EQ(backend(replicas - 1, 32), "cuda");
  setenv("CUDA_ON_HOST_MEMORY", "1", 1);
  EXPECT_EQ(backend(1000, 1), "cuda");
  EXPECT_EQ(engine_of_job(e, 1, {"cpu"}).backend, "cpu");
  EXPECT_EQ(engine_of_job(e, 1, {"cpu"}).device_bytes, cuda_bytes(make_plan(e)->layout()));
}

}  // namespace
}  // namespace flitlab::host_threads_gpu_test
