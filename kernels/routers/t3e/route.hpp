#pragma once
/// Routing function: direction-order routing with initial and final hops, datelines and SELECT bits, and the directions
/// in which a packet may adapt (paper, sections 2, 3 and 7; manual, Information Routing).
#include "kernels/common/bits.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// Returns the routing tag of a packet for a logical PE (manual, R_NET_LUT Registers). `lut(entry)` reads R_NET_LUT. In
/// modes 1 and 2 four PEs share an entry. The two low bits of the logical number replace bit 0 of X and of Y: bit 0 and
/// bit 1 in mode 1, bit 1 and bit 0 in mode 2.
template <class Lut>
FLITLAB_HD inline Tag look_up(const Registers& registers, u32 logical, Lut lut) {
  if (registers.lut_mode == 3) return registers.override_tag;
  if (registers.lut_mode == 0) return lut(logical);
  const u32 low = logical & 1, high = logical >> 1 & 1;
  const u32 x = registers.lut_mode == 1 ? low : high, y = registers.lut_mode == 1 ? high : low;
  return (lut(logical >> 2) & ~(1u | 1u << 4)) | x | y << 4;
}

/// Stores a routing tag in a packet. Adaptive packets make no initial and no final hop (manual, Adaptive Routing).
FLITLAB_HD inline void apply_tag(Packet& packet, Tag tag, bool adapt) {
  packet.dst = tag_address(tag);
  packet.route_bits = static_cast<u8>(tag_signs(tag) | (adapt ? kNoHop : tag_initial(tag)) << kInitialShift |
                                      (!adapt && tag_final(tag) ? kFinalBit : 0) | (adapt ? kAdaptBit : 0));
}

/// Returns the directions that a packet still has to travel, as bits.
FLITLAB_HD inline u32 directions_left(u32 here, const Packet& packet) {
  u32 set = 0;
  for (u32 d = 0; d < 3; ++d)
    set |= u32{ordinate(here, d) != ordinate(packet.dst, d)} << (d + 3 * (packet.route_bits >> d & 1));
  return set;
}

/// Returns the SELECT bit: the VC of its message class, 0 or 1, on which a packet enters `direction`. `to`: the
/// destination's ordinate.
template <class T>
FLITLAB_HD inline u32 selected_vc(const T& t, const Registers& registers, u32 index, u32 direction, u32 to) {
  if (t.full_select) return t.full_select[index * kDirections + direction] >> to & 1;
  return registers.vcsel[direction] >> (to & 7) & 1;
}

/// Updates the routing bits of a packet that hops from node address `here` to `next`. An initial hop is made once; the
/// final hop makes the node that it leads to the destination.
FLITLAB_HD inline void take_hop(Packet& packet, u32 here, u32 next) {
  if ((packet.route_bits & kInitialBits) >> kInitialShift != kNoHop) {
    packet.route_bits |= kInitialBits;
  } else if ((packet.route_bits & kFinalBit) && !directions_left(here, packet)) {
    packet.route_bits &= static_cast<u8>(~kFinalBit);
    packet.dst = next;
  }
}

struct Choice {
  u8 port;  ///< output port of the deterministic request
  u8 vc;
  u8 adaptive;   ///< ports on which the packet may request an adaptive channel (bits)
  bool stopped;  ///< the packet is dropped: it would pass a dateline on VC 1, or its channel has IGNORE_NORMAL
};

/// Returns the routing choice of a packet that has arrived at input port `port` on `vc`.
template <class V>
FLITLAB_INLINE Choice choose(const V& v, const Registers& registers, u32 index, const Packet& packet, u32 port,
                             u32 vc) {
  const auto& t = v.t;
  const bool deterministic = vc < kDeterministicVcs;
  const u32 left = directions_left(registers.pwho, packet),
            initial = (packet.route_bits & kInitialBits) >> kInitialShift;
  const u32 first_vc = 2 * packet.message_class;
  const u32 arrival_direction = oriented(registers.turned, port);  // by R_ORIENT, of the input channel
  const bool from_link = deterministic && !is_terminal_port(port);
  u32 direction;
  if (initial != kNoHop) {
    direction = initial;
  } else if (left) {
    direction = lowest_bit(left);
  } else if (packet.route_bits & kFinalBit) {
    direction = kMinusZ;
  } else {  // at the destination: the packet keeps its VC, 0 or 1, on the way to the terminal
    return {packet.dst_port, static_cast<u8>(first_vc + (from_link ? vc & 1 : 0)), 0, false};
  }
  // Table 10: packets in direction-order buffers of a channel with IGNORE_NORMAL do not continue to another node.
  if (deterministic && (registers.chan[arrival_direction] & kIgnoreNormal))
    return {static_cast<u8>(kNodePort), 0, 0, true};
  Choice choice{static_cast<u8>(oriented(registers.turned, direction)), 0, 0, false};
  // A packet that goes straight changes from VC 0 to VC 1 at the dateline; on VC 1 it must not pass the dateline.
  const bool straight = from_link & (opposite(arrival_direction) == direction);
  const u32 dateline = (registers.vcsel[direction] & kDateline) != 0;
  const u32 to = ordinate(packet.dst, dimension_of(direction));
  const u32 selected = selected_vc(t, registers, index, direction, to);
  choice.stopped = straight & ((dateline & vc) != 0);
  choice.vc = static_cast<u8>(first_vc + select(straight, (vc & 1) | dateline, selected));
  if ((packet.route_bits & kAdaptBit) && left) {
    const u32 directions = t.any_direction ? left : 1u << log2_floor(left);
    for (u32 set = directions; set; set &= set - 1)
      if (!(registers.chan[lowest_bit(set)] & kNoAdapt))
        choice.adaptive |= static_cast<u8>(1u << oriented(registers.turned, lowest_bit(set)));
  }
  return choice;
}

}  // namespace flitlab::t3e
