#pragma once
/// Switch allocation and switch traversal: which flits cross the crossbar in this cycle, one per input port and one
/// per output port, and what crossing does (Dally & Towles sections 16.1, 17.2 and 19.1 to 19.5).
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

/// What a switch allocator has matched so far.
struct Matching {
  u32 inputs = 0, outputs = 0;  ///< matched ports
  u8 output_of[kMaxPorts];
  u8 vc_of[kMaxPorts];  ///< VC of each matched (or bidding) input
};

/// VCs of an input port, out of `set`, whose packets leave through output `out`.
template <class T, int W>
FLITLAB_INLINE u32 vcs_toward(const T& t, const Item<W>& router, u32 port, u32 set, u32 out) {
  u32 found = 0;
  for (; set; set &= set - 1) {
    const u32 vc = lowest_bit(set);
    if (router.at(t.router_fields.input, port * t.vcs + vc).out_port == out) found |= 1u << vc;
  }
  return found;
}

/// VCs of an input port that may send.
template <class T, int W>
FLITLAB_INLINE u32 ready_vcs(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  return vcs_of(t, word_of(t, router, control, port).ready(), port);
}

/// Input ports with VCs that may send.
template <class T, int W>
FLITLAB_INLINE u32 ready_ports(const T& t, const Item<W>& router, RouterControl& control) {
  return ports_with(t, router, control, [](const RouterControl& word) { return word.ready(); });
}

/// Separable, input first: each input port puts forward one VC, each output port takes one input.
template <class T, int W>
FLITLAB_INLINE void match_input_first(const T& t, const Item<W>& router, RouterControl& control, Matching& m,
                                      Cycle now) {
  u32 contenders[kMaxPorts];
  u32 outputs = 0;
  for (u32 ports = ready_ports(t, router, control); ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    const u32 vc = pick_vc(t, router, port, ready_vcs(t, router, control, port), now);
    const u32 out = router.at(t.router_fields.input, port * t.vcs + vc).out_port;
    contenders[out] = ((outputs >> out) & 1 ? contenders[out] : 0) | 1u << port;
    outputs |= 1u << out;
    m.vc_of[port] = static_cast<u8>(vc);
  }
  m.outputs = outputs;
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs);
    const u32 port = pick_input(t, router, out, contenders[out], m.vc_of, now);
    m.inputs |= 1u << port;
    m.output_of[port] = static_cast<u8>(out);
  }
}

/// Outputs that input `port` has a ready VC for.
template <class T, int W>
FLITLAB_INLINE u32 outputs_wanted(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  u32 wanted = 0;
  for (u32 set = ready_vcs(t, router, control, port); set; set &= set - 1)
    wanted |= 1u << router.at(t.router_fields.input, port * t.vcs + lowest_bit(set)).out_port;
  return wanted;
}

/// Separable, output first; with more rounds it is iSLIP, whose pointers move only for first-round matches.
template <class T, int W>
FLITLAB_INLINE void match_output_first(const T& t, const Item<W>& router, RouterControl& control, u32 rounds,
                                       Matching& m, u32& first_round_inputs, Cycle now) {
  u32 wants[kMaxPorts], offers[kMaxPorts];
  const u32 bidders = ready_ports(t, router, control);
  u32 all_outputs = 0;
  for (u32 ports = bidders; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    wants[port] = outputs_wanted(t, router, control, port);
    all_outputs |= wants[port];
  }
  for (u32 round = 0; round < rounds; ++round) {
    u32 offered = 0;
    for (u32 outs = all_outputs & ~m.outputs; outs; outs &= outs - 1) {
      const u32 out = lowest_bit(outs);
      u32 contenders = 0;
      for (u32 ports = bidders & ~m.inputs; ports; ports &= ports - 1) {
        const u32 port = lowest_bit(ports);
        if (!((wants[port] >> out) & 1)) continue;
        contenders |= 1u << port;
        const u32 set = vcs_toward(t, router, port, ready_vcs(t, router, control, port), out);
        m.vc_of[port] = static_cast<u8>(pick_vc(t, router, port, set, now));
      }
      if (!contenders) continue;
      const u32 port = pick_input(t, router, out, contenders, m.vc_of, now);
      offers[port] = ((offered >> port) & 1 ? offers[port] : 0) | 1u << out;
      offered |= 1u << port;
    }
    if (!offered) break;
    for (; offered; offered &= offered - 1) {
      const u32 port = lowest_bit(offered);
      const u32 out = first_at_or_after(offers[port], router.at(t.router_fields.port, port).pick_output);
      m.inputs |= 1u << port;
      m.outputs |= 1u << out;
      m.output_of[port] = static_cast<u8>(out);
    }
    if (round == 0) first_round_inputs = m.inputs;
  }
}

/// Wavefront: ports on one diagonal of the request matrix never conflict; the first diagonal is another one every
/// cycle.
template <class T, int W>
FLITLAB_INLINE void match_wavefront(const T& t, const Item<W>& router, RouterControl& control, Matching& m, Cycle now) {
  u32 wants[kMaxPorts];
  const u32 bidders = ready_ports(t, router, control);
  for (u32 ports = bidders; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    wants[port] = outputs_wanted(t, router, control, port);
  }
  const u32 first = first_diagonal(now, t.ports);
  for (u32 d = 0; d < t.ports; ++d) {
    for (u32 ports = bidders & ~m.inputs; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports);
      const u32 out = (d + first + t.ports - port) % t.ports;
      if (!((wants[port] >> out) & 1) || ((m.outputs >> out) & 1)) continue;
      m.inputs |= 1u << port;
      m.outputs |= 1u << out;
      m.output_of[port] = static_cast<u8>(out);
    }
  }
}

/// Speculative bids: packets that bid for an output VC in this same cycle also bid for ports that nobody else
/// wants. A win is wasted unless the output VC was granted and has a credit.
template <class V, int W>
FLITLAB_INLINE void speculate(const V& v, const Item<W>& router, RouterControl& control, u32 index, const Matching& m,
                              Cycle now) {
  const auto& t = v.t;
  u32 contenders[kMaxPorts];
  u8 vc_of[kMaxPorts];
  u32 outputs = 0;
  const u32 bidding = ports_with(t, router, control, [](const RouterControl& word) { return word.bids; });
  for (u32 ports = bidding & ~m.inputs; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports), bids = vcs_of(t, word_of(t, router, control, port).bids, port);
    const u32 vc = pick_vc(t, router, port, bids, now);
    const u32 out = router.at(t.router_fields.input, port * t.vcs + vc).out_port;
    if ((m.outputs >> out) & 1) continue;
    contenders[out] = ((outputs >> out) & 1 ? contenders[out] : 0) | 1u << port;
    outputs |= 1u << out;
    vc_of[port] = static_cast<u8>(vc);
  }
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs);
    const u32 port = pick_input(t, router, out, contenders[out], vc_of, now);
    const u32 vc = vc_of[port];
    const InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
    if (in.stage != Stage::kHead || !router.at(t.router_fields.output, out * t.vcs + in.out_vc).credits) continue;
    RouterControl& word = word_of(t, router, control, port);
    const u64 bit = u64{1} << bit_of(t, port, vc);
    word.pending &= ~bit;
    word.granted |= bit;
    arbiters_served(t, router, port, vc, out);
    send_flit(v, router, control, index, port, vc, out, now);
    count(*v.shard, Total::kFlitMoves);
  }
}

/// Separable input first for small routers, in one go: the contenders of all output ports are bytes of one word.
template <class V, int W>
FLITLAB_INLINE void allocate_small(const V& v, const Item<W>& router, RouterControl& control, u32 index, Cycle now) {
  const auto& t = v.t;
  u64 contenders = 0;  // by output port: input ports
  u8 offered[8];       // by input port: the VC it puts forward
  for (u64 rest = control.ready(); rest;) {
    const u32 port = lowest_bit(rest) / t.vcs, set = vcs_of(t, rest, port);
    rest &= ~u64{(1u << t.vcs) - 1} << bit_of(t, port, 0);
    const u32 vc = pick_vc(t, router, port, set, now);
    offered[port] = static_cast<u8>(vc);
    contenders |= u64{1} << (router.at(t.router_fields.input, port * t.vcs + vc).out_port * 8 + port);
  }
  u32 moves = 0;
  while (contenders) {
    const u32 shift = lowest_bit(contenders) & 0x38u, out = shift / 8;
    const u32 port = first_at_or_after(static_cast<u32>((contenders >> shift) & 0xFF),
                                       router.at(t.router_fields.port, out).pick_input);
    const u32 vc = offered[port];
    contenders &= ~u64{0xFF} << shift;
    arbiters_served(t, router, port, vc, out);
    send_flit(v, router, control, index, port, vc, out, now);
    ++moves;
  }
  count(*v.shard, Total::kFlitMoves, moves);
}

/// The switch allocation and traversal stages of one router. `bidding`: there are packets that bid for an output VC in
/// this cycle (speculation).
template <class V, int W>
FLITLAB_INLINE void allocate_switch(const V& v, const Item<W>& router, RouterControl& control, u32 index, bool bidding,
                                    Cycle now) {
  const auto& t = v.t;
  if constexpr (V::Table::kSmall) {
    allocate_small(v, router, control, index, now);
    return;
  }
  Matching m;
  if (ready_ports(t, router, control)) {
    u32 pointer_inputs = ~0u;
    switch (t.switch_allocator) {
      case Allocator::kInputFirst: match_input_first(t, router, control, m, now); break;
      case Allocator::kOutputFirst: match_output_first(t, router, control, 1, m, pointer_inputs, now); break;
      case Allocator::kIslip: match_output_first(t, router, control, t.iterations, m, pointer_inputs, now); break;
      case Allocator::kWavefront: match_wavefront(t, router, control, m, now); break;
    }
    for (u32 ports = m.inputs; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports), out = m.output_of[port];
      u32 vc = m.vc_of[port];
      if (t.switch_allocator != Allocator::kInputFirst) {
        const u32 set = vcs_toward(t, router, port, ready_vcs(t, router, control, port), out);
        vc = pick_vc(t, router, port, set, now);
      }
      if ((pointer_inputs >> port) & 1) arbiters_served(t, router, port, vc, out);
      send_flit(v, router, control, index, port, vc, out, now);
      count(*v.shard, Total::kFlitMoves);
    }
  }
  if (t.speculative && bidding) speculate(v, router, control, index, m, now);
}

}  // namespace flitlab::vc
