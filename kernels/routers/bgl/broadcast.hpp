#pragma once
/// Broadcast to all nodes of a line or plane (paper, "Line and plane fill"). The root splits its message into colours
/// (parts), and sends each colour in one direction along a line through the root; the nodes on the way keep copies. In
/// a plane, software forwards the packets of every colour as they arrive. A colour then has three legs: along the
/// root's line in one dimension; from every node of that line but the root, along the node's line in the other
/// dimension; and from the last nodes of these lines, by the remaining link, to the root's line in the other dimension.
/// So each link of the plane carries one colour.
#include "kernels/routers/bgl/inject.hpp"

namespace flitlab::bgl {

template <class T>
FLITLAB_HD inline u32 colours(const T& t) {
  return 2 * t.fill_dims;
}

/// Returns the direction of a colour on a leg. All legs of a colour have the same sign, plus or minus, because each of
/// two processors serves the directions of one sign.
template <class T>
FLITLAB_HD inline u32 direction_of(const T& t, u32 colour, u32 leg) {
  const u32 other = leg == 1;
  return 2 * t.fill_dim[colour / 2 ^ other] + colour % 2;
}

/// Returns whether packets of a leg visit all nodes of a line, up to the node before the sender. On other legs they
/// visit only the next node.
FLITLAB_HD inline bool is_line(u32 leg) { return leg < 2; }

/// Returns the last node that a packet of a leg visits if node `index` sends it.
template <class T>
FLITLAB_HD inline u32 end_of_leg(const T& t, u32 index, u32 colour, u32 leg) {
  const u32 direction = direction_of(t, colour, leg);
  return t.peers[index * t.ports + (is_line(leg) ? direction ^ 1 : direction)].item;
}

/// Returns the packet tag of a colour and leg.
FLITLAB_HD inline u8 broadcast_tag(u32 colour, u32 leg) { return static_cast<u8>(3 * colour + leg); }

/// Returns whether a node's neighbour in `direction` has the same coordinate as the root in the dimension of
/// `direction`.
template <class T>
FLITLAB_HD inline bool is_before_root(const T& t, u32 index, u32 direction) {
  const u32 dim = direction / 2, next = t.address[t.peers[index * t.ports + direction].item];
  return coordinate(t, next, dim) == coordinate(t, t.address[t.fill_root], dim);
}

/// Returns whether the injection FIFO used for a direction has room for a packet.
template <class V, int W>
FLITLAB_INLINE bool has_room(const V& v, const Item<W>& terminal, u32 direction) {
  return terminal.at(v.t.software_fields.injection, direction).room >= kFullPacket;
}

/// Puts a packet of a colour, for one of the colour's legs, into an injection FIFO. Returns false if the FIFO has no
/// room, pacing forbids it or the processor is busy. `used`: set of FIFOs that received a packet in this cycle.
template <class V, int W>
FLITLAB_INLINE bool send_leg(const V& v, const Item<W>& terminal, u32 index, SoftwareControl& software, u32 colour,
                             u32 leg, u32 id, Cycle created, u32& used, Cycle now) {
  const auto& t = v.t;
  const u32 direction = direction_of(t, colour, leg);
  const bool room = has_room(v, terminal, direction) && !(used >> direction & 1);
  if (!room || !is_due(software.next_put, now)) return false;
  if (!(injection_fifos_of_idle(v, terminal) >> direction & 1)) return false;
  const bool line = is_line(leg);
  Packet packet{};
  packet.dst = t.address[end_of_leg(t, index, colour, leg)];
  packet.src = index;
  packet.created = created;
  packet.id = id;
  packet.flits = kFullPacket;
  packet.tag = broadcast_tag(colour, leg);
  const u32 route = 1u << direction | kDynamic | (line ? u32{kDeposit} : 0);
  set_route(packet, static_cast<u16>(route | (kFullPacket - 1) << kLengthShift));
  put(v, terminal, index, direction, packet, now);
  used |= 1u << direction;
  software.next_put = now + t.put_interval * kFullPacket;
  return true;
}

/// Puts the root's next packet of each colour into the colour's injection FIFO, if the FIFO has room.
template <class V, int W>
FLITLAB_INLINE void send_colours(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                 SoftwareControl& software, u32& used, Cycle now) {
  const auto& t = v.t;
  for (u32 colour = 0; colour < colours(t); ++colour) {
    InjectionFifo& fifo = terminal.at(t.software_fields.injection, direction_of(t, colour, 0));
    const u32 number = fifo.cursor.index;  // packets of the colour sent so far
    if (number == t.fill_packets) continue;
    if (!send_leg(v, terminal, index, software, colour, 0, colours(t) * number + colour, 0, used, now)) continue;
    ++fifo.cursor.index;
    ++control.sent;
  }
}

/// Returns whether software has to forward an arrived packet on another leg.
template <class T>
FLITLAB_HD inline bool must_forward(const T& t, u32 index, const Packet& packet) {
  const u32 colour = packet.tag / 3, leg = packet.tag % 3;
  return t.fill_dims == 2 && (leg == 0 || (leg == 1 && is_before_root(t, index, direction_of(t, colour, 2))));
}

/// Returns whether a processor may take a packet: either the packet need not be forwarded, or the injection FIFO of its
/// next leg has room.
template <class V, int W>
FLITLAB_INLINE bool can_forward(const V& v, const Item<W>& terminal, u32 index, const Packet& packet) {
  const auto& t = v.t;
  return !must_forward(t, index, packet) || has_room(v, terminal, direction_of(t, packet.tag / 3, packet.tag % 3 + 1));
}

/// Forwards an arrived packet on its next leg if it has one. Returns whether software can take the packet: false if the
/// packet could not be forwarded yet.
template <class V, int W>
FLITLAB_INLINE bool forward(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                            SoftwareControl& software, const Packet& packet, u32& used, Cycle now) {
  const auto& t = v.t;
  const u32 colour = packet.tag / 3, leg = packet.tag % 3;
  if (!must_forward(t, index, packet)) return true;
  if (!send_leg(v, terminal, index, software, colour, leg + 1, packet.id, now, used, now)) return false;
  count_creation(v, index, packet.id, now, kFullPacket, [&] { return end_of_leg(t, index, colour, leg + 1); });
  ++control.created;
  ++control.sent;
  return true;
}

}  // namespace flitlab::bgl
