#pragma once
/// Random streams of METRO.
#include "kernels/common/streams.hpp"

namespace flitlab::metro::stream {

inline constexpr u32 kChoice = 30;   ///< a router's random inputs; counter: cycle and input
inline constexpr u32 kLink = 31;     ///< choice of an endpoint's leaving link; counter: message and attempt
inline constexpr u32 kBackoff = 32;  ///< wait before the next attempt; counter: message and attempt
inline constexpr u32 kNoise = 33;    ///< noisy wires; item: sender and port, counter: cycle
inline constexpr u32 kWiring = 34;   ///< host: random wiring; counter: draw
inline constexpr u32 kFaults = 35;   ///< host: choice of dead routers and links; counter: draw

}  // namespace flitlab::metro::stream
