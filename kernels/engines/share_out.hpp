#pragma once
#include <cstddef>
#include <functional>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Calls work(i, thread) for all i below `count`, divided among up to `threads` threads. Rethrows the first exception.
void share_out(std::size_t count, u32 threads, const std::function<void(std::size_t, u32)>& work);

}  // namespace flitlab
