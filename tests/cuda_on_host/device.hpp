#pragma once
/// What the device is.

namespace cuda_on_host {

inline constexpr int kMultiprocessors = 3;

unsigned from_environment(const char* name, unsigned otherwise);

}  // namespace cuda_on_host
