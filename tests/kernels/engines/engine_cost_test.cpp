/// Estimated costs: which engine a job gets, and how the CUDA engine distributes it. Tests use hand-derived times of
/// round numbers, and jobs for which a wrong choice would be noticeable.
#include "kernels/engines/engine_cost.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "host/run/work_slicer.hpp"
#include "kernels/routers/sconnect/state.hpp"
#include "kernels/routers/vc/state.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"

namespace flitlab {
namespace {

constexpr EngineCost kVc = vc::VcTable::cost, kLanes = vc::VcTable::cost_of_lane_state;
constexpr DeviceSize kH200{132, kBlockThreads}, kTwo{2, 64};
constexpr u32 kCores = 16;

TEST(EngineCost, OfCpusIsDividedAmongThreads) {
  const EngineCost cost{.cpu_ns = 10};
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({100, 1}, 4, cost), 1000);               // small, so one thread
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({100, 8}, 4, cost), 2000);               // 4 threads, two replicas each
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({100, 9}, 4, cost), 3000);               // one thread has the ninth replica, too
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({8192, 1}, 16, cost), 81920.0 / 4);      // 4 threads: parts have at least 2048 routers
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({8192, 2}, 16, cost), 2 * 81920.0 / 4);  // one replica after the other, on 4 threads
}

/// A device of two multiprocessors with blocks of 64 threads. A router has 10 dependent loads, which take 500 ns, and
/// moves 420 bytes, which takes 10 ns.
TEST(EngineCost, OfResidentJobsIsDerivedByHand) {
  const EngineCost cost{.loads = 10, .blocks = 0, .bytes = 420};
  EXPECT_EQ(replicas_of_block({64, 1000}, kTwo, cost), 1u);
  EXPECT_EQ(replicas_of_block({10, 1000}, kTwo, cost), 3u);
  EXPECT_EQ(replicas_of_block({1, 5}, kTwo, cost), 1u);      // fewer than 8 warps on each multiprocessor
  EXPECT_EQ(replicas_of_block({1, 100}, kTwo, cost), 6u);    // 8 warps or more on each
  EXPECT_EQ(replicas_of_block({1, 1000}, kTwo, cost), 32u);  // as many as a warp has threads
  EXPECT_EQ(threads_of_block({64, 5}, kTwo, cost), 64u);
  EXPECT_EQ(threads_of_block({10, 1000}, kTwo, cost), 32u);
  EXPECT_EQ(threads_of_block({1000, 5}, kTwo, cost), 64u);
  const EngineCost with_lists{.block_items = 512};
  EXPECT_EQ(replicas_of_block({64, 100}, kTwo, with_lists), 8u);  // 512 routers
  EXPECT_EQ(replicas_of_block({64, 5}, kTwo, with_lists), 3u);    // a block for each multiprocessor
  EXPECT_EQ(replicas_of_block({1000, 100}, kTwo, with_lists), 1u);
  EXPECT_DOUBLE_EQ(block_cycle_ns({64, 1}, kTwo, cost), 640 + 50);        // busy for 64 x 10 ns, longer than the loads
  EXPECT_DOUBLE_EQ(block_cycle_ns({32, 1}, kTwo, cost), 500 + 50);        // busy for 320 ns, shorter than the loads
  EXPECT_DOUBLE_EQ(block_cycle_ns({32, 4}, kTwo, cost), 640 + 50);        // two blocks on each processor
  EXPECT_DOUBLE_EQ(block_cycle_ns({32, 5}, kTwo, cost), 2 * (640 + 50));  // the fifth block waits for another one
  EXPECT_DOUBLE_EQ(block_cycle_ns({128, 1}, kTwo, cost), 1280 + 50);      // each thread has two routers
}

TEST(EngineCost, OfGridsIsDerivedByHand) {
  const EngineCost cost{.loads = 10, .blocks = 0, .bytes = 420};
  EXPECT_DOUBLE_EQ(grid_cycle_ns({128, 1}, kTwo, cost), 704 + 2000);   // 64 routers on each; a grid takes 10 % more
  EXPECT_DOUBLE_EQ(grid_cycle_ns({32, 1}, kTwo, cost), 500 + 2000);    // one warp, on one processor
  EXPECT_DOUBLE_EQ(grid_cycle_ns({50, 10}, kTwo, cost), 2750 + 2000);  // all replicas: 250 routers on each processor
  EXPECT_EQ(grid_threads({4096, 1}, kH200), 32u);                      // 128 blocks of 32 threads, not 16 of 256
  EXPECT_EQ(grid_threads({32768, 1}, kH200), 256u);
  EXPECT_EQ(grid_threads({5000, 100}, kH200), 256u);
  EXPECT_EQ(grid_threads({5000, 1}, {3, 32}), 32u);
}

TEST(EngineCost, OfAMultiprocessorIsItsSlowestPart) {
  EXPECT_DOUBLE_EQ(busy_ns({.blocks = 0, .bytes = 420}), 10);
  EXPECT_DOUBLE_EQ(busy_ns({.blocks = 35.1, .bytes = 420}), 100);  // 702 instructions at 7.02 per ns
  EXPECT_DOUBLE_EQ(busy_ns({.blocks = 35.1, .bytes = 8400}), 200);
}

/// A single warp executes 32 times 0.1755 basic blocks of 80 clocks: 256 ns.
TEST(EngineCost, AWarpWaitsForItsInstructions) {
  const EngineCost cost{.loads = 2, .blocks = 0.1755, .bytes = 0};
  EXPECT_DOUBLE_EQ(waiting_ns(cost), 256);
  EXPECT_DOUBLE_EQ(waiting_ns({.loads = 6, .blocks = 0.1755, .bytes = 0}), 300);  // the loads take longer
  EXPECT_DOUBLE_EQ(block_cycle_ns({32, 1}, kTwo, cost), 256 + 50);
  EXPECT_DOUBLE_EQ(grid_cycle_ns({64, 1}, kTwo, cost), 256 + 2000);
}

/// A warp group processes 128 routers at 10 ns each, which exceeds 1000 ns of waiting for loads. These are two networks
/// of up to 64 routers, or a part of a large network.
TEST(EngineCost, OfWarpGroupsIsDerivedByHand) {
  const EngineCost cost{.loads = 20, .blocks = 0, .bytes = 420, .warp_group = 128, .warp_groups = 4};
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({64, 1}, kTwo, cost), 1280 + 50);
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({61, 4}, kTwo, cost), 1280 + 50);                // two groups, one on each processor
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({61, 5}, kTwo, cost), 2 * 1280 + 50);            // three groups, two on one of them
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({65, 2}, kTwo, cost), 1280 + 50);                // two groups: one network per group
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({512, 1}, kTwo, cost), 2 * 1280 + 50);           // four warp groups in one block
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({1024, 1}, kTwo, cost), 4 * 1280 + 2000 / 3.0);  // eight warp groups: a grid
  EXPECT_DOUBLE_EQ(lanes_cycle_ns({64, 17}, kTwo, cost), 2 * (4 * 1280 + 50));     // nine groups; the last one waits
  EXPECT_DOUBLE_EQ(
      lanes_cycle_ns({64, 1}, kTwo, {.loads = 40, .blocks = 0, .bytes = 420, .warp_group = 128, .warp_groups = 4}),
      2000 + 50);
  EXPECT_DOUBLE_EQ(
      lanes_cycle_ns({64, 13}, kTwo, {.loads = 20, .blocks = 0, .bytes = 420, .warp_group = 128, .warp_groups = 3}),
      2 * (3 * 1280 + 50));  // seven warp groups, of which six run at once
  EXPECT_DOUBLE_EQ(cuda_cycle_ns({64, 1}, kTwo, cost), kHostNs + 1280 + 50);
}

/// A line of docs/gpu_h200.json about a job measured on CPU and GPU. `model` is empty for other lines.
struct Measured {
  std::string model;
  JobSize job{};
  double cuda = 0, cpu = 0;  ///< measured time of a cycle of the job, ns

  explicit Measured(const std::string& line) {
    const auto number = [&](const char* name) {
      const std::size_t at = line.find("\"" + std::string(name) + "\": ");
      return at == std::string::npos ? 0.0 : std::stod(line.substr(at + std::string(name).size() + 4));
    };
    const std::size_t at = line.find("\"model\": \"");
    if (at == std::string::npos || !number("routers")) return;
    const double rate = number("cuda");
    model = line.substr(at + 10, line.find('"', at + 10) - at - 10);
    job = {static_cast<u32>(number("routers")), static_cast<u32>(number("replicas"))};
    const double router_cycles = 1e9 * job.items * job.replicas;
    cuda = router_cycles / rate, cpu = router_cycles / number("cpu");
  }
};

EngineCost cost_of(const Measured& m) {
  const bool apart = m.model == "vc-scalar";
  RawConfig config = testing::network_of_64(apart ? "vc" : m.model);
  if (apart) config["router.routing_delay"] = std::int64_t{8};
  return make_plan(testing::replicas_of(config, 0.2, 1).front())->facts().cost;
}

/// For every measured model, load and size the estimate chooses the engine that was faster, if it was faster by more
/// than a quarter on an H200 with 16 CPU cores. Estimates for lane state use measured constants and are right to a
/// factor of 1.7.
TEST(EngineCost, ChoosesTheFasterEngine) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "../../../docs/gpu_h200.json");
  u32 jobs = 0, on_the_device = 0;
  for (std::string line; std::getline(file, line);) {
    const Measured m(line);
    if (m.model.empty()) continue;
    ++jobs;
    const EngineCost cost = cost_of(m);
    const double cuda = cuda_cycle_ns(m.job, kH200, cost);
    const bool chosen = cuda < cpu_cycle_ns(m.job, kCores, cost), faster = m.cuda < m.cpu;
    if (std::max(m.cuda, m.cpu) > 1.25 * std::min(m.cuda, m.cpu)) {
      EXPECT_EQ(chosen, faster) << line;
    }
    // Ctrl-C takes effect after the first launch, so the first launch must be short for every job.
    const u32 first = WorkSlicer(cost).piece(u64{m.job.items} * m.job.replicas, kNone);
    EXPECT_LT(first * m.cuda, 0.1e9) << line;
    if (cost.warp_group) {
      EXPECT_LT(std::max(cuda / m.cuda, m.cuda / cuda), 1.7) << line;
    }
    on_the_device += faster;
  }
  EXPECT_GT(jobs, 50u);
  EXPECT_GT(on_the_device, 20u);
  EXPECT_LT(on_the_device, jobs - 20);
}

/// Between the measured sizes the estimates give: sixteen meshes run on the CPU, one per core; a hundred run on the
/// device.
TEST(EngineCost, ManyMeshesInLanesRunOnTheDevice) {
  const auto on_the_device = [](u32 replicas) {
    return cuda_cycle_ns({64, replicas}, kH200, kLanes) < cpu_cycle_ns({64, replicas}, kCores, kLanes);
  };
  EXPECT_FALSE(on_the_device(16));
  for (u32 replicas : {100u, 200u, 352u, 1000u}) EXPECT_TRUE(on_the_device(replicas)) << replicas;
}

TEST(EngineCost, OneSmallMeshStaysOnTheCpu) {
  EXPECT_LT(cpu_cycle_ns({64, 1}, 1, kVc), cuda_cycle_ns({64, 1}, kH200, kVc));
  // A thousand meshes run on the device.
  EXPECT_GT(cpu_cycle_ns({64, 1000}, kCores, kVc), cuda_cycle_ns({64, 1000}, kH200, kVc));
}

/// For S-Connect the estimated times of networks in separate blocks and in one grid are about equal. On an H200 a
/// thousand networks ran faster in separate blocks, so that is what the estimate must choose.
TEST(EngineCost, ManySmallNetworksHaveBlocksOfTheirOwn) {
  for (u32 replicas : {132u, 1000u, 5000u})
    EXPECT_TRUE(runs_in_blocks({64, replicas}, kH200, sconnect::Table::cost)) << replicas;
}

TEST(EngineCost, ALargeTorusUsesManyMultiprocessors) {
  EXPECT_FALSE(runs_in_blocks({4096, 1}, kH200, kVc));
  EXPECT_TRUE(runs_in_blocks({64, 1}, kH200, kVc));
  EXPECT_TRUE(runs_in_blocks({512, 132}, kH200, kVc));
  EXPECT_LT(grid_cycle_ns({4096, 1}, kH200, kVc), block_cycle_ns({4096, 1}, kH200, kVc) / 5);
}

/// A hundred networks of 5000 routers together take little longer than one network of as many routers, and far less
/// than a hundred times as long as a single network.
TEST(EngineCost, ManyNetworksAreNotRunOneAfterTheOther) {
  const double all = cuda_cycle_ns({5000, 100}, kH200, kVc), one = cuda_cycle_ns({5000, 1}, kH200, kVc);
  EXPECT_LT(all, 25 * one);
  EXPECT_NEAR(grid_cycle_ns({5000, 100}, kH200, kVc), grid_cycle_ns({500000, 1}, kH200, kVc), 1);
  EXPECT_LT(all, cpu_cycle_ns({5000, 100}, kCores, kVc) / 2);
}

/// Jobs in blocks share the device like the replicas of one job, beside the host's work for each job. Of the grids with
/// 64 blocks two run at the same time on 132 multiprocessors, of those with 128 blocks one.
TEST(EngineCost, OfJobsAtTheSameTimeIsDerivedFromOne) {
  for (u32 jobs : {1u, 2u, 3u, 32u}) {
    const double host = jobs * kHostNs;
    EXPECT_DOUBLE_EQ(cuda_cycle_ns({64, 20}, kH200, kLanes, jobs),
                     host + lanes_cycle_ns({64, 20 * jobs}, kH200, kLanes));
    EXPECT_DOUBLE_EQ(cuda_cycle_ns({4096, 2}, kH200, kLanes, jobs),
                     host + (jobs + 1) / 2 * lanes_cycle_ns({4096, 2}, kH200, kLanes));
    EXPECT_DOUBLE_EQ(cuda_cycle_ns({64, 20}, kH200, kVc, jobs), host + block_cycle_ns({64, 20 * jobs}, kH200, kVc));
    EXPECT_DOUBLE_EQ(cuda_cycle_ns({4096, 1}, kH200, kVc, jobs), host + jobs * grid_cycle_ns({4096, 1}, kH200, kVc));
    for (u32 items : {8u, 64u, 500u, 4096u, 32768u})  // at most the time of jobs that run one after the other
      for (const EngineCost& cost : {kVc, kLanes})
        EXPECT_LE(cuda_cycle_ns({items, 20}, kH200, cost, jobs),
                  1.001 * jobs * cuda_cycle_ns({items, 20}, kH200, cost));
  }
}

/// Estimated time never decreases with more work and never increases with more multiprocessors.
TEST(EngineCost, IsMonotonous) {
  for (u32 items : {1u, 8u, 64u, 500u, 4096u, 32768u})
    for (u32 replicas : {1u, 3u, 32u, 131u, 132u, 133u, 1000u}) {
      const JobSize job{items, replicas};
      EXPECT_LE(lanes_cycle_ns(job, kH200, kLanes), lanes_cycle_ns({2 * items, replicas}, kH200, kLanes));
      EXPECT_LE(lanes_cycle_ns(job, {264, kBlockThreads}, kLanes), lanes_cycle_ns(job, kH200, kLanes));
      EXPECT_LE(grid_cycle_ns(job, kH200, kVc), grid_cycle_ns({2 * items, replicas}, kH200, kVc));
      EXPECT_LE(grid_cycle_ns({items, replicas}, {264, kBlockThreads}, kVc), grid_cycle_ns(job, kH200, kVc));
      EXPECT_LE(block_cycle_ns(job, {264, kBlockThreads}, kVc), block_cycle_ns(job, kH200, kVc));
      EXPECT_LE(cpu_cycle_ns(job, kCores, kVc), cpu_cycle_ns({items, replicas + 1}, kCores, kVc));
    }
}

}  // namespace
}  // namespace flitlab
