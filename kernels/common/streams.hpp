#pragma once
/// Every random stream of the project, so that no two uses share a key. Never reuse a number.
#include "kernels/common/types.hpp"

namespace flitlab::stream {

inline constexpr u32 kInjection = 1;    ///< inter-arrival gaps of a terminal's source; counter = packet number
inline constexpr u32 kPacket = 2;       ///< destination and length of a packet; counter = packet number
inline constexpr u32 kRouting = 3;      ///< intermediate node, dimension order; counter = packet number
inline constexpr u32 kPermutation = 4;  ///< host: random permutations
inline constexpr u32 kBurst = 5;        ///< on-off sources: burst and pause lengths; counter = burst number
inline constexpr u32 kReply = 6;        ///< length of a reply; counter = reply number
inline constexpr u32 kAnnealing = 7;    ///< host: search for VC tables; counter = draw / 4
inline constexpr u32 kBarrier = 8;      ///< T3E: gaps between barriers (item PE * 32 + unit), who finds (item ~unit)

inline constexpr u32 kChannelError = 9;  ///< T3E: hits of flits on links; counter = packet number, flit and hop
inline constexpr u32 kAllToAll = 10;     ///< order of a terminal's destinations; counter = round
inline constexpr u32 kBglArbiter = 20;   ///< BG/L: ties and coins of a node's arbiters; counter = cycle
inline constexpr u32 kBglPacket = 21;  ///< BG/L: half-way directions, dynamic or not, priority; counter = packet number
inline constexpr u32 kBglLink = 22;    ///< BG/L: what errors hit; item = 16 * node + direction (+ 8: acknowledgments)

inline constexpr u32 kMetroChoice = 30;   ///< METRO: a router's random inputs; counter = cycle and input
inline constexpr u32 kMetroLink = 31;     ///< an endpoint's link into the network; counter = message and attempt
inline constexpr u32 kMetroBackoff = 32;  ///< wait before the next attempt; counter = message and attempt
inline constexpr u32 kMetroNoise = 33;    ///< noisy wires; item = sender and port, counter = cycle
inline constexpr u32 kMetroWiring = 34;   ///< host: random wiring; counter = draw
inline constexpr u32 kMetroFaults = 35;   ///< host: which routers and links are dead; counter = draw

inline constexpr u32 kSconnectError = 40;     ///< S-Connect: hits of slots; item = 8 * sender + port, counter = cycle
inline constexpr u32 kSconnectFabric = 41;    ///< host: random regular graphs; counter = draw
inline constexpr u32 kSconnectClock = 42;     ///< host: free-running frequencies and phases; item = router
inline constexpr u32 kAdaptiveMisroute = 43;  ///< channel of an excess message; item = router, counter = cycle
inline constexpr u32 kAdaptiveOrder = 44;     ///< order among equals; item = router, counter = cycle
inline constexpr u32 kSwitch = 45;            ///< single switch: ties; counter = cycle

}  // namespace flitlab::stream
