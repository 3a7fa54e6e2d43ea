#pragma once
/// Random streams of the Cray T3E.
#include "kernels/common/streams.hpp"

namespace flitlab::t3e::stream {

inline constexpr u32 kAnnealing = 7;     ///< host: search for VC tables; counter = draw / 4
inline constexpr u32 kBarrier = 8;       ///< barrier gaps (item PE * 32 + unit), PE that signals a eureka (item ~unit)
inline constexpr u32 kChannelError = 9;  ///< corrupted flits; counter = packet number, flit and hop

}  // namespace flitlab::t3e::stream
