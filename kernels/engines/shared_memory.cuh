#pragma once
/// The shared memory of a block of threads: as much as its launch asks for.
#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/common/types.hpp"

namespace flitlab {

__device__ inline std::byte* shared_memory() {
#if defined(CUDA_ON_HOST)  // C++ knows no variables of a block (tests/cuda_on_host)
  return cuda_on_host::shared_memory();
#else
  extern __shared__ uint4 flitlab_shared[];
  return reinterpret_cast<std::byte*>(flitlab_shared);
#endif
}

/// The same number, of which the compiler does not know that it is. So what is worked out from it, addresses mostly, is
/// worked out where it is needed, and not kept in registers meanwhile, of which there are too few.
__device__ __forceinline__ u32 anew(u32 number) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(number));
#endif
  return number;
}

}  // namespace flitlab
