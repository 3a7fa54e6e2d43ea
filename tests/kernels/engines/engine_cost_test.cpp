/// Which engine a job gets, and how the CUDA engine spreads it: hand-derived times of round numbers, and the choices
/// that users would notice if they were wrong.
#include "kernels/engines/engine_cost.hpp"

#include <gtest/gtest.h>

#include "kernels/routers/sconnect/state.hpp"

namespace flitlab {
namespace {

constexpr EngineCost kVc{.cpu_ns = 25, .loads = 174, .blocks = 12, .bytes = 3000};
constexpr DeviceSize kH200{132, kBlockThreads}, kTwo{2, 64};
constexpr u32 kCores = 16;

TEST(EngineCost, OfCpusIsDividedAmongThreads) {
  const EngineCost cost{.cpu_ns = 10};
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({100, 1}, 4, cost), 1000);               // small: one thread
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({100, 8}, 4, cost), 2000);               // two rounds of four replicas
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({100, 9}, 4, cost), 3000);               // the ninth alone
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({8192, 1}, 16, cost), 81920.0 / 4);      // parts of 2048 routers
  EXPECT_DOUBLE_EQ(cpu_cycle_ns({8192, 2}, 16, cost), 2 * 81920.0 / 4);  // one replica after the other
}

/// Two multiprocessors with blocks of 64 threads; a router has 10 loads in line, 500 ns, and moves 420 bytes, 10 ns.
TEST(EngineCost, OfResidentJobsIsDerivedByHand) {
  const EngineCost cost{.loads = 10, .blocks = 0, .bytes = 420};
  EXPECT_EQ(replicas_of_block({64, 1000}, kTwo), 1u);
  EXPECT_EQ(replicas_of_block({10, 1000}, kTwo), 3u);
  EXPECT_EQ(replicas_of_block({1, 5}, kTwo), 1u);      // before there are eight warps on each multiprocessor
  EXPECT_EQ(replicas_of_block({1, 100}, kTwo), 6u);    // as soon as there are
  EXPECT_EQ(replicas_of_block({1, 1000}, kTwo), 32u);  // a warp
  EXPECT_EQ(threads_of_block({64, 5}, kTwo), 64u);
  EXPECT_EQ(threads_of_block({10, 1000}, kTwo), 32u);
  EXPECT_EQ(threads_of_block({1000, 5}, kTwo), 64u);
  EXPECT_DOUBLE_EQ(resident_cycle_ns({64, 1}, kTwo, cost), 640 + 50);        // 64 routers by 10 ns outlast 500 ns
  EXPECT_DOUBLE_EQ(resident_cycle_ns({32, 1}, kTwo, cost), 500 + 50);        // 320 ns do not
  EXPECT_DOUBLE_EQ(resident_cycle_ns({32, 4}, kTwo, cost), 640 + 50);        // two blocks on each multiprocessor
  EXPECT_DOUBLE_EQ(resident_cycle_ns({32, 5}, kTwo, cost), 2 * (640 + 50));  // the fifth waits
  EXPECT_DOUBLE_EQ(resident_cycle_ns({128, 1}, kTwo, cost), 1280 + 50);      // threads have two routers each
}

TEST(EngineCost, OfGridsIsDerivedByHand) {
  const EngineCost cost{.loads = 10, .blocks = 0, .bytes = 420};
  EXPECT_DOUBLE_EQ(grid_cycle_ns({128, 1}, kTwo, cost), 704 + 2000);   // 64 routers on each, a tenth longer
  EXPECT_DOUBLE_EQ(grid_cycle_ns({32, 1}, kTwo, cost), 500 + 2000);    // one warp, on one
  EXPECT_DOUBLE_EQ(grid_cycle_ns({50, 10}, kTwo, cost), 2750 + 2000);  // all replicas together: 250 on each
  EXPECT_EQ(grid_threads({4096, 1}, kH200), 32u);                      // 128 blocks, not 16 of 256
  EXPECT_EQ(grid_threads({32768, 1}, kH200), 256u);
  EXPECT_EQ(grid_threads({5000, 100}, kH200), 256u);
  EXPECT_EQ(grid_threads({5000, 1}, {3, 32}), 32u);
}

TEST(EngineCost, OfAMultiprocessorIsItsSlowestPart) {
  EXPECT_DOUBLE_EQ(busy_ns({.blocks = 0, .bytes = 420}), 10);
  EXPECT_DOUBLE_EQ(busy_ns({.blocks = 35.1, .bytes = 420}), 100);  // 702 instructions, 7.02 in a nanosecond
  EXPECT_DOUBLE_EQ(busy_ns({.blocks = 35.1, .bytes = 8400}), 200);
}

/// A warp that is alone goes through 32 times 0.1755 blocks of 80 clocks: 256 ns.
TEST(EngineCost, AWarpWaitsForItsInstructions) {
  const EngineCost cost{.loads = 2, .blocks = 0.1755, .bytes = 0};
  EXPECT_DOUBLE_EQ(waiting_ns(cost), 256);
  EXPECT_DOUBLE_EQ(waiting_ns({.loads = 6, .blocks = 0.1755, .bytes = 0}), 300);  // for loads longer
  EXPECT_DOUBLE_EQ(resident_cycle_ns({32, 1}, kTwo, cost), 256 + 50);
  EXPECT_DOUBLE_EQ(grid_cycle_ns({64, 1}, kTwo, cost), 256 + 2000);
}

/// 64 routers are 16 threads, two networks a warp, and a warp has 128 routers by 0.1755 blocks: 1024 ns.
TEST(EngineCost, InLanesAThreadHasSeveralRouters) {
  const EngineCost cost{.loads = 2, .blocks = 0.1755, .bytes = 0, .of_a_thread = 4};
  EXPECT_DOUBLE_EQ(cuda_cycle_ns({64, 1}, kH200, cost), kHostNs + 1024 + 50);
  EXPECT_DOUBLE_EQ(cuda_cycle_ns({61, 264}, kH200, cost), kHostNs + 1024 + 50);
  // A block of 256 threads has 1024 routers at a time; a grid is worth its barrier where a block would need four turns.
  EXPECT_DOUBLE_EQ(cuda_cycle_ns({1024, 1}, kH200, cost), kHostNs + 1024 + 50);
  EXPECT_DOUBLE_EQ(cuda_cycle_ns({4096, 1}, kH200, cost), kHostNs + 1024 + 2000);
}

TEST(EngineCost, OneSmallMeshStaysOnTheCpu) {
  EXPECT_LT(cpu_cycle_ns({64, 1}, 1, kVc), cuda_cycle_ns({64, 1}, kH200, kVc));
  EXPECT_GT(cpu_cycle_ns({64, 1000}, kCores, kVc), cuda_cycle_ns({64, 1000}, kH200, kVc));  // a thousand do not
}

/// Of S-Connect both ways take about as long but for that: in blocks a thousand networks were faster on an H200.
TEST(EngineCost, ManySmallNetworksHaveBlocksOfTheirOwn) {
  for (u32 replicas : {132u, 1000u, 5000u})
    EXPECT_TRUE(is_resident({64, replicas}, kH200, sconnect::Table::cost)) << replicas;
}

TEST(EngineCost, ALargeTorusIsNotOneMultiprocessors) {
  EXPECT_FALSE(is_resident({4096, 1}, kH200, kVc));
  EXPECT_TRUE(is_resident({64, 1}, kH200, kVc));
  EXPECT_TRUE(is_resident({512, 132}, kH200, kVc));
  EXPECT_LT(grid_cycle_ns({4096, 1}, kH200, kVc), resident_cycle_ns({4096, 1}, kH200, kVc) / 5);
}

/// A hundred networks of 5000 routers: together they take little longer than their routers in one network, and not a
/// hundred times as long as one.
TEST(EngineCost, ManyNetworksAreNotRunOneAfterTheOther) {
  const double all = cuda_cycle_ns({5000, 100}, kH200, kVc), one = cuda_cycle_ns({5000, 1}, kH200, kVc);
  EXPECT_LT(all, 25 * one);
  EXPECT_NEAR(grid_cycle_ns({5000, 100}, kH200, kVc), grid_cycle_ns({500000, 1}, kH200, kVc), 1);
  EXPECT_LT(all, cpu_cycle_ns({5000, 100}, kCores, kVc) / 2);
}

/// More work never takes less time, and more multiprocessors never more.
TEST(EngineCost, IsMonotonous) {
  for (u32 items : {1u, 8u, 64u, 500u, 4096u, 32768u})
    for (u32 replicas : {1u, 3u, 32u, 131u, 132u, 133u, 1000u}) {
      const JobSize job{items, replicas};
      EXPECT_LE(grid_cycle_ns(job, kH200, kVc), grid_cycle_ns({2 * items, replicas}, kH200, kVc));
      EXPECT_LE(grid_cycle_ns({items, replicas}, {264, kBlockThreads}, kVc), grid_cycle_ns(job, kH200, kVc));
      EXPECT_LE(resident_cycle_ns(job, {264, kBlockThreads}, kVc), resident_cycle_ns(job, kH200, kVc));
      EXPECT_LE(cpu_cycle_ns(job, kCores, kVc), cpu_cycle_ns({items, replicas + 1}, kCores, kVc));
    }
}

}  // namespace
}  // namespace flitlab
