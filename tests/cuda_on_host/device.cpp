/// What the device says of itself.
#include "tests/cuda_on_host/device.hpp"

#include <cstdio>
#include <cstdlib>

#include "cuda_runtime.h"

unsigned cuda_on_host::from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
  }
  return "unknown error";
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::snprintf(properties->name, sizeof properties->name, "CUDA on the host");
  properties->multiProcessorCount = cuda_on_host::kMultiprocessors;
  std::size_t free = 0;
  cudaMemGetInfo(&free, &properties->totalGlobalMem);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? cuda_on_host::kMultiprocessors : cuda_on_host::kSharedBytes;
  return cudaSuccess;
}
/// As much as CUDA_ON_HOST_MEMORY says, in MB; all of it is always free.
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = *all = std::size_t{cuda_on_host::from_environment("CUDA_ON_HOST_MEMORY", 1000)} * 1000000;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
