#pragma once
/// Access to the dynamic shared memory of a block of threads; its size is set at launch.
#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/common/types.hpp"

namespace flitlab {

__device__ inline std::byte* shared_memory() {
#if defined(CUDA_ON_HOST)  // C++ has no block-scoped variables (tests/cuda_on_host)
  return cuda_on_host::shared_memory();
#else
  extern __shared__ uint4 flitlab_shared[];
  return reinterpret_cast<std::byte*>(flitlab_shared);
#endif
}

/// Returns `number`, opaque to the compiler. Values derived from it (mostly addresses) are then recomputed where they
/// are needed, instead of being kept in registers, which are scarce.
__device__ __forceinline__ u32 opaque(u32 number) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(number));
#endif
  return number;
}

}  // namespace flitlab
