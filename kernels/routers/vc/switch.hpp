#pragma once
/// Switch allocation: chooses the flits that cross the crossbar in this cycle, at most one per input port and per
/// output port (Dally & Towles sections 19.1 to 19.5).
#include "kernels/routers/vc/traverse.hpp"

namespace flitlab::vc {

/// The input and output ports that a switch allocator has matched so far. An allocator has no other arrays, because a
/// GPU keeps an array with a run-time index in memory, not in registers.
struct Matching {
  PortSet inputs = 0, outputs = 0;  ///< matched ports
  u8 output_of[kMaxPorts];          ///< `output_of[input]`: output port, for matched and bidding inputs
  u8 vc_of[kMaxPorts];              ///< `vc_of[input]`: VC that requests, for matched and bidding inputs
};

/// Returns the set of one port.
FLITLAB_INLINE PortSet only(u32 port) { return PortSet{1} << port; }

/// Returns the input ports among `ports` that request output `out`.
FLITLAB_INLINE PortSet contenders_for(const Matching& m, PortSet ports, u32 out) {
  PortSet set = 0;
  for (; ports; ports &= ports - 1) set |= PortSet{m.output_of[lowest_bit(ports)] == out} << lowest_bit(ports);
  return set;
}

/// Returns the VCs of an input port, among `set`, whose packets leave through output `out`.
template <class T, int W>
FLITLAB_INLINE u32 vcs_toward(const T& t, const Item<W>& router, u32 port, u32 set, u32 out) {
  u32 found = 0;
  for (; set; set &= set - 1) {
    const u32 vc = lowest_bit(set);
    if (router.at(t.router_fields.input, port * t.vcs + vc).out_port == out) found |= 1u << vc;
  }
  return found;
}

/// Returns the VCs of an input port that are ready to send.
template <class T, int W>
FLITLAB_INLINE u32 ready_vcs(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  return toward_open(t, router, control, port, vcs_of(t, word_of(t, router, control, port).ready(), port));
}

/// Returns the input ports that have a VC ready to send.
template <class T, int W>
FLITLAB_INLINE PortSet ready_ports(const T& t, const Item<W>& router, RouterControl& control) {
  PortSet ports = ports_with(t, router, control, [](const RouterControl& word) { return word.ready(); });
  for (PortSet rest = may_close(t) ? ports : 0; rest; rest &= rest - 1)
    if (!ready_vcs(t, router, control, lowest_bit(rest))) ports &= ~only(lowest_bit(rest));
  return ports;
}

/// Separable, input-first: each input port requests with one VC, and each output port grants one input.
template <class T, int W>
FLITLAB_INLINE void match_input_first(const T& t, const Item<W>& router, RouterControl& control, Matching& m,
                                      const Turn& turn) {
  const PortSet bidders = ready_ports(t, router, control) & ~m.inputs;
  PortSet outputs = 0;
  for (PortSet ports = bidders; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    const u32 vc = pick_vc(t, router, port, ready_vcs(t, router, control, port), turn);
    const u32 out = router.at(t.router_fields.input, port * t.vcs + vc).out_port;
    outputs |= only(out);
    m.output_of[port] = static_cast<u8>(out);
    m.vc_of[port] = static_cast<u8>(vc);
  }
  m.outputs |= outputs;
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs);
    m.inputs |= only(pick_input(t, router, out, contenders_for(m, bidders, out), m.vc_of, turn));
  }
}

/// Returns the outputs for which input `port` has a ready VC.
template <class T, int W>
FLITLAB_INLINE PortSet requested_outputs(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  PortSet requested = 0;
  for (u32 set = ready_vcs(t, router, control, port); set; set &= set - 1)
    requested |= only(router.at(t.router_fields.input, port * t.vcs + lowest_bit(set)).out_port);
  return requested;
}

/// Requested outputs of all bidders. A CPU stores them; a GPU recomputes them (see Matching).
template <class T, int W>
class RequestedOutputs {
 public:
  FLITLAB_INLINE RequestedOutputs(const T& t, const Item<W>& router, RouterControl& control, PortSet bidders)
      : t_(t), router_(router), control_(control) {
    for (PortSet ports = bidders; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports);
      const PortSet requested = requested_outputs(t, router, control, port);
      if constexpr (W == 1) of_[port] = requested;
      all_ |= requested;
    }
  }
  FLITLAB_INLINE PortSet of(u32 port) const {
    if constexpr (W == 1) return of_[port];
    return requested_outputs(t_, router_, control_, port);
  }
  FLITLAB_INLINE PortSet all() const { return all_; }

 private:
  const T& t_;
  const Item<W>& router_;
  RouterControl& control_;
  PortSet all_ = 0;
  PortSet of_[W == 1 ? kMaxPorts : 1];
};

/// Separable, output-first. With several rounds it is iSLIP, whose pointers move only for first-round matches.
template <class T, int W>
FLITLAB_INLINE void match_output_first(const T& t, const Item<W>& router, RouterControl& control, u32 rounds,
                                       Matching& m, PortSet& first_round_inputs, const Turn& turn) {
  const PortSet bidders = ready_ports(t, router, control) & ~m.inputs;
  const RequestedOutputs<T, W> requests(t, router, control, bidders);
  for (u32 round = 0; round < rounds; ++round) {
    PortSet offered = 0;
    for (PortSet outs = requests.all() & ~m.outputs; outs; outs &= outs - 1) {
      const u32 out = lowest_bit(outs);
      PortSet contenders = 0;
      for (PortSet ports = bidders & ~m.inputs; ports; ports &= ports - 1) {
        const u32 port = lowest_bit(ports);
        if (!((requests.of(port) >> out) & 1)) continue;
        contenders |= only(port);
        const u32 set = vcs_toward(t, router, port, ready_vcs(t, router, control, port), out);
        m.vc_of[port] = static_cast<u8>(pick_vc(t, router, port, set, turn));
      }
      if (!contenders) continue;
      const u32 port = pick_input(t, router, out, contenders, m.vc_of, turn);
      const PortSet offers =
          ((offered >> port) & 1 ? only(m.output_of[port]) : 0) | only(out);  // the input's best offer, and this one
      m.output_of[port] =
          static_cast<u8>(first_at_or_after64(offers, router.at(t.router_fields.port, port).pick_output));
      offered |= only(port);
    }
    if (!offered) break;
    m.inputs |= offered;
    for (; offered; offered &= offered - 1) m.outputs |= only(m.output_of[lowest_bit(offered)]);
    if (round == 0) first_round_inputs = m.inputs;
  }
}

/// Wavefront: ports on one diagonal of the request matrix never conflict. The first diagonal changes from cycle to
/// cycle.
template <class T, int W>
FLITLAB_INLINE void match_wavefront(const T& t, const Item<W>& router, RouterControl& control, Matching& m, Cycle now) {
  const PortSet bidders = ready_ports(t, router, control) & ~m.inputs;
  const RequestedOutputs<T, W> requests(t, router, control, bidders);
  const u32 first = first_diagonal(now, t.ports);
  for (u32 d = 0; d < t.ports; ++d) {
    for (PortSet ports = bidders & ~m.inputs; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports);
      const u32 out = (d + first + t.ports - port) % t.ports;
      if (((m.outputs >> out) & 1) || !((requests.of(port) >> out) & 1)) continue;
      m.inputs |= only(port);
      m.outputs |= only(out);
      m.output_of[port] = static_cast<u8>(out);
    }
  }
}

/// Speculative requests: packets that bid for an output VC in this cycle also request the switch, if both ports are
/// unmatched. A grant is wasted unless the packet got the output VC and that VC has a credit.
template <class V, int W>
FLITLAB_INLINE void speculate(const V& v, const Item<W>& router, RouterControl& control, u32 index, Matching& m,
                              Cycle now) {
  const auto& t = v.t;
  const Turn turn = turn_of(v, index, now);
  PortSet outputs = 0, bidders = 0;
  const PortSet bidding = ports_with(t, router, control, [](const RouterControl& word) { return word.bids; });
  for (PortSet ports = bidding & ~m.inputs; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports), bids = vcs_of(t, word_of(t, router, control, port).bids, port);
    const u32 vc = pick_vc(t, router, port, bids, turn);
    const u32 out = router.at(t.router_fields.input, port * t.vcs + vc).out_port;
    if (((m.outputs >> out) & 1) || is_closed(t, router, control, out)) continue;
    bidders |= only(port);
    outputs |= only(out);
    m.output_of[port] = static_cast<u8>(out);
    m.vc_of[port] = static_cast<u8>(vc);
  }
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs);
    const u32 port = pick_input(t, router, out, contenders_for(m, bidders, out), m.vc_of, turn);
    const u32 vc = m.vc_of[port];
    const InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
    if (in.stage != VcState::kHead || !router.at(t.router_fields.output, out * t.vcs + in.out_vc).credits) continue;
    RouterControl& word = word_of(t, router, control, port);
    const u64 bit = u64{1} << bit_of(t, port, vc);
    word.pending &= ~bit;
    word.granted |= bit;
    update_arbiters(t, router, port, vc, out);
    send_flit(v, router, control, index, port, vc, out, now);
    count(*v.shard, Total::kFlitMoves);
  }
}

/// The connections that packets hold in this cycle.
struct Held {
  PortSet inputs = 0;   ///< input ports that are connected
  PortSet open = 0;     ///< those whose output's channel accepts a flit
  PortSet outputs = 0;  ///< outputs that are closed to other packets only because they are connected
};

/// Finds the connections whose packets have a flit and a credit, and ends the others. Takes their ports out of the
/// allocation.
template <class T, int W>
FLITLAB_INLINE Held find_connections(const T& t, const Item<W>& router, RouterControl& control, Matching& m,
                                     Cycle now) {
  Held held;
  for (u32 port = 0; port < t.ports; ++port) {
    Connection& c = router.at(t.router_fields.connection, port);
    if (!c.vc) continue;
    const u32 vc = c.vc - 1;
    if (c.at + 1 != now || !(vcs_of(t, word_of(t, router, control, port).ready(), port) >> vc & 1)) {
      c = {};
      continue;
    }
    c.at = now;
    const u32 out = router.at(t.router_fields.input, port * t.vcs + vc).out_port;
    m.output_of[port] = static_cast<u8>(out);
    m.vc_of[port] = static_cast<u8>(vc);
    held.inputs |= only(port);
    m.outputs |= only(out);
    if (is_closed(t, router, control, out)) continue;
    held.open |= only(port);
    held.outputs |= only(out);
  }
  m.inputs |= held.inputs;
  for (PortSet outs = held.outputs; outs; outs &= outs - 1)
    word_of(t, router, control, lowest_bit(outs)).closed |= 1u << port_bit(t, lowest_bit(outs));
  return held;
}

/// Sends the flits of the connections, and reopens their outputs.
template <class V, int W>
FLITLAB_INLINE void use_connections(const V& v, const Item<W>& router, RouterControl& control, u32 index,
                                    const Held& held, const Matching& m, Cycle now) {
  const auto& t = v.t;
  for (PortSet outs = held.outputs; outs; outs &= outs - 1)
    word_of(t, router, control, lowest_bit(outs)).closed &= ~(1u << port_bit(t, lowest_bit(outs)));
  for (PortSet ports = held.open; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    send_flit(v, router, control, index, port, m.vc_of[port], m.output_of[port], now);
    count(*v.shard, Total::kFlitMoves);
  }
}

/// Switch allocation and traversal of one router. `bidding`: a packet bids for an output VC in this cycle (for
/// speculation).
template <class V, int W>
FLITLAB_INLINE void allocate_switch(const V& v, const Item<W>& router, RouterControl& control, u32 index, bool bidding,
                                    Cycle now) {
  const auto& t = v.t;
  Matching m;
  Held held;
  if (t.hold_switch) held = find_connections(t, router, control, m, now);
  if (ready_ports(t, router, control) & ~m.inputs) {
    const Turn turn = turn_of(v, index, now);
    PortSet pointer_inputs = ~PortSet{0};
    switch (t.switch_allocator) {
      case Allocator::kInputFirst: match_input_first(t, router, control, m, turn); break;
      case Allocator::kOutputFirst: match_output_first(t, router, control, 1, m, pointer_inputs, turn); break;
      case Allocator::kIslip: match_output_first(t, router, control, t.iterations, m, pointer_inputs, turn); break;
      case Allocator::kWavefront: match_wavefront(t, router, control, m, now); break;
    }
    for (PortSet ports = m.inputs & ~held.inputs; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports), out = m.output_of[port];
      u32 vc = m.vc_of[port];
      if (t.switch_allocator != Allocator::kInputFirst) {
        const u32 set = vcs_toward(t, router, port, ready_vcs(t, router, control, port), out);
        vc = pick_vc(t, router, port, set, turn);
      }
      if ((pointer_inputs >> port) & 1) update_arbiters(t, router, port, vc, out);
      send_flit(v, router, control, index, port, vc, out, now);
      count(*v.shard, Total::kFlitMoves);
    }
  }
  if (t.speculative && bidding) speculate(v, router, control, index, m, now);
  if (t.hold_switch) use_connections(v, router, control, index, held, m, now);
}

}  // namespace flitlab::vc
