#pragma once
/// The shared memory of a block of threads: as much as its launch asks for.
#include <cuda_runtime.h>

#include <cstddef>

namespace flitlab {

__device__ inline std::byte* shared_memory() {
#if defined(CUDA_ON_HOST)  // C++ knows no variables of a block (tests/cuda_on_host)
  return cuda_on_host::shared_memory();
#else
  extern __shared__ uint4 flitlab_shared[];
  return reinterpret_cast<std::byte*>(flitlab_shared);
#endif
}

}  // namespace flitlab
