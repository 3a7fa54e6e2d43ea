#pragma once
/// Properties of the emulated device.
#include <cstddef>

namespace cuda_on_host {

inline constexpr int kMultiprocessors = 3;

/// Returns the size of the device memory in bytes, from CUDA_ON_HOST_MEMORY (in MB).
std::size_t device_bytes();

/// Returns the value of an environment variable, or `otherwise` if it is not set.
unsigned from_environment(const char* name, unsigned otherwise);

}  // namespace cuda_on_host
