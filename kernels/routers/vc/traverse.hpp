#pragma once
/// Switch traversal: what a flit's crossing does to both ends of it, and where its mail goes (Dally & Towles sections
/// 16.1 and 17.2).
#include "kernels/routers/vc/arbitrate.hpp"

namespace flitlab::vc {

/// Where the mail of a cycle goes. Ports are the sender's own; `peer` is what the port leads to.
template <class V>
struct Outbox {
  const V& v;
  Cycle now;

  FLITLAB_INLINE Outbox(const V& view, Cycle cycle) : v(view), now(cycle) {}

  /// A flit for the far end of an output port.
  FLITLAB_INLINE void flit(u32 port, const Peer& peer, u8 mail) const {
    const auto& t = v.t;
    if (port >= t.network_ports)
      v.terminals[peer.item].at(t.terminal_fields.flit_mail, (now + t.eject_delay) & t.slot_mask) = mail;
    else
      post(v.routers[peer.item].at(t.router_fields.flit_mail,
                                   ((now + t.link_delay) & t.slot_mask) * t.port_words + peer.port / 8),
           peer.port, mail);
  }

  /// Tells the sender at the far end of an input port that a place of `vc` is free.
  FLITLAB_INLINE void credit(u32 port, const Peer& peer, u32 vc) const {
    const auto& t = v.t;
    const u32 slot = (now + t.credit_delay) & t.slot_mask;
    const u8 mail = static_cast<u8>(vc + 1);
    if (port >= t.network_ports)
      v.terminals[peer.item].at(t.terminal_fields.credit_mail, slot) = mail;
    else
      post(v.routers[peer.item].at(t.router_fields.credit_mail, slot * t.port_words + peer.port / 8), peer.port, mail);
  }

  /// Place `place` of the rings that an output port's virtual channels feed.
  FLITLAB_INLINE Packet& descriptor(u32 port, const Peer& peer, u32 place) const {
    const auto& t = v.t;
    return port >= t.network_ports ? v.terminals[peer.item].at(t.terminal_fields.ring, place)
                                   : v.routers[peer.item].at(t.router_fields.ring, peer.port * t.vcs * t.ring + place);
  }
};

/// The same for many small routers (W = 1): addresses are computed in one way whether they lead to a router or to a
/// terminal (whose port is 0), so that nobody has to guess which it will be. Pays over a batch only.
template <class V>
struct BatchOutbox {
  struct Place {
    std::byte *flits, *credits, *rings;
    std::size_t item_bytes;
  };
  Place place[8];  ///< by port: item 0 of the kind that it leads to
  u32 port_places;

  FLITLAB_INLINE BatchOutbox(const V& v, Cycle now) : port_places(v.t.vcs * v.t.ring) {
    const auto& t = v.t;
    const auto router = v.routers[0];
    const auto terminal = v.terminals[0];
    const u32 credit_slot = (now + t.credit_delay) & t.slot_mask;
    const auto bytes = [](auto& element) { return reinterpret_cast<std::byte*>(&element); };
    const Place to_router{bytes(router.at(t.router_fields.flit_mail, (now + t.link_delay) & t.slot_mask)),
                          bytes(router.at(t.router_fields.credit_mail, credit_slot)),
                          bytes(router.at(t.router_fields.ring)), v.routers.item_bytes};
    const Place to_terminal{bytes(terminal.at(t.terminal_fields.flit_mail, (now + t.eject_delay) & t.slot_mask)),
                            bytes(terminal.at(t.terminal_fields.credit_mail, credit_slot)),
                            bytes(terminal.at(t.terminal_fields.ring)), v.terminals.item_bytes};
    for (u32 port = 0; port < t.ports; ++port) place[port] = port < t.network_ports ? to_router : to_terminal;
  }

  FLITLAB_INLINE void flit(u32 port, const Peer& peer, u8 mail) const {
    place[port].flits[peer.item * place[port].item_bytes + peer.port] = std::byte{mail};
  }
  FLITLAB_INLINE void credit(u32 port, const Peer& peer, u32 vc) const {
    place[port].credits[peer.item * place[port].item_bytes + peer.port] = static_cast<std::byte>(vc + 1);
  }
  FLITLAB_INLINE Packet& descriptor(u32 port, const Peer& peer, u32 at) const {
    std::byte* rings = place[port].rings + peer.item * place[port].item_bytes;
    return reinterpret_cast<Packet*>(rings)[peer.port * port_places + at];
  }
};

/// Makes the packet at the front of an input VC start its route computation; `word` holds the port's sets.
template <class T>
FLITLAB_INLINE void start_front(const T& t, RouterControl& word, u32 port, u32 vc, InputVc& in, Cycle from) {
  in.stage = Stage::kRouting;
  in.ready_at = from + t.routing_delay;
  word.waiting |= u64{1} << bit_of(t, port, vc);
}

/// One flit of input VC (port, vc) crosses to the VC of output port `out_port` that its packet owns: the part that is
/// the same for all flits. Returns its mail, whose marks say what is left: take_descriptor for a head, and after that
/// release_output for a tail.
template <class V, class Out, int W>
FLITLAB_INLINE u32 cross(const V& v, const Out& outbox, const Item<W>& router, RouterControl& control, u32 index,
                         u32 port, u32 vc, u32 out_port) {
  const auto& t = v.t;
  const u32 flat = port * t.vcs + vc, bit = bit_of(t, port, vc);
  InputVc& in = router.at(t.router_fields.input, flat);
  const u32 out_vc = in.out_vc;
  OutputVc& out = router.at(t.router_fields.output, out_port * t.vcs + out_vc);
  const Peer* peers = t.peers + std::size_t{index} * t.ports;
  const bool head = in.stage == Stage::kHead;
  const u32 left = in.left - 1u, flits = in.flits - 1u, credits = out.credits - 1u;
  in.left = static_cast<u16>(left);
  in.flits = static_cast<u16>(flits);
  out.credits = static_cast<u16>(credits);
  RouterControl& word = word_of(t, router, control, port);
  word.flits ^= u64{flits == 0} << bit;  // both bits were set
  word.credits ^= u64{credits == 0} << bit;
  const u32 mail = out_vc + 1 + u32{head} * kHeadMark + (((left - 1) >> 25) & kTailMark);
  if constexpr (V::traced) {
    const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kSwitchGranted, u8(port), u8(vc), u8(out_port),
                             u8(out_vc), u8(mail >> 6 & 1 ? (head ? 3 : 2) : (head ? 1 : 0)), packet.flits});
  }
  outbox.flit(out_port, peers[out_port], static_cast<u8>(mail));
  outbox.credit(port, peers[port], vc);
  ++router.at(t.router_fields.port, out_port).flits_sent;
  return mail;
}

/// A head's descriptor goes straight to its place in the downstream ring: credits guarantee that the place is free,
/// and nobody looks at it before the head flit arrives.
template <class V, class Out, int W>
FLITLAB_INLINE void take_descriptor(const V& v, const Out& outbox, const Item<W>& router, u32 index, u32 port, u32 vc,
                                    u32 out_port) {
  const auto& t = v.t;
  const u32 flat = port * t.vcs + vc;
  InputVc& in = router.at(t.router_fields.input, flat);
  OutputVc& out = router.at(t.router_fields.output, out_port * t.vcs + in.out_vc);
  const Peer& peer = t.peers[std::size_t{index} * t.ports + out_port];
  Packet& copy = outbox.descriptor(out_port, peer, in.out_vc * t.ring + out.tail);
  copy = router.at(t.router_fields.ring, flat * t.ring + in.first);
  copy.hops = static_cast<u16>(copy.hops + (out_port < t.network_ports));
  out.tail = next_place(out.tail, t.ring);
  in.stage = Stage::kBody;
}

/// A tail gives the output VC back, and the next packet moves to the front.
template <class V, int W>
FLITLAB_INLINE void release_output(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc,
                                   u32 out_port, Cycle now) {
  const auto& t = v.t;
  InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
  RouterControl& word = word_of(t, router, control, port);
  router.at(t.router_fields.output, out_port * t.vcs + in.out_vc).owner = kNoOwner;
  word_of(t, router, control, out_port).taken &= ~(u64{1} << bit_of(t, out_port, in.out_vc));
  word.granted &= ~(u64{1} << bit_of(t, port, vc));
  in.first = next_place(in.first, t.ring);
  in.stage = Stage::kIdle;
  if (--in.packets) start_front(t, word, port, vc, in, now + 1);
}

/// One flit of input VC (port, vc) crosses to output port `out_port`.
template <class V, int W>
FLITLAB_INLINE void send_flit(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                              u32 out_port, Cycle now) {
  const Outbox<V> outbox(v, now);
  const u32 mail = cross(v, outbox, router, control, index, port, vc, out_port);
  if (mail & kHeadMark) take_descriptor(v, outbox, router, index, port, vc, out_port);
  if (mail & kTailMark) release_output(v, router, control, port, vc, out_port, now);
}

}  // namespace flitlab::vc
