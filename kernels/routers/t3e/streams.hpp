#pragma once
/// Random streams of the Cray T3E.
#include "kernels/common/streams.hpp"

namespace flitlab::t3e::stream {

inline constexpr u32 kAnnealing = 7;     ///< host: search for VC tables; counter = draw / 4
inline constexpr u32 kBarrier = 8;       ///< gaps between barriers (item PE * 32 + unit), who finds (item ~unit)
inline constexpr u32 kChannelError = 9;  ///< hits of flits on links; counter = packet number, flit and hop

}  // namespace flitlab::t3e::stream
