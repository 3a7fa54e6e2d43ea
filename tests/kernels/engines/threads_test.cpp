/// Either all threads of a group start, or the error gives the reason and the started threads end without work.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "kernels/common/error.hpp"
#include "kernels/engines/thread_group.hpp"

namespace flitlab::engines_threads_test {
namespace {

TEST(Threads, EachRunsOnce) {
  std::array<std::atomic<int>, 5> runs{};
  run_on_threads(5, [&](u32 thread) { ++runs[thread]; });
  for (const auto& n : runs) EXPECT_EQ(n, 1);
  run_on_threads(1, [&](u32 thread) { ++runs[thread]; });
  EXPECT_EQ(runs[0], 2);
}

/// No thread passes a barrier before all threads have arrived; then all pass it. This holds whether threads spin or,
/// because one is late, sleep.
TEST(Threads, ABarrierWaitsForALateThread) {
  constexpr u32 kThreads = 3, kRounds = 300;
  SpinBarrier barrier(kThreads);
  // A thread writes its element before the first of two barriers; all threads read the elements between them.
  std::array<u32, kThreads> round{};
  std::atomic<u32> wrong{0};
  run_on_threads(kThreads, [&](u32 me) {
    for (u32 r = 1; r <= kRounds; ++r) {
      if (r % 10 == 0 && r / 10 % kThreads == me) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      round[me] = r;
      barrier.wait();
      for (const u32 of : round) wrong += of != r;
      barrier.wait();
    }
  });
  EXPECT_EQ(wrong, 0u);
}

TEST(Threads, NoThreadWorksIfOneCannotStart) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve the whole address space";
#endif
  u64 pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (!pages) GTEST_SKIP() << "no /proc";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = pages * 4096 + (u64{100} << 20);  // space for the stacks of some of the threads
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  if (mmap(nullptr, std::size_t{1} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
    setrlimit(RLIMIT_AS, &before);
    GTEST_SKIP() << "memory limits have no effect here, as under a processor emulator";
  }
  std::atomic<u32> ran{0};
  std::string why;
  try {
    run_on_threads(200, [&](u32) { ++ran; });
  } catch (const RunError& error) {
    why = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(why.rfind("200 threads cannot be started: ", 0), 0u) << why;
  EXPECT_EQ(ran, 0u);
}

}  // namespace
}  // namespace flitlab::engines_threads_test
