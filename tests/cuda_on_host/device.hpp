#pragma once
/// What the device is.
#include <cstddef>

namespace cuda_on_host {

inline constexpr int kMultiprocessors = 3;

/// Memory: as much as CUDA_ON_HOST_MEMORY says, in MB.
std::size_t device_bytes();

unsigned from_environment(const char* name, unsigned otherwise);

}  // namespace cuda_on_host
