#pragma once
/// Writes flits, credits and packet descriptors into the inboxes of neighbours, for routers with network ports and
/// terminal ports. `port_descriptors` is the number of packet descriptors that an input port holds for all its virtual
/// channels together.
#include "kernels/common/inbox.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/peer.hpp"

namespace flitlab {

/// One router's output. `port`: output port of this router; `peer`: router or terminal at its far end.
template <class V>
struct Outbox {
  const V& v;
  u32 port_descriptors;
  Cycle now;

  FLITLAB_INLINE Outbox(const V& view, u32 positions, Cycle cycle) : v(view), port_descriptors(positions), now(cycle) {}

  /// Sends a flit to the far end of an output port. `link_delay`, `credit_delay`: of the port, if ports differ.
  FLITLAB_INLINE void flit(u32 port, const Peer& peer, u8 arrival) const { flit(port, peer, arrival, v.t.link_delay); }
  FLITLAB_INLINE void flit(u32 port, const Peer& peer, u8 arrival, u32 link_delay) const {
    const auto& t = v.t;
    if (port >= t.network_ports)
      v.terminals[peer.item].at(t.terminal_fields.flit_mail, (now + t.eject_delay) & t.slot_mask) = arrival;
    else
      put_byte(v.routers[peer.item].at(t.router_fields.flit_mail,
                                       ((now + link_delay) & t.slot_mask) * t.port_words + peer.port / 8),
               peer.port, arrival);
  }

  /// Returns a credit for `vc` to the sender at the far end of an input port.
  FLITLAB_INLINE void credit(u32 port, const Peer& peer, u32 vc) const { credit(port, peer, vc, v.t.credit_delay); }
  FLITLAB_INLINE void credit(u32 port, const Peer& peer, u32 vc, u32 credit_delay) const {
    const auto& t = v.t;
    const u32 slot = (now + credit_delay) & t.slot_mask;
    const u8 arrival = static_cast<u8>(vc + 1);
    if (port >= t.network_ports)
      v.terminals[peer.item].at(t.terminal_fields.credit_mail, slot) = arrival;
    else
      put_byte(v.routers[peer.item].at(t.router_fields.credit_mail, slot * t.port_words + peer.port / 8), peer.port,
               arrival);
  }

  /// Returns packet descriptor `position`, counted over all virtual channels, of the input port at the far end of an
  /// output port.
  FLITLAB_INLINE Packet& descriptor(u32 port, const Peer& peer, u32 position) const {
    const auto& t = v.t;
    return port >= t.network_ports
               ? v.terminals[peer.item].at(t.terminal_fields.ring, position)
               : v.routers[peer.item].at(t.router_fields.ring, peer.port * port_descriptors + position);
  }
};

/// Outbox of many routers in one bulk call, for states with W = 1 whose inbox is one word per arrival cycle. It
/// computes addresses in routers and in terminals (port 0) by the same operations, so no branch can be mispredicted.
/// Its set-up pays off only in a bulk call.
template <class V>
struct BulkOutbox {
  struct Kind {
    std::byte *flits, *credits, *rings;
    std::size_t item_bytes;
  };
  Kind peer_kind[8];  ///< `[port]`: item 0 of the kind (routers or terminals) that the port leads to
  u32 port_descriptors;

  FLITLAB_INLINE BulkOutbox(const V& v, u32 positions, Cycle now) : port_descriptors(positions) {
    const auto& t = v.t;
    const auto router = v.routers[0];
    const auto terminal = v.terminals[0];
    const u32 credit_slot = (now + t.credit_delay) & t.slot_mask;
    const auto bytes = [](auto& element) { return reinterpret_cast<std::byte*>(&element); };
    const Kind to_router{bytes(router.at(t.router_fields.flit_mail, (now + t.link_delay) & t.slot_mask)),
                         bytes(router.at(t.router_fields.credit_mail, credit_slot)),
                         bytes(router.at(t.router_fields.ring)), v.routers.item_bytes};
    const Kind to_terminal{bytes(terminal.at(t.terminal_fields.flit_mail, (now + t.eject_delay) & t.slot_mask)),
                           bytes(terminal.at(t.terminal_fields.credit_mail, credit_slot)),
                           bytes(terminal.at(t.terminal_fields.ring)), v.terminals.item_bytes};
    for (u32 port = 0; port < t.ports; ++port) peer_kind[port] = port < t.network_ports ? to_router : to_terminal;
  }

  FLITLAB_INLINE void flit(u32 port, const Peer& peer, u8 arrival) const {
    peer_kind[port].flits[peer.item * peer_kind[port].item_bytes + peer.port] = std::byte{arrival};
  }
  FLITLAB_INLINE void credit(u32 port, const Peer& peer, u32 vc) const {
    peer_kind[port].credits[peer.item * peer_kind[port].item_bytes + peer.port] = static_cast<std::byte>(vc + 1);
  }
  FLITLAB_INLINE Packet& descriptor(u32 port, const Peer& peer, u32 at) const {
    std::byte* rings = peer_kind[port].rings + peer.item * peer_kind[port].item_bytes;
    return reinterpret_cast<Packet*>(rings)[peer.port * port_descriptors + at];
  }
};

}  // namespace flitlab
