#pragma once
#include "kernels/common/types.hpp"

namespace flitlab {

/// The far end of a port's channel pair (one channel in each direction). Kernels read it in this form.
struct Peer {
  u32 item = kNone;  ///< router or terminal index; kNone: the port is not connected
  u16 port = 0;      ///< port of that router (0 for a terminal)
  u16 is_terminal = 0;
};
static_assert(sizeof(Peer) == 8);

/// Mark on a port number in a routing table: the packet may also take any port whose channel leads to the same router.
inline constexpr u8 kAnyParallel = 0x80;

}  // namespace flitlab
