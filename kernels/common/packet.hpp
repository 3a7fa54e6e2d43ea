#pragma once
/// A packet's descriptor. It is copied once per hop, with the head flit; body flits are only counted.
#include "kernels/common/fields.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

struct alignas(16) Packet {
  FLITLAB_MEMBERS(Packet,
    (u32, dst, "", "address of the destination router (Topology::address)"),
    (u32, src, "", "source terminal"),
    (Cycle, created, "cycle", "cycle in which it entered the source queue"),
    (Cycle, injected, "cycle", "cycle in which its head left the source queue"),
    (u32, id, "", "number of the packet at its source; (src, id) is unique in a run"),
    (u32, via, "", "address of the intermediate router (Valiant, ROMM), or model-specific"),
    (u16, flits, "flits", "length"),
    (u16, hops, "", "router-to-router channels crossed so far"),
    (u8, message_class, "", "class of the packet; in a closed loop, 0 for requests and 1 for replies"),
    (u8, route_bits, "", "routing state, see the routing functions"),
    (u8, dst_port, "", "port of the destination terminal at its router"),
    (u8, tag, "", "closed loop: which of the requester's transactions the packet belongs to"))
};
static_assert(sizeof(Packet) == 32);

inline constexpr u32 kLongestPacket = 4095;  ///< flits

}  // namespace flitlab
