#pragma once
#include "cuda_runtime.h"

namespace cub {

struct DeviceReduce {
  /// If `scratch` is null, sets `bytes` to the size of the scratch memory, like CUB.
  template <class Terms, class T, class N>
  static cudaError_t Sum(void* scratch, std::size_t& bytes, Terms terms, T* sum, N n) {
    if (!scratch) {
      bytes = 1;
      return cudaSuccess;
    }
    cuda_on_host::on_device([&] {
      *sum = 0;
      for (N i = 0; i < n; ++i) *sum += terms[i];
    });
    return cudaSuccess;
  }
};

}  // namespace cub
