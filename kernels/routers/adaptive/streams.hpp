#pragma once
/// Random streams of the adaptive router.
#include "kernels/common/streams.hpp"

namespace flitlab::adaptive::stream {

inline constexpr u32 kMisroute = 43;  ///< channel of an excess message; item = router, counter = cycle
inline constexpr u32 kOrder = 44;     ///< order among equals; item = router, counter = cycle

}  // namespace flitlab::adaptive::stream
