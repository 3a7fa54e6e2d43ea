#pragma once
/// Error check of CUDA calls; the error message contains the call and CUDA's own message.
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
