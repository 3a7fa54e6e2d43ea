#pragma once
/// Switch allocation and switch traversal: which flits cross the crossbar in this cycle, one per input port and one
/// per output port, and what crossing does (Dally & Towles sections 16.1, 17.2 and 19.1 to 19.5).
#include "kernels/routers/vc/arbitrate.hpp"

namespace flitlab::vc {

/// Puts a byte of mail into a word of eight ports.
FLITLAB_INLINE void post(u64& word, u32 port, u8 mail) { reinterpret_cast<u8*>(&word)[port & 7] = mail; }

/// Tells the sender at the far end of an input port that a place of `vc` is free.
template <class V>
FLITLAB_INLINE void return_credit(const V& v, const Peer& sender, u32 vc, Cycle now) {
  const auto& t = v.t;
  const u32 slot = (now + t.credit_delay) & t.slot_mask;
  if (sender.is_terminal)
    v.terminals[sender.item].at(t.terminal_fields.credit_mail, slot) = static_cast<u8>(vc + 1);
  else
    post(v.routers[sender.item].at(t.router_fields.credit_mail, slot * t.port_words + sender.port / 8), sender.port,
         static_cast<u8>(vc + 1));
}

/// Makes the packet at the front of an input VC start its route computation.
template <class T, int W>
FLITLAB_INLINE void start_front(const T& t, const Item<W>& router, u32 port, u32 vc, InputVc& in, Cycle from) {
  in.left = router.at(t.router_fields.ring, (port * t.vcs + vc) * t.ring + in.first).flits;
  in.stage = Stage::kRouting;
  in.ready_at = from + t.routing_delay;
  router.at(t.router_fields.port, port).waiting |= static_cast<u16>(1u << vc);
  router.at(t.router_fields.control).waiting |= 1u << port;
}

/// One flit of input VC (port, vc) crosses to the output VC that its packet owns.
template <class V, int W>
FLITLAB_INLINE void send_flit(const V& v, const Item<W>& router, u32 index, u32 port, u32 vc, Cycle now) {
  const auto& t = v.t;
  const u32 flat = port * t.vcs + vc;
  PortState& state = router.at(t.router_fields.port, port);
  InputVc& in = router.at(t.router_fields.input, flat);
  OutputVc& out = router.at(t.router_fields.output, in.out_port * t.vcs + in.out_vc);
  const Peer peer = t.peers[std::size_t{index} * t.ports + in.out_port];

  u8 mail = static_cast<u8>(in.out_vc + 1);
  if (in.stage == Stage::kHead) {
    // The descriptor goes straight to its place in the downstream ring: credits guarantee that the place is free,
    // and nobody looks at it before the head flit arrives.
    Packet packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    const u32 place = in.out_vc * t.ring + out.tail;
    if (peer.is_terminal) {
      v.terminals[peer.item].at(t.terminal_fields.ring, place) = packet;
    } else {
      ++packet.hops;
      v.routers[peer.item].at(t.router_fields.ring, peer.port * t.vcs * t.ring + place) = packet;
    }
    out.tail = next_place(out.tail, t.ring);
    in.stage = Stage::kBody;
    mail |= kHeadMark;
  }
  --in.flits;
  --in.left;
  --out.credits;
  if (!in.left) mail |= kTailMark;

  if constexpr (V::traced) {
    const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kSwitchGranted, u8(port), u8(vc), in.out_port,
                             in.out_vc, u8(mail >> 6 & 1 ? (mail & kHeadMark ? 3 : 2) : (mail & kHeadMark ? 1 : 0)),
                             packet.flits});
  }
  if (peer.is_terminal) {
    v.terminals[peer.item].at(t.terminal_fields.flit_mail, (now + t.eject_delay) & t.slot_mask) = mail;
  } else {
    const u32 slot = (now + t.link_delay) & t.slot_mask;
    post(v.routers[peer.item].at(t.router_fields.flit_mail, slot * t.port_words + peer.port / 8), peer.port, mail);
  }
  ++router.at(t.router_fields.port, in.out_port).flits_sent;
  count(*v.shard, Total::kFlitMoves);
  return_credit(v, t.peers[std::size_t{index} * t.ports + port], vc, now);

  if (!in.left) {
    out.owner = kNoOwner;
    in.first = next_place(in.first, t.ring);
    in.stage = Stage::kIdle;
    if (--in.packets) start_front(t, router, port, vc, in, now + 1);
  }
  if (!in.flits || !out.credits || in.stage != Stage::kBody) {
    state.ready &= static_cast<u16>(~(1u << vc));
    if (!state.ready) router.at(t.router_fields.control).ready &= ~(1u << port);
  }
}

/// What a switch allocator has matched so far.
struct Matching {
  u32 inputs = 0, outputs = 0;  ///< matched ports
  u8 output_of[kMaxPorts];
  u8 vc_of[kMaxPorts];          ///< VC of each matched (or bidding) input
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

/// Separable, input first: each input port puts forward one VC, each output port takes one input.
template <class T, int W>
FLITLAB_INLINE void match_input_first(const T& t, const Item<W>& router, Matching& m, Cycle now) {
  u32 contenders[kMaxPorts];
  u32 outputs = 0;
  for (u32 ports = router.at(t.router_fields.control).ready; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    const u32 vc = pick_vc(t, router, port, router.at(t.router_fields.port, port).ready, now);
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
FLITLAB_INLINE u32 outputs_wanted(const T& t, const Item<W>& router, u32 port) {
  u32 wanted = 0;
  for (u32 set = router.at(t.router_fields.port, port).ready; set; set &= set - 1)
    wanted |= 1u << router.at(t.router_fields.input, port * t.vcs + lowest_bit(set)).out_port;
  return wanted;
}

/// Separable, output first; with more rounds it is iSLIP, whose pointers move only for first-round matches.
template <class T, int W>
FLITLAB_INLINE void match_output_first(const T& t, const Item<W>& router, u32 rounds, Matching& m,
                                          u32& first_round_inputs, Cycle now) {
  u32 wants[kMaxPorts], offers[kMaxPorts];
  const u32 bidders = router.at(t.router_fields.control).ready;
  u32 all_outputs = 0;
  for (u32 ports = bidders; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    wants[port] = outputs_wanted(t, router, port);
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
        const u32 set = vcs_toward(t, router, port, router.at(t.router_fields.port, port).ready, out);
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

/// Wavefront: ports on one diagonal of the request matrix never conflict; the first diagonal moves on every cycle.
template <class T, int W>
FLITLAB_INLINE void match_wavefront(const T& t, const Item<W>& router, Matching& m, Cycle now) {
  u32 wants[kMaxPorts];
  const u32 bidders = router.at(t.router_fields.control).ready;
  for (u32 ports = bidders; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    wants[port] = outputs_wanted(t, router, port);
  }
  for (u32 d = 0; d < t.ports; ++d) {
    for (u32 ports = bidders & ~m.inputs; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports);
      const u32 out = (d + now + t.ports - port) % t.ports;
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
FLITLAB_INLINE void speculate(const V& v, const Item<W>& router, u32 index, u32 bidding_ports, const Matching& m,
                                 Cycle now) {
  const auto& t = v.t;
  u32 contenders[kMaxPorts];
  u8 vc_of[kMaxPorts];
  u32 outputs = 0;
  for (u32 ports = bidding_ports & ~m.inputs; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    const u32 bids = router.at(t.router_fields.port, port).bids;
    if (!bids) continue;
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
    PortState& state = router.at(t.router_fields.port, port);
    RouterControl& control = router.at(t.router_fields.control);
    state.pending &= static_cast<u16>(~(1u << vc));
    if (!state.pending) control.pending &= ~(1u << port);
    state.ready |= static_cast<u16>(1u << vc);  // send_flit withdraws it again where it must
    control.ready |= 1u << port;
    arbiters_served(t, router, port, vc, out);
    send_flit(v, router, index, port, vc, now);
  }
}

/// The switch allocation and traversal stages of one router. `bidding_ports` are those with packets that bid for an
/// output VC in this cycle (speculation).
template <class V, int W>
FLITLAB_INLINE void allocate_switch(const V& v, const Item<W>& router, u32 index, u32 bidding_ports, Cycle now) {
  const auto& t = v.t;
  Matching m;
  if (router.at(t.router_fields.control).ready) {
    u32 pointer_inputs = ~0u;
    switch (t.switch_allocator) {
      case Allocator::kInputFirst:
        match_input_first(t, router, m, now);
        break;
      case Allocator::kOutputFirst:
        match_output_first(t, router, 1, m, pointer_inputs, now);
        break;
      case Allocator::kIslip:
        match_output_first(t, router, t.iterations, m, pointer_inputs, now);
        break;
      case Allocator::kWavefront:
        match_wavefront(t, router, m, now);
        break;
    }
    for (u32 ports = m.inputs; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports), out = m.output_of[port];
      u32 vc = m.vc_of[port];
      if (t.switch_allocator != Allocator::kInputFirst) {
        const u32 set = vcs_toward(t, router, port, router.at(t.router_fields.port, port).ready, out);
        vc = pick_vc(t, router, port, set, now);
      }
      if ((pointer_inputs >> port) & 1) arbiters_served(t, router, port, vc, out);
      send_flit(v, router, index, port, vc, now);
    }
  }
  if (t.speculative && bidding_ports) speculate(v, router, index, bidding_ports, m, now);
}

}  // namespace flitlab::vc
