/// Warp operations and shared memory of the emulated device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "cuda/atomic"
#include "cuda_runtime.h"
#include "tests/cuda_on_host/divergence.hpp"

namespace {

template <class... Arguments>
void launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, void (*kernel)(Arguments...),
            Arguments... arguments) {
  cudaLaunchAttribute cooperative{};
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.attrs = &cooperative;
  config.numAttrs = blocks <= 3;  // multiprocessors
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  ASSERT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
}

/// Words in device memory.
struct Words {
  explicit Words(std::size_t n) : host(n) { cudaMalloc(&device, 4 * n), cudaMemset(device, 0, 4 * n); }
  ~Words() { cudaFree(device); }
  const std::vector<unsigned>& read() {
    cudaMemcpy(host.data(), device, 4 * host.size(), cudaMemcpyDeviceToHost);
    return host;
  }
  std::vector<unsigned> host;
  unsigned* device;
};

unsigned half() { return 0xFFFFu << (threadIdx.x % 32 / 16 * 16); }

__global__ void votes(unsigned* out) {
  const unsigned lane = threadIdx.x % 32, value = 100 * threadIdx.x;
  unsigned* results = out + 4 * threadIdx.x;
  results[0] = __ballot_sync(half(), threadIdx.x % 3 == 0);
  results[1] = static_cast<unsigned>(__any_sync(half(), threadIdx.x == 37));
  results[2] = __shfl_up_sync(half(), value, 2, 16);
  results[3] = __shfl_sync(half(), value, 5, 16);
  if (lane < 8) out[4 * threadIdx.x] += __ballot_sync(0xFF, 1) << 1;  // only some threads of the half warp
}

TEST(GpuWarps, HalvesOfAWarpVoteAndShuffle) {
  Words out(4 * 64);
  launch(1, 64, 0, votes, out.device);
  for (unsigned i = 0; i < 64; ++i) {
    unsigned thirds = 0;
    const unsigned first = i / 16 * 16;
    for (unsigned j = first; j < first + 16; ++j) thirds |= (j % 3 == 0 ? 1u : 0u) << j % 32;
    EXPECT_EQ(out.read()[4 * i], thirds + (i % 32 < 8 ? 0x1FEu : 0u)) << i;
    EXPECT_EQ(out.host[4 * i + 1], first == 32 ? 1u : 0u) << i;
    EXPECT_EQ(out.host[4 * i + 2], 100 * (i % 16 < 2 ? i : i - 2)) << i;
    EXPECT_EQ(out.host[4 * i + 3], 100 * (first + 5)) << i;
  }
}

__global__ void turns(unsigned* out, int synchronised) {
  auto* shared = reinterpret_cast<unsigned*>(cuda_on_host::shared_memory());
  unsigned sum = 0;
  for (unsigned turn = 0; turn < 20; ++turn) {
    shared[threadIdx.x] = turn * threadIdx.x + blockIdx.x;
    if (synchronised) __syncwarp(half());
    sum += shared[threadIdx.x ^ 15];
    __syncwarp(half());
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Each block has its own shared memory, and 16 threads synchronise in any order. Without __syncwarp the results
/// differ.
TEST(GpuWarps, SyncwarpMakesWritesVisible) {
  Words out(3 * 96);
  launch(3, 96, 4 * 96, turns, out.device, 1);
  for (unsigned i = 0; i < 3 * 96; ++i) EXPECT_EQ(out.read()[i], 190 * (i % 96 ^ 15) + 20 * (i / 96)) << i;
  launch(3, 96, 4 * 96, turns, out.device, 0);
  unsigned wrong = 0;
  for (unsigned i = 0; i < 3 * 96; ++i) wrong += out.read()[i] != 190 * (i % 96 ^ 15) + 20 * (i / 96);
  EXPECT_GT(wrong, 100u);
}

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Each block passes a number on to the next one in a ring, 50 times: `words` has a flag and a number for each block.
__global__ void passes_on(unsigned* words) {
  const unsigned from = (blockIdx.x + gridDim.x - 1) % gridDim.x;
  for (unsigned turn = 1; turn <= 50; ++turn) {
    const unsigned expected = blockIdx.x ? turn : turn - 1;
    if (threadIdx.x < 32)
      while (Flag(words[2 * from]).load(cuda::memory_order_acquire) < expected) __nanosleep(20);
    __syncthreads();
    if (threadIdx.x == 40) words[2 * blockIdx.x + 1] = words[2 * from + 1] + 1;
    __syncthreads();
    if (threadIdx.x == 7) Flag(words[2 * blockIdx.x]).store(turn, cuda::memory_order_release);
  }
}
__global__ void polls_forever(unsigned* words) {
  while (!Flag(*words).load(cuda::memory_order_acquire)) __nanosleep(20);
}

TEST(GpuWarps, BlocksThatPollWaitForEachOther) {
  for (const char* seed : {"1", "2", "3", "4"}) {
    setenv("CUDA_ON_HOST_SEED", seed, 1);
    Words words(2 * 3);
    launch(3, 64, 0, passes_on, words.device);
    EXPECT_EQ(words.read()[5], 150u);
  }
  setenv("CUDA_ON_HOST_WITHOUT", "flags", 1);
  Words words(2 * 3);
  launch(3, 64, 0, passes_on, words.device);
  EXPECT_NE(words.read()[5], 150u);
  unsetenv("CUDA_ON_HOST_WITHOUT");
  unsetenv("CUDA_ON_HOST_SEED");
}

__global__ void swaps(unsigned* cell) {
  for (unsigned seen = *cell;;) {
    const unsigned found = atomicCAS(cell, seen, seen + threadIdx.x);
    if (found == seen) return;
    seen = found;
  }
}

__global__ void not_there(unsigned*) {
  if (threadIdx.x < 10) __syncwarp(half());
}
__global__ void another(unsigned* out) {
  if (threadIdx.x < 10)
    __syncwarp(half());
  else
    *out = __ballot_sync(half(), 1);
}
__global__ void not_in_the_mask(unsigned*) { __syncwarp(0xFF00); }
__global__ void no_such_thread(unsigned*) { __syncwarp(); }

TEST(GpuWarps, ErrorsEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Words out(1);
  launch(2, 40, 0, swaps, out.device);
  EXPECT_EQ(out.read()[0], 2u * 780);
  EXPECT_DEATH(launch(1, 16, 0, not_there, out.device), "others of their warps, or for a thread that has ended");
  EXPECT_DEATH(launch(1, 16, 0, another, out.device), "others of their warps");
  EXPECT_DEATH(launch(1, 16, 0, not_in_the_mask, out.device), "not in the mask");
  EXPECT_DEATH(launch(1, 16, 0, no_such_thread, out.device), "a thread that is not there");
  Words never(1);
  EXPECT_DEATH(launch(1, 64, 0, polls_forever, never.device), "poll for a value that no other thread writes");
}

/// Thread 0 executes block a three times, thread 1 executes a once and b twice: the warp issues a three times, b twice.
TEST(GpuWarps, AWarpIssuesABlockAsOftenAsItsBusiestThread) {
  const char a = 0, b = 0;
  cuda_on_host::BasicBlocks threads[2]{{{&a, 3}}, {{&a, 1}, {&b, 2}}};
  cuda_on_host_divergence();            // sets the counts to 0
  for (int pass = 0; pass < 2; ++pass)  // the second pass adds nothing, because the counts of threads were cleared
    cuda_on_host::end_of_warp_phase(2, [&](unsigned thread) -> cuda_on_host::BasicBlocks& { return threads[thread]; });
  const CudaOnHostDivergence found = cuda_on_host_divergence();
  EXPECT_EQ(found.issued, 5u);
  EXPECT_EQ(found.executed, 6u);
}

TEST(GpuWarps, FunnelShift) {
  EXPECT_EQ(__funnelshift_r(0x44332211, 0x88776655, 8), 0x55443322u);
  EXPECT_EQ(__funnelshift_r(0x44332211, 0x88776655, 0), 0x44332211u);
}

}  // namespace
