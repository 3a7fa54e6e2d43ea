#pragma once
/// Kernel launches with error checks.
#include <cuda_runtime.h>

#include <utility>

#include "kernels/common/types.hpp"
#include "kernels/engines/cuda_check.cuh"

namespace flitlab {

/// Returns the largest block of threads that the kernel's registers allow, in whole warps.
template <class Kernel>
u32 most_threads(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  FLITLAB_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return static_cast<u32>(attributes.maxThreadsPerBlock) / 32 * 32;
}

/// Returns an attribute of the device in use.
inline u32 device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  FLITLAB_CUDA_CHECK(cudaGetDevice(&device));
  FLITLAB_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return static_cast<u32>(value);
}
inline u32 multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// Returns the blocks that the device runs at the same time, at least one per multiprocessor.
template <class Kernel>
u32 blocks_at_once(Kernel* kernel, u32 threads, u32 shared_bytes) {
  int each = 0;
  FLITLAB_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(threads), shared_bytes));
  return multiprocessors() * static_cast<u32>(each < 1 ? 1 : each);
}

/// Launches a kernel. `cooperative`: all blocks run at the same time and can use grid barriers. `shared_bytes`: shared
/// memory per block.
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), u32 blocks, u32 threads, u32 shared_bytes, bool cooperative,
                   Arguments&&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = cooperative;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  FLITLAB_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

/// Launches one thread for each of `n` elements, without barriers.
template <class... Parameters, class... Arguments>
void launch_for_each(void (*kernel)(Parameters...), u64 n, Arguments&&... arguments) {
  const u32 threads = most_threads(kernel) < 256 ? most_threads(kernel) : 256;
  if (n)
    launch_kernel(kernel, static_cast<u32>((n + threads - 1) / threads), threads, 0, false,
                  std::forward<Arguments>(arguments)...);
}

}  // namespace flitlab
