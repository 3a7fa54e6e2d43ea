#pragma once
/// Switch allocation: chooses the flits that cross the crossbar, at most one per input and per output of the crossbar
/// (Dally & Towles sections 19.1 to 19.5). Without speedup these are the ports, and there is one round per cycle.
#include "kernels/routers/vc/traverse.hpp"

namespace flitlab::vc {

/// The inputs and outputs of the crossbar that a switch allocator has matched so far. An allocator has no other arrays,
/// because a GPU keeps an array with a run-time index in memory, not in registers.
struct Matching {
  PortSet inputs = 0, outputs = 0;  ///< matched inputs and outputs
  u8 output_of[kMaxPorts];          ///< `output_of[input]`: output, for matched and bidding inputs
  u8 vc_of[kMaxPorts];              ///< `vc_of[input]`: VC that requests, for matched and bidding inputs
};

/// Returns the set of one port, input or output.
FLITLAB_INLINE PortSet only(u32 number) { return PortSet{1} << number; }

/// Returns the inputs among `inputs` that request output `out`.
FLITLAB_INLINE PortSet contenders_for(const Matching& m, PortSet inputs, u32 out) {
  PortSet set = 0;
  for (; inputs; inputs &= inputs - 1) set |= PortSet{m.output_of[lowest_bit(inputs)] == out} << lowest_bit(inputs);
  return set;
}

/// Returns the crossbar output that the packet at the front of input VC (port, vc) requests.
template <class T, int W>
FLITLAB_INLINE u32 requested_output(const T& t, const Item<W>& router, u32 port, u32 vc) {
  return crossbar_output(t, port, router.at(t.router_fields.input, port * t.vcs + vc).out_port);
}

/// Returns the VCs at a crossbar input, among `set`, that request output `out`.
template <class T, int W>
FLITLAB_INLINE u32 vcs_toward(const T& t, const Item<W>& router, u32 input, u32 set, u32 out) {
  u32 found = 0;
  for (; set; set &= set - 1) {
    const u32 vc = lowest_bit(set);
    if (requested_output(t, router, port_of(t, input), vc) == out) found |= 1u << vc;
  }
  return found;
}

/// Returns the VCs at a crossbar input that are ready to send.
template <class T, int W>
FLITLAB_INLINE u32 ready_vcs(const T& t, const Item<W>& router, RouterControl& control, u32 input) {
  const u32 port = port_of(t, input);
  return vcs_at(t, input,
                toward_open(t, router, control, port, vcs_of(t, word_of(t, router, control, port).ready(), port)));
}

/// Returns the crossbar inputs that have virtual channels in a set; `set_of` as in for_each_vc().
template <class T, int W, class Set>
FLITLAB_INLINE PortSet inputs_with(const T& t, const Item<W>& router, RouterControl& control, Set&& set_of) {
  PortSet inputs = 0;
  for (u32 input = 0; input < t.ports * t.input_speedup; ++input) {
    const u32 port = port_of(t, input), set = vcs_of(t, set_of(word_of(t, router, control, port)), port);
    inputs |= PortSet{vcs_at(t, input, set) != 0} << input;
  }
  return inputs;
}

/// Returns the crossbar inputs that have a VC ready to send.
template <class T, int W>
FLITLAB_INLINE PortSet ready_inputs(const T& t, const Item<W>& router, RouterControl& control) {
  PortSet inputs = inputs_with(t, router, control, [](const RouterControl& word) { return word.ready(); });
  for (PortSet rest = may_close(t) ? inputs : 0; rest; rest &= rest - 1)
    if (!ready_vcs(t, router, control, lowest_bit(rest))) inputs &= ~only(lowest_bit(rest));
  return inputs;
}

/// Separable, input-first: each input requests with one VC, and each output grants one input.
template <class T, int W>
FLITLAB_INLINE void match_input_first(const T& t, const Item<W>& router, RouterControl& control, Matching& m,
                                      const Turn& turn) {
  const PortSet bidders = ready_inputs(t, router, control) & ~m.inputs;
  PortSet outputs = 0;
  for (PortSet inputs = bidders; inputs; inputs &= inputs - 1) {
    const u32 input = lowest_bit(inputs);
    const u32 vc = pick_vc(t, router, input, ready_vcs(t, router, control, input), turn);
    const u32 out = requested_output(t, router, port_of(t, input), vc);
    outputs |= only(out);
    m.output_of[input] = static_cast<u8>(out);
    m.vc_of[input] = static_cast<u8>(vc);
  }
  m.outputs |= outputs;
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs);
    m.inputs |= only(pick_input(t, router, out, contenders_for(m, bidders, out), m.vc_of, turn));
  }
}

/// Returns the outputs for which an input has a ready VC.
template <class T, int W>
FLITLAB_INLINE PortSet requested_outputs(const T& t, const Item<W>& router, RouterControl& control, u32 input) {
  PortSet requested = 0;
  for (u32 set = ready_vcs(t, router, control, input); set; set &= set - 1)
    requested |= only(requested_output(t, router, port_of(t, input), lowest_bit(set)));
  return requested;
}

/// Requested outputs of all bidders. A CPU stores them; a GPU recomputes them (see Matching).
template <class T, int W>
class RequestedOutputs {
 public:
  FLITLAB_INLINE RequestedOutputs(const T& t, const Item<W>& router, RouterControl& control, PortSet bidders)
      : t_(t), router_(router), control_(control) {
    for (PortSet inputs = bidders; inputs; inputs &= inputs - 1) {
      const u32 input = lowest_bit(inputs);
      const PortSet requested = requested_outputs(t, router, control, input);
      if constexpr (W == 1) of_[input] = requested;
      all_ |= requested;
    }
  }
  FLITLAB_INLINE PortSet of(u32 input) const {
    if constexpr (W == 1) return of_[input];
    return requested_outputs(t_, router_, control_, input);
  }
  FLITLAB_INLINE PortSet all() const { return all_; }

 private:
  const T& t_;
  const Item<W>& router_;
  RouterControl& control_;
  PortSet all_ = 0;
  PortSet of_[W == 1 ? kMaxPorts : 1];
};

/// Separable, input-first: each input requests one output, and each output grants one input.
template <class T, int W>
FLITLAB_INLINE void match_input_first_by_output(const T& t, const Item<W>& router, RouterControl& control,
                                                Matching& m) {
  const PortSet bidders = ready_inputs(t, router, control) & ~m.inputs;
  PortSet outputs = 0;
  for (PortSet inputs = bidders; inputs; inputs &= inputs - 1) {
    const u32 input = lowest_bit(inputs);
    const u32 out = first_at_or_after64(requested_outputs(t, router, control, input),
                                        router.at(t.router_fields.port, input).pick_output);
    outputs |= only(out);
    m.output_of[input] = static_cast<u8>(out);
  }
  m.outputs |= outputs;
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs);
    m.inputs |= only(pick_input(t, router, out, contenders_for(m, bidders, out), m.vc_of, Turn{}));
  }
}

/// Separable, output-first. With several iterations it is iSLIP, whose pointers move only for matches of the first.
template <class T, int W>
FLITLAB_INLINE void match_output_first(const T& t, const Item<W>& router, RouterControl& control, u32 iterations,
                                       Matching& m, PortSet& first_inputs, const Turn& turn) {
  const PortSet bidders = ready_inputs(t, router, control) & ~m.inputs;
  const RequestedOutputs<T, W> requests(t, router, control, bidders);
  for (u32 iteration = 0; iteration < iterations; ++iteration) {
    PortSet offered = 0;
    for (PortSet outs = requests.all() & ~m.outputs; outs; outs &= outs - 1) {
      const u32 out = lowest_bit(outs);
      PortSet contenders = 0;
      for (PortSet inputs = bidders & ~m.inputs; inputs; inputs &= inputs - 1) {
        const u32 input = lowest_bit(inputs);
        if (!((requests.of(input) >> out) & 1)) continue;
        contenders |= only(input);
        const u32 set = vcs_toward(t, router, input, ready_vcs(t, router, control, input), out);
        m.vc_of[input] = static_cast<u8>(pick_vc(t, router, input, set, turn));
      }
      if (!contenders) continue;
      const u32 input = pick_input(t, router, out, contenders, m.vc_of, turn);
      const PortSet offers =
          ((offered >> input) & 1 ? only(m.output_of[input]) : 0) | only(out);  // the input's best offer, and this one
      m.output_of[input] =
          static_cast<u8>(first_at_or_after64(offers, router.at(t.router_fields.port, input).pick_output));
      offered |= only(input);
    }
    if (!offered) break;
    m.inputs |= offered;
    for (; offered; offered &= offered - 1) m.outputs |= only(m.output_of[lowest_bit(offered)]);
    if (iteration == 0) first_inputs = m.inputs;
  }
}

/// Wavefront: inputs and outputs on one diagonal of the request matrix never conflict. The first diagonal changes from
/// round to round.
template <class T, int W>
FLITLAB_INLINE void match_wavefront(const T& t, const Item<W>& router, RouterControl& control, Matching& m, u32 round) {
  const PortSet bidders = ready_inputs(t, router, control) & ~m.inputs;
  const RequestedOutputs<T, W> requests(t, router, control, bidders);
  const u32 n = t.ports * t.crossbar_factor, first = first_diagonal(round, n);
  for (u32 d = 0; d < n; ++d) {
    for (PortSet inputs = bidders & ~m.inputs; inputs; inputs &= inputs - 1) {
      const u32 input = lowest_bit(inputs);
      const u32 out = (d + first + n - input) % n;
      if (((m.outputs >> out) & 1) || !((requests.of(input) >> out) & 1)) continue;
      m.inputs |= only(input);
      m.outputs |= only(out);
      m.output_of[input] = static_cast<u8>(out);
    }
  }
}

/// Speculative requests: packets that bid for an output VC in this round also request the switch, if both ends of the
/// crossbar are unmatched. A grant is wasted unless the packet got the output VC and that VC has a credit.
template <class V, int W>
FLITLAB_INLINE void speculate(const V& v, const Item<W>& router, RouterControl& control, u32 index, Matching& m,
                              Cycle now, u32 round) {
  const auto& t = v.t;
  const Turn turn = turn_of(v, index, now, round);
  PortSet bidders = 0, outputs = 0;
  const PortSet bidding = inputs_with(t, router, control, [](const RouterControl& word) { return word.bids; });
  for (PortSet inputs = bidding & ~m.inputs; inputs; inputs &= inputs - 1) {
    const u32 input = lowest_bit(inputs), port = port_of(t, input);
    const u32 bids = vcs_at(t, input, vcs_of(t, word_of(t, router, control, port).bids, port));
    const u32 vc = pick_vc(t, router, input, bids, turn), out = requested_output(t, router, port, vc);
    if (((m.outputs >> out) & 1) || is_closed(t, router, control, port_of(t, out))) continue;
    bidders |= only(input);
    outputs |= only(out);
    m.output_of[input] = static_cast<u8>(out);
    m.vc_of[input] = static_cast<u8>(vc);
  }
  for (; outputs; outputs &= outputs - 1) {
    const u32 out = lowest_bit(outputs), out_port = port_of(t, out);
    const u32 input = pick_input(t, router, out, contenders_for(m, bidders, out), m.vc_of, turn);
    const u32 vc = m.vc_of[input], port = port_of(t, input);
    const InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
    if (in.stage != VcState::kHead || !router.at(t.router_fields.output, out_port * t.vcs + in.out_vc).credits)
      continue;
    RouterControl& word = word_of(t, router, control, port);
    const u64 bit = u64{1} << bit_of(t, port, vc);
    word.pending &= ~bit;
    word.granted |= bit;
    update_arbiters(t, router, input, vc, out);
    send_flit(v, router, control, index, port, vc, out_port, now, round);
    count(*v.shard, Total::kFlitMoves);
  }
}

/// The connections that packets hold in this round. They exist only without output speedup: an output is a port.
struct Held {
  PortSet inputs = 0;   ///< inputs that are connected
  PortSet open = 0;     ///< those whose output accepts a flit
  PortSet outputs = 0;  ///< outputs that are closed to other packets only because they are connected
};

/// Finds the connections whose packets have a flit and a credit, and ends the others. Takes their inputs and outputs
/// out of the allocation.
template <class T, int W>
FLITLAB_INLINE Held find_connections(const T& t, const Item<W>& router, RouterControl& control, Matching& m,
                                     u32 round) {
  Held held;
  for (u32 input = 0; input < t.ports * t.input_speedup; ++input) {
    Connection& c = router.at(t.router_fields.connection, input);
    if (!c.vc) continue;
    const u32 vc = c.vc - 1, port = port_of(t, input);
    if (c.at + 1 != round || !(vcs_of(t, word_of(t, router, control, port).ready(), port) >> vc & 1)) {
      c = {};
      continue;
    }
    c.at = round;
    const u32 out = router.at(t.router_fields.input, port * t.vcs + vc).out_port;
    m.output_of[input] = static_cast<u8>(out);
    m.vc_of[input] = static_cast<u8>(vc);
    held.inputs |= only(input);
    m.outputs |= only(out);
    if (is_closed(t, router, control, out)) continue;
    held.open |= only(input);
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
                                    const Held& held, const Matching& m, Cycle now, u32 round) {
  const auto& t = v.t;
  for (PortSet outs = held.outputs; outs; outs &= outs - 1)
    word_of(t, router, control, lowest_bit(outs)).closed &= ~(1u << port_bit(t, lowest_bit(outs)));
  for (PortSet inputs = held.open; inputs; inputs &= inputs - 1) {
    const u32 input = lowest_bit(inputs);
    send_flit(v, router, control, index, port_of(t, input), m.vc_of[input], m.output_of[input], now, round);
    count(*v.shard, Total::kFlitMoves);
  }
}

/// Switch allocation and traversal of one router. `bidding`: a packet bids for an output VC in this round (for
/// speculation). `round`: as for turn_of().
template <class V, int W>
FLITLAB_INLINE void allocate_switch(const V& v, const Item<W>& router, RouterControl& control, u32 index, bool bidding,
                                    Cycle now, u32 round) {
  const auto& t = v.t;
  Matching m;
  Held held;
  if (t.queue_flits) close_full_queues(t, router, control);
  if (t.hold_switch) held = find_connections(t, router, control, m, round);
  if (ready_inputs(t, router, control) & ~m.inputs) {
    const Turn turn = turn_of(v, index, now, round);
    PortSet pointer_inputs = ~PortSet{0};
    switch (t.switch_allocator) {
      case SwitchAllocator::kInputFirst: match_input_first(t, router, control, m, turn); break;
      case SwitchAllocator::kOutputFirst: match_output_first(t, router, control, 1, m, pointer_inputs, turn); break;
      case SwitchAllocator::kIslip:
        match_output_first(t, router, control, t.iterations, m, pointer_inputs, turn);
        break;
      case SwitchAllocator::kWavefront: match_wavefront(t, router, control, m, round); break;
      case SwitchAllocator::kInputFirstByOutput:
        // An input with arbiters that compare ranks requests with its highest packet, whichever its output is.
        if (compares_ranks(t.arbiter))
          match_input_first(t, router, control, m, turn);
        else
          match_input_first_by_output(t, router, control, m);
        break;
    }
    for (PortSet inputs = m.inputs & ~held.inputs; inputs; inputs &= inputs - 1) {
      const u32 input = lowest_bit(inputs), out = m.output_of[input];
      u32 vc = m.vc_of[input];
      if (t.switch_allocator != SwitchAllocator::kInputFirst) {
        const u32 set = vcs_toward(t, router, input, ready_vcs(t, router, control, input), out);
        vc = pick_vc(t, router, input, set, turn);
      }
      if ((pointer_inputs >> input) & 1) update_arbiters(t, router, input, vc, out);
      send_flit(v, router, control, index, port_of(t, input), vc, port_of(t, out), now, round);
      count(*v.shard, Total::kFlitMoves);
    }
  }
  if (t.speculative && bidding) speculate(v, router, control, index, m, now, round);
  if (t.hold_switch) use_connections(v, router, control, index, held, m, now, round);
}

}  // namespace flitlab::vc
