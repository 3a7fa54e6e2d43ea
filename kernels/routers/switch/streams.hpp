#pragma once
/// Random streams of the single switch.
#include "kernels/common/streams.hpp"

namespace flitlab::sw::stream {

inline constexpr u32 kTie = 45;  ///< ties between inputs; item = input, counter = cycle

}  // namespace flitlab::sw::stream
