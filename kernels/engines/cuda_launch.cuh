#pragma once
/// Launches of kernels, checked.
#include <cuda_runtime.h>

#include <utility>

#include "kernels/common/types.hpp"
#include "kernels/engines/cuda_check.cuh"

namespace flitlab {

/// Threads of a block: what the kernel's registers allow, in whole warps.
template <class Kernel>
u32 most_threads(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  FLITLAB_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return static_cast<u32>(attributes.maxThreadsPerBlock) / 32 * 32;
}

/// Of the device in use.
inline u32 multiprocessors() {
  int device = 0, count = 0;
  FLITLAB_CUDA_CHECK(cudaGetDevice(&device));
  FLITLAB_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<u32>(count);
}

/// `cooperative`: all blocks run at the same time, and have barriers together.
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), u32 blocks, u32 threads, bool cooperative, Arguments&&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = cooperative;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  config.numAttrs = 1;
  FLITLAB_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

/// A thread for each of `n`, without barriers.
template <class... Parameters, class... Arguments>
void launch_for_each(void (*kernel)(Parameters...), u64 n, Arguments&&... arguments) {
  const u32 threads = most_threads(kernel) < 256 ? most_threads(kernel) : 256;
  if (n)
    launch_kernel(kernel, static_cast<u32>((n + threads - 1) / threads), threads, false,
                  std::forward<Arguments>(arguments)...);
}

}  // namespace flitlab
