#pragma once
/// Counts of calls to the emulated device (tests/cuda_on_host), in builds that have that device.
#include <dlfcn.h>

#include <optional>

#include "tests/cuda_on_host/calls.hpp"

namespace flitlab::testing {

/// Returns the counts since the last call of this function. The result is empty if there is no device, or if the device
/// does not count.
inline std::optional<CudaOnHostCalls> device_calls() {
  const auto calls = reinterpret_cast<CudaOnHostCalls (*)()>(dlsym(RTLD_DEFAULT, "cuda_on_host_calls"));
  if (!calls) return {};
  return calls();
}

}  // namespace flitlab::testing
