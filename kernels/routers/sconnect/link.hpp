#pragma once
/// Ports of a TIC and their far ends (S-Connect, 3, Figures 8 to 11). Ports 0 to 3 are serial channels; parallel ports
/// 4 and 5 lead to a host or to another TIC of the same node or switch.
#include "kernels/common/types.hpp"

namespace flitlab::sconnect {

inline constexpr u32 kSerial = 4;  ///< serial channels of a TIC
inline constexpr u32 kPorts = 6;
inline constexpr u32 kVcs = 2;
inline constexpr u32 kPriorities = 4;
inline constexpr u32 kClocks = 6;                  ///< clocks of a routing cycle
inline constexpr u32 kMostTurn = 2 * kClocks - 2;  ///< largest turn of a port; turn: port number + phase of its node
inline constexpr u32 kSlotBits = 96;               ///< bits of a serial slot: 80 of a message, 16 of CRC and handshake

enum class LinkKind : u8 {
  kNone,
  kSerial,    ///< serial channel
  kParallel,  ///< parallel port of another TIC
  kHost
};

/// Returns the number of virtual channels of a port. A serial channel has two. A host's port has no virtual channels
/// (S-Connect, 3), which counts as one. A parallel port between two TICs has `between_tics`.
FLITLAB_HD constexpr u32 vcs_of(LinkKind kind, u32 between_tics) {
  return kind == LinkKind::kNone       ? 0
         : kind == LinkKind::kSerial   ? kVcs
         : kind == LinkKind::kParallel ? between_tics
                                       : 1;
}

/// The far end of a port.
struct Link {
  u32 far = kNone;  ///< TIC, or terminal of the host
  u8 port = 0;      ///< port of the far TIC
  LinkKind kind = LinkKind::kNone;
  u8 delay = 0;  ///< to the far end, routing cycles: number of the far TIC's routing cycle at arrival, minus number of
                 ///< this TIC's routing cycle at departure (their routing cycles begin at different phases)
  u8 round = 0;  ///< number of slots of the channel, and routing cycles until a slot is reused (round_of())

  bool operator==(const Link&) const = default;
};
static_assert(sizeof(Link) == 8);

}  // namespace flitlab::sconnect
