#pragma once
/// What the emulated device was asked for (tests/cuda_on_host), where the build has it.
#include <dlfcn.h>

#include <optional>

#include "tests/cuda_on_host/calls.hpp"

namespace flitlab::testing {

/// Since the last call of this. Nothing: the device is another one, which does not count, or there is none.
inline std::optional<CudaOnHostCalls> device_calls() {
  const auto calls = reinterpret_cast<CudaOnHostCalls (*)()>(dlsym(RTLD_DEFAULT, "cuda_on_host_calls"));
  if (!calls) return {};
  return calls();
}

}  // namespace flitlab::testing
