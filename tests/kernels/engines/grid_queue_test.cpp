/// The queue of cooperative launches: grids that run at the same time have at most as many blocks as the device has
/// multiprocessors, or one grid runs alone.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "kernels/engines/grid_queue.hpp"

namespace flitlab::grid_queue_test {
namespace {

constexpr u32 kMultiprocessors = 4;

TEST(GridQueue, GridsThatRunAtATimeFitTheDevice) {
  std::atomic<u32> blocks{0}, grids{0}, most{0}, ended{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (u32 size : {1u, 2u, 3u, 4u, 9u})
    threads.emplace_back([&, size] {
      for (u32 launch = 0; launch < 200; ++launch) {
        const GridQueue::Turn turn(size, kMultiprocessors);
        const u32 all = blocks += size, others = grids++;
        if (all > kMultiprocessors && others) exceeded = true;
        most = std::max(most.load(), all);
        std::this_thread::yield();
        --grids;
        blocks -= size;
        ++ended;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(most, 9u);
  EXPECT_EQ(ended, 1000u);
}

/// Two grids that fit together run at the same time. A third one starts when one of them has ended.
TEST(GridQueue, GridsThatFitRunTogether) {
  std::atomic<bool> third{false};
  std::thread waits;
  {
    const GridQueue::Turn one(2, kMultiprocessors);
    const GridQueue::Turn two(2, kMultiprocessors);
    waits = std::thread([&] {
      const GridQueue::Turn turn(1, kMultiprocessors);
      third = true;
    });
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_FALSE(third);
  }
  waits.join();
  EXPECT_TRUE(third);
}

/// Launches without grid barriers do not wait, even while a grid occupies the device.
TEST(GridQueue, OtherLaunchesDoNotWait) {
  const GridQueue::Turn grid(9, kMultiprocessors);
  const GridQueue::Turn other(0, kMultiprocessors);
}

}  // namespace
}  // namespace flitlab::grid_queue_test
