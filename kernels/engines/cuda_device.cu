/// CUDA devices: availability, list, free memory.
#include <cuda_runtime.h>

#include <string>

#include "kernels/engines/cuda_check.cuh"
#include "kernels/engines/device.hpp"
#include "kernels/engines/make_engine.hpp"

namespace flitlab {

std::string cuda_unavailable() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("CUDA finds no device (") + cudaGetErrorString(status) + ").";
  return count ? "" : "this machine has no CUDA device.";
}

std::vector<CudaDevice> cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<CudaDevice> devices;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p{};
    FLITLAB_CUDA_CHECK(cudaGetDeviceProperties(&p, device));
    devices.push_back({p.name, static_cast<u32>(p.multiProcessorCount), p.totalGlobalMem});
  }
  return devices;
}

u64 cuda_free_memory() {
  std::size_t free = 0, all = 0;
  FLITLAB_CUDA_CHECK(cudaMemGetInfo(&free, &all));
  return free;
}

}  // namespace flitlab
