#pragma once
/// Random streams of Blue Gene/L's torus.
#include "kernels/common/streams.hpp"

namespace flitlab::bgl::stream {

inline constexpr u32 kArbiter = 20;  ///< ties and coins of a node's arbiters; counter = cycle
inline constexpr u32 kPacket = 21;   ///< half-way directions, dynamic or not, priority; counter = packet number
inline constexpr u32 kLink = 22;     ///< link errors; item = 16 * node + direction (+ 8: acknowledgments)
inline constexpr u32 kStart = 23;    ///< start of a node's software

}  // namespace flitlab::bgl::stream
