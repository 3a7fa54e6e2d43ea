#pragma once
/// Every CUDA call is checked; what fails names the call and CUDA's own words.
#include <cuda_runtime.h>

#include <string>

#include "kernels/common/error.hpp"

namespace flitlab {

inline void cuda_check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw RunError(std::string("CUDA: ") + call + " failed: " + cudaGetErrorString(status) + ".");
}

#define FLITLAB_CUDA_CHECK(call) ::flitlab::cuda_check((call), #call)

}  // namespace flitlab
