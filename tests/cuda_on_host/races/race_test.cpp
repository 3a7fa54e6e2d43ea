/// Kernels with and without a data race, run under the thread sanitizer, which reports the race and ends the process.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda_runtime.h"

namespace {

constexpr unsigned kThreads = 64;

/// Two threads write the same word between two barriers. If `apart`, another barrier separates the two writes.
template <void (*kBarrier)()>
__global__ void two_write(unsigned* word, int apart) {
  kBarrier();
  if (threadIdx.x == 0) *word = 1;
  if (apart) kBarrier();
  if (threadIdx.x == kThreads - 1) *word = 2;
  kBarrier();
}

void of_block() { __syncthreads(); }
void named() { __barrier_sync_count(3, kThreads); }
void of_grid() { cuda_on_host::barrier_of_grid(); }

void run(void (*kernel)(unsigned*, int), int apart) {
  unsigned* word;
  cudaMalloc(&word, sizeof *word);
  cudaLaunchAttribute cooperative{};
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kThreads);
  config.attrs = &cooperative;
  config.numAttrs = 1;
  std::exit(cudaLaunchKernelEx(&config, kernel, word, apart) == cudaSuccess ? 0 : 1);
}

TEST(GpuRaces, AreReportedBetweenBarriersOfOneKind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int kReported = 66;  // exit status of the sanitizer
  for (const auto kernel : {two_write<of_block>, two_write<named>, two_write<of_grid>}) {
    EXPECT_EXIT(run(kernel, 0), testing::ExitedWithCode(kReported), "data race");
    EXPECT_EXIT(run(kernel, 1), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
