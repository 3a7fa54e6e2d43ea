/// Kernels of which it is known what their warps do.
#include <gtest/gtest.h>

#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_on_host/counts.hpp"

namespace {

/// 32-bit words on the device.
struct Words {
  explicit Words(std::size_t n) { cudaMalloc(&data, n * 4), cudaMemset(data, 0, n * 4); }
  ~Words() { cudaFree(data); }
  int* data;
};

template <class... Arguments>
CudaOnHostCounts counts_of(unsigned threads, void (*kernel)(Arguments...), Arguments... arguments) {
  cuda_on_host_counts();
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(threads);
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
  return cuda_on_host_counts();
}

__global__ void neighbours(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

TEST(GpuCounts, NeighboursShareSectors) {
  const Words in(64), out(64);
  const CudaOnHostCounts c = counts_of<const int*, int*>(64, neighbours, in.data, out.data);
  EXPECT_EQ(c.lane_blocks, 32 * c.warp_blocks);
  EXPECT_EQ(c.loads, 64u);
  EXPECT_EQ(c.warp_loads, 2u);
  EXPECT_EQ(c.load_sectors, 8u);  // two warps of 128 bytes
  EXPECT_EQ(c.load_bytes, 256u);
  EXPECT_EQ(c.stores, 64u);
  EXPECT_EQ(c.warp_stores, 2u);
  EXPECT_EQ(c.store_sectors, 8u);
  EXPECT_EQ(c.atomics, 0u);
  EXPECT_EQ(c.longest, 1u);
}

__global__ void strided(const int* in, int* out) {
  if (threadIdx.x % 4 == 0) out[threadIdx.x] = in[100 * threadIdx.x] + in[100 * threadIdx.x + 8];
}

TEST(GpuCounts, EveryFourthLaneTakesItsOwnSectors) {
  const Words in(3200), out(32);
  const CudaOnHostCounts c = counts_of<const int*, int*>(32, strided, in.data, out.data);
  EXPECT_EQ(c.loads, 16u);
  EXPECT_EQ(c.warp_loads, 2u);
  EXPECT_EQ(c.load_sectors, 16u);
  EXPECT_EQ(c.stores, 8u);
  EXPECT_EQ(c.store_sectors, 4u);
  EXPECT_EQ(c.longest, 2u);
  EXPECT_LT(c.lane_blocks, 32 * c.warp_blocks);
}

/// Lane n goes round n times: a warp as often as its last lane, 31 times, of which half are useful.
__global__ void unequal(const int* in, int* out) {
  int sum = 0;
  for (unsigned i = 0; i < threadIdx.x; ++i) sum += in[sum + i];
  out[threadIdx.x] = sum;
}

TEST(GpuCounts, AWarpGoesAsOftenAsItsBusiestLane) {
  const Words in(64), out(64);
  const CudaOnHostCounts c = counts_of<const int*, int*>(32, unequal, in.data, out.data);
  EXPECT_EQ(c.loads, 31u * 32 / 2);
  EXPECT_EQ(c.warp_loads, 31u);
  EXPECT_EQ(c.longest, 31u);
  EXPECT_NEAR(static_cast<double>(c.lane_blocks) / static_cast<double>(c.warp_blocks), 16, 2);
}

__global__ void barriers(const int* in, int* out) {
  if (threadIdx.x == 0) out[0] = in[0] + in[8] + in[16];
  __syncthreads();
  if (threadIdx.x == 40) out[1] = in[24];
  atomicAdd(out + 2, 1);
}

TEST(GpuCounts, LanesThatAreLongestAreTakenFromBarrierToBarrier) {
  const Words in(32), out(32);
  const CudaOnHostCounts c = counts_of<const int*, int*>(64, barriers, in.data, out.data);
  EXPECT_EQ(c.longest, 4u);
  EXPECT_EQ(c.loads, 4u);
  EXPECT_EQ(c.atomics, 64u);
}

struct Given {
  int numbers[16];
};

__global__ void with_own_array(Given given, const int* in, int* out) {
  volatile int own[4] = {1, 2, 3, 4};
  out[threadIdx.x] = own[in[threadIdx.x]] + given.numbers[in[threadIdx.x]];
}

TEST(GpuCounts, OwnVariablesAndArgumentsAreNotMemoryOfTheDevice) {
  const Words in(32), out(32);
  const CudaOnHostCounts c = counts_of<Given, const int*, int*>(32, with_own_array, Given{}, in.data, out.data);
  EXPECT_EQ(c.loads, 32u);
  EXPECT_EQ(c.load_sectors, 4u);
  EXPECT_EQ(c.stores, 32u);
}

}  // namespace
