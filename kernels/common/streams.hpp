#pragma once
/// Numbers of the random streams that all models share. Each purpose of random numbers has its own stream number, so
/// that no two purposes share a Philox key; never use a number for a second purpose. A model's own streams are in its
/// folder (`streams.hpp`). Two models may use the same number, because a network has one model, but no model may use a
/// number of this file.
#include "kernels/common/types.hpp"

namespace flitlab::stream {

inline constexpr u32 kInjection = 1;    ///< inter-arrival gaps of a terminal's source; counter = packet number
inline constexpr u32 kPacket = 2;       ///< destination and length of a packet; counter = packet number
inline constexpr u32 kRouting = 3;      ///< intermediate node, dimension order; counter = packet number
inline constexpr u32 kPermutation = 4;  ///< host: random permutations
inline constexpr u32 kBurst = 5;        ///< on-off sources: burst and pause lengths; counter = burst number
inline constexpr u32 kReply = 6;        ///< length of a reply; counter = reply number
// 7 to 9 are reserved: one model used them before models had stream numbers of their own.
inline constexpr u32 kAllToAll = 10;  ///< order of a terminal's destinations; counter = completed passes over them
inline constexpr u32 kTopology = 11;  ///< host: links of random graphs

/// First number of a model's own streams.
inline constexpr u32 kFirstOfModel = 16;

}  // namespace flitlab::stream
