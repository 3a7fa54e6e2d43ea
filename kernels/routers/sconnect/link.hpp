#pragma once
/// Ports of a TIC and what they lead to (S-Connect, 3, Figures 8 to 11): four serial channels, ports 0 to 3, and two
/// parallel ports, 4 and 5, to a host or to another TIC of the same node or switch.
#include "kernels/common/types.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kSerial = 4;  ///< serial channels of a TIC
inline constexpr u32 kPorts = 6;
inline constexpr u32 kVcs = 2;
inline constexpr u32 kPriorities = 4;
inline constexpr u32 kClocks = 6;                  ///< of a routing cycle
inline constexpr u32 kMostTurn = 2 * kClocks - 2;  ///< of a port: its clock in a routing cycle, and its node's phase
inline constexpr u32 kSlotBits = 96;               ///< of a serial channel: 80 of a message, 16 of check and handshake

enum class LinkKind : u8 {
  kNone,
  kSerial,    ///< serial channel
  kParallel,  ///< parallel ports of two TICs, joined
  kHost
};

/// Virtual channels of a port: two of a serial channel, none, which counts as one, of a parallel port (S-Connect, 3),
/// and as many as is asked for of those between two TICs.
FLITLAB_HD constexpr u32 vcs_of(LinkKind kind, u32 between_tics) {
  return kind == LinkKind::kNone       ? 0
         : kind == LinkKind::kSerial   ? kVcs
         : kind == LinkKind::kParallel ? between_tics
                                       : 1;
}

/// The far end of a port.
struct Link {
  u32 far = kNone;  ///< TIC, or the host's terminal
  u8 port = 0;      ///< there
  LinkKind kind = LinkKind::kNone;
  u8 delay = 0;  ///< to there, routing cycles, counted by the two ends' own
  u8 round = 0;  ///< of its slots: both ways, and two

  bool operator==(const Link&) const = default;
};
static_assert(sizeof(Link) == 8);

}  // namespace flitlab::sconnect
