#pragma once
/// Numbers of S-Connect's random streams.
#include "kernels/common/streams.hpp"

namespace flitlab::sconnect::stream {

inline constexpr u32 kError = 40;   ///< bit errors in slots; item = 8 * sender + port, counter = cycle
inline constexpr u32 kFabric = 41;  ///< host: random regular graphs; counter = draw
inline constexpr u32 kClock = 42;   ///< host: free-running frequencies and phases; item = router
inline constexpr u32 kPhase = 43;   ///< host: phases of routing cycles; item = node or switch

}  // namespace flitlab::sconnect::stream
