#pragma once
/// Functions through which terminals use this router (kernels/traffic/injection.hpp). A PE's terminal has the number of
/// its node. Software addresses a PE by its logical number, which the source's R_NET_LUT translates into a routing tag.
#include "kernels/routers/t3e/route.hpp"

namespace flitlab::t3e {

template <class V>
FLITLAB_INLINE u32 injection_vcs(const V&, const Packet& packet) {
  return 3u << (2 * packet.message_class);
}

template <class V>
FLITLAB_INLINE u32 credits_to_start(const V&, const Packet&) {
  return 1;
}

template <class V>
FLITLAB_INLINE u32 injection_port(const V& v, u32 index) {
  return port_of(v.t, index);
}

template <class V>
FLITLAB_INLINE void address_packet(const V& v, u32 index, Packet& packet, u32 destination) {
  const Registers& registers = v.routers[node_of(v.t, index)].at(v.t.router_fields.registers);
  const u32 logical = v.routers[node_of(v.t, destination)].at(v.t.router_fields.registers).lwho;
  const auto node = v.tables[node_of(v.t, index)];
  const Tag tag = look_up(registers, logical, [&](u32 entry) {  // a special packet may have written any logical number
    return entry < kLutRegisters ? node.at(v.t.table_fields.lut, entry) : Tag{0};
  });
  packet.dst_port = static_cast<u8>(port_of(v.t, destination));
  packet.via = logical;
  apply_tag(packet, tag, tag_adapt(tag) && !(v.t.ordered_requests && packet.message_class == 0));
}

template <class V>
FLITLAB_INLINE bool is_destination(const V& v, u32 index, const Packet& packet) {
  return packet.dst == v.routers[node_of(v.t, index)].at(v.t.router_fields.registers).pwho &&
         packet.dst_port == port_of(v.t, index);
}

/// Returns whether the packet carries another logical number than this PE's, which happens if tables and logical
/// numbers disagree.
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V& v, u32 index, const Packet& packet) {
  return packet.via != v.routers[node_of(v.t, index)].at(v.t.router_fields.registers).lwho;
}

template <class V>
FLITLAB_INLINE Packet& injection_descriptor(const V& v, u32 index, u32 vc, u32 position) {
  return v.routers[node_of(v.t, index)].at(v.t.router_fields.ring,
                                           descriptor_start(v.t, port_of(v.t, index), vc) + position);
}

template <class V>
FLITLAB_INLINE void send_to_router(const V& v, u32 index, u8 flit, Cycle now) {
  const u32 slot = (now + v.t.inject_delay) & v.t.slot_mask;
  put_byte(v.routers[node_of(v.t, index)].at(v.t.router_fields.flit_mail, slot), port_of(v.t, index), flit);
}

template <class V>
FLITLAB_INLINE void credit_to_router(const V& v, u32 index, u32 vc, Cycle now) {
  const u32 slot = (now + v.t.credit_delay) & v.t.slot_mask;
  put_byte(v.routers[node_of(v.t, index)].at(v.t.router_fields.credit_mail, slot), port_of(v.t, index),
           static_cast<u8>(vc + 1));
}

}  // namespace flitlab::t3e
