#pragma once
#include <cstddef>
#include <functional>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Calls work(i, thread) for all i below `count`, each on one of so many threads. Throws what one of them has thrown.
void share_out(std::size_t count, u32 threads, const std::function<void(std::size_t, u32)>& work);

}  // namespace flitlab
