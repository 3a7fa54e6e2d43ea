/// Whether there is a device to run on.
#include <cuda_runtime.h>

#include <string>

#include "kernels/engines/make_engine.hpp"

namespace flitlab {

std::string cuda_unavailable() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("no CUDA device answers (") + cudaGetErrorString(status) + ").";
  return count ? "" : "there is no CUDA device in this machine.";
}

}  // namespace flitlab
