#pragma once
/// Numbers of the random streams that only the virtual-channel router uses; see kernels/common/streams.hpp.
#include "kernels/common/streams.hpp"

namespace flitlab::vc::stream {

inline constexpr u32 kArbiter = flitlab::stream::kFirstOfModel;  ///< numbers of a router's input VCs; counter = cycle

}  // namespace flitlab::vc::stream
