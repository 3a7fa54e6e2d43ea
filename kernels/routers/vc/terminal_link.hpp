#pragma once
/// Interface between terminals and this router, as kernels/traffic/injection.hpp requires it.
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc {

template <class V>
FLITLAB_INLINE u32 injection_vcs(const V& v, const Packet& packet) {
  return v.t.message_mask[packet.message_class];
}

template <class V>
FLITLAB_INLINE u32 credits_to_start(const V& v, const Packet& packet) {
  const u32 needed = credits_to_take(v.t, packet.flits);
  return needed ? needed : 1u;
}

template <class V>
FLITLAB_INLINE u32 injection_port(const V& v, u32 index) {
  return v.t.network_ports + index % v.t.concentration;
}

template <class V>
FLITLAB_INLINE void address_packet(const V& v, u32 index, Packet& packet, u32 destination) {
  const auto& t = v.t;
  packet.dst = t.address[destination / t.concentration];
  packet.dst_port = static_cast<u8>(t.network_ports + destination % t.concentration);
  plan_route(t, v.row->seed, t.address[index / t.concentration], packet);
}

template <class V>
FLITLAB_INLINE bool is_destination(const V& v, u32 index, const Packet& packet) {
  const auto& t = v.t;
  return packet.dst == t.address[index / t.concentration] &&
         packet.dst_port == t.network_ports + index % t.concentration;
}

/// Always false: software and network number terminals alike.
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;
}

template <class V>
FLITLAB_INLINE Packet& injection_descriptor(const V& v, u32 index, u32 vc, u32 position) {
  const auto& t = v.t;
  const u32 port = injection_port(v, index);
  return v.routers[index / t.concentration].at(t.router_fields.ring, (port * t.vcs + vc) * t.ring + position);
}

template <class V>
FLITLAB_INLINE void send_to_router(const V& v, u32 index, u8 flit_byte, Cycle now) {
  const auto& t = v.t;
  const u32 arrival = (now + t.inject_delay) & t.slot_mask, port = injection_port(v, index);
  put_byte(v.routers[index / t.concentration].at(t.router_fields.flit_mail, arrival * t.port_words + port / 8), port,
           flit_byte);
}

/// Sends the router a credit for ejection VC `vc`.
template <class V>
FLITLAB_INLINE void credit_to_router(const V& v, u32 index, u32 vc, Cycle now) {
  const auto& t = v.t;
  const u32 slot = (now + t.credit_delay - t.early_vc_credits) & t.slot_mask, port = injection_port(v, index);
  put_byte(v.routers[index / t.concentration].at(t.router_fields.credit_mail, slot * t.port_words + port / 8), port,
           static_cast<u8>(vc + 1));
}

}  // namespace flitlab::vc
