#pragma once
/// The central arbiter (paper, section 7). Every interface (input port) selects one of its VCs. The packet in front of
/// that VC requests a deterministic output VC and, if it may adapt, an adaptive one. Output VCs choose among their
/// requesters; then each output port chooses the output VC that sends. An interface that wins both of its requests
/// takes the adaptive output VC.
#include "kernels/routers/t3e/receive.hpp"
#include "kernels/traffic/injection.hpp"

namespace flitlab::t3e {

/// Requests and grants of a router in one clock.
struct alignas(8) Bids {
  u8 output[kPorts];            ///< [output port] output VCs that can send now (bits)
  u8 vc[kPorts];                ///< [input port] VC with the right to request
  u8 won[kPorts];               ///< [input port] output ports won (bits)
  u8 sender[kPorts];            ///< [output port] output VC that sends
  u8 adaptive[kDirections][4];  ///< [output port][adaptive VC] input ports that request the VC (bits)
};

/// Drops one flit of a stopped packet. The packet is counted as lost when its tail is dropped.
template <class V, int W>
FLITLAB_INLINE void drop_flit(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                              InputVc& in, Cycle now) {
  --in.flits;
  subtract_from(control.buffered, 1);
  outbox_of<Outbox<V>>(v, now).credit(port, v.t.peers[index * kPorts + port], vc);
  count(*v.shard, Total::kFlitsDropped);
  clear_bit(control.ready, bit_of(port, vc), !in.flits);
  const bool tail = --in.left == 0;
  if (tail) {
    count(*v.shard, Total::kPacketsDropped);
    if (measured(v, front_packet(v, router, port, vc, in).created)) count(*v.shard, Total::kMeasuredDropped);
    if (end_front(v, vc, in)) start_front(v, router, index, port, vc, in, now);
  }
  if (tail || !in.flits) router.at(v.t.router_fields.port, port).asking = kNoVc;
}

/// Returns the VCs of an interface that may get the right to request, for a router with slow I/O ports. A packet for
/// the I/O port gets the right only while the port is open, and VCs that own an output VC of that port come first.
/// Otherwise the round-robin order could serve such VCs only in clocks in which the port is closed. `closed`: closed
/// ports (bits).
template <class V, int W>
FLITLAB_INLINE u32 eligible_beside_slow_io(const V& v, const Item<W>& router, u32 port, u32 set, u32 closed) {
  u32 bound = 0, owners = 0;
  for (u32 left = set; left; left &= left - 1) {
    const u32 vc = lowest_bit(left);
    const InputVc& in = input_vc(v, router, port, vc);
    if (in.stage == FrontState::kStopped || in.out_port != kIoPort) continue;
    bound |= 1u << vc;
    if (output_vc(v, router, kIoPort, in.out_vc).owner == bit_of(port, vc)) owners |= 1u << vc;
  }
  if (closed) return set & ~bound;
  return owners ? owners : set;
}

/// Returns the VC of an interface that requests outputs: the VC that already has the right to request, else the next VC
/// of `set` in round-robin order. `set`: VCs with flits.
FLITLAB_INLINE u32 select_requester(PortState& port, u32 set) {
  const u32 requester = port.asking, next = first_at_or_after(set, port.pick), pick = port.pick;
  const bool free = requester == kNoVc;
  const u32 vc = select(free, next, requester);
  port.asking = static_cast<u8>(vc);
  port.pick = static_cast<u8>(select(free, next + 1, pick));
  return vc;
}

/// Records the request of a packet for its deterministic output VC. No flit of the packet has left yet. Returns whether
/// the VC has no owner and no other request in RouterControl::asked.
template <class V, int W>
FLITLAB_INLINE bool request_deterministic(const V& v, const Item<W>& router, RouterControl& control, u32 input_bit,
                                          const InputVc& in) {
  OutputVc& out = output_vc(v, router, in.out_port, in.out_vc);
  const u32 owner = out.owner;
  set_bit(out.asked_by, input_bit, owner != input_bit);
  return set_bit(control.asked, bit_of(in.out_port, in.out_vc), owner == kNoVc);
}

/// Returns whether the packet also requests an adaptive VC.
FLITLAB_INLINE bool may_adapt(const InputVc& in) { return (in.wish != 0) & (in.adaptive_port == kNoVc); }

/// Requests an adaptive VC with room for the whole packet. Returns bit_of() of the output VC if this is the first
/// request for it in this clock, else kNone.
template <class V, int W>
FLITLAB_INLINE u32 request_adaptive(const V& v, const Item<W>& router, u32 port, const InputVc& in, Bids& bids) {
  const u32 flits = in.left;  // no flit has left yet
  u32 best_port = 0, best_vc = kNoVc, most = 0;
  if (!v.t.any_direction) {  // then `wish` has exactly one port
    best_port = lowest_bit(u32{in.wish});
    best_vc = free_adaptive_vc(v, router, best_port, flits);
  } else {
    for (u32 set = in.wish; set; set &= set - 1) {
      const u32 out_port = lowest_bit(set), out_vc = free_adaptive_vc(v, router, out_port, flits);
      if (out_vc == kNoVc) continue;
      const u32 room = output_vc(v, router, out_port, out_vc).credits;
      if (best_vc != kNoVc && room < most) continue;  // on a tie the highest direction wins
      best_port = out_port, best_vc = out_vc, most = room;
    }
  }
  const bool found = best_vc != kNoVc;
  const u32 vc = found ? best_vc : kDeterministicVcs;
  const bool first = set_bit_of_byte(bids.adaptive[best_port], vc - kDeterministicVcs, port, found);
  return first ? bit_of(best_port, vc) : kNone;
}

/// Grants a deterministic output VC to one of its requesters of this and earlier clocks, in round-robin order.
template <class V, int W>
FLITLAB_INLINE void grant(const V& v, const Item<W>& router, u32 bit) {
  OutputVc& out = output_vc(v, router, bit / 8, bit % 8);
  const u32 winner = first_at_or_after64(out.asked_by, out.pick);
  out.owner = static_cast<u8>(winner);
  out.pick = static_cast<u8>(winner + 1);
  out.asked_by &= ~(u64{1} << winner);
}

/// Grants an adaptive output VC to one of its requesters of this clock, in round-robin order.
template <class V, int W>
FLITLAB_INLINE void grant_adaptive(const V& v, const Item<W>& router, u32 bit, const Bids& bids) {
  const u32 port = bit / 8, vc = bit % 8;
  OutputVc& out = output_vc(v, router, port, vc);
  const u32 winner = first_at_or_after(u32{bids.adaptive[port][vc - kDeterministicVcs]}, out.pick);
  out.owner = static_cast<u8>(bit_of(winner, bids.vc[winner]));
  out.pick = static_cast<u8>(winner + 1);
  InputVc& in = input_vc(v, router, winner, bids.vc[winner]);
  in.adaptive_port = static_cast<u8>(port);
  in.adaptive_vc = static_cast<u8>(vc);
}

/// Lets the output VCs that an input VC has won compete for their output ports. A deterministic output VC competes only
/// with a credit and at an open port. If no output VC competes, the input port passes on the right to request.
/// Calls competes(whether, port) for ports: whether the output VC is the first that competes for the port.
template <class V, int W, class Competes>
FLITLAB_INLINE void compete(const V& v, const Item<W>& router, u32 port, u32 vc, u32 closed, Bids& bids,
                            Competes&& competes) {
  const InputVc& in = input_vc(v, router, port, vc);
  const OutputVc& out = output_vc(v, router, in.out_port, in.out_vc);
  const bool sends = (out.owner == bit_of(port, vc)) & (out.credits != 0) & !(closed >> in.out_port & 1);
  const bool adaptive = in.adaptive_port != kNoVc;
  const u32 adaptive_port = in.adaptive_port % kPorts;
  competes(set_bit_of_byte(bids.output, in.out_port, in.out_vc, sends), in.out_port);
  competes(set_bit_of_byte(bids.output, adaptive_port, in.adaptive_vc % kMaxVcs, adaptive), adaptive_port);
  PortState& state = router.at(v.t.router_fields.port, port);
  state.asking = vc_if(sends | adaptive, vc);
}

/// Chooses the output VC that an output port sends from: the VC that holds the port, else the next VC in round-robin
/// order. An adaptive VC comes last if no flit of its packet has left yet. Returns the input port of the winner.
template <class V, int W>
FLITLAB_INLINE u32 choose_sender(const V& v, const Item<W>& router, u32 port, Bids& bids) {
  const PortState& state = router.at(v.t.router_fields.port, port);
  const u32 set = bids.output[port];
  u32 urgent = set & ((1u << kDeterministicVcs) - 1);
  for (u32 vc = kDeterministicVcs; vc < v.t.link_vcs; ++vc) {
    const u32 wants = set >> vc & 1, owner = select(wants, output_vc(v, router, port, vc).owner, 0);
    const u32 begun = input_vc(v, router, owner / 8, owner % 8).stage == FrontState::kFlowing;
    urgent |= (wants & begun) << vc;
  }
  const u32 next = first_at_or_after(select(urgent != 0, urgent, set), state.pick_out), holder = state.sending % 32;
  const u32 vc = select(set >> holder & 1, holder,
                        next);  // kNoVc % 32 is not in any set
  bids.sender[port] = static_cast<u8>(vc);
  return output_vc(v, router, port, vc).owner / 8u;
}

/// Returns whether an input VC holds its output port and has a credit, so that it sends without arbitration.
template <class V, int W>
FLITLAB_INLINE bool holds_output(const V& v, const Item<W>& router, const InputVc& in) {
  return (in.stage == FrontState::kFlowing) & (router.at(v.t.router_fields.port, in.out_port).sending == in.out_vc) &
         (output_vc(v, router, in.out_port, in.out_vc).credits != 0);
}

/// Returns the output port that a winning input port takes: if it has won two, the port of the adaptive VC.
FLITLAB_INLINE u32 output_taken(const InputVc& in, u32 won) {
  return select((won & (won - 1)) != 0, in.adaptive_port, lowest_bit(won));
}

/// Returns whether an input VC without flits will have a flit that may move in the next clock: a flit that arrives from
/// the PE in that clock, or a flit from a link whose waiting time has passed by then. The inbox of the next clock is
/// already complete, because check_t3e and the parameters' ranges exclude delays of one clock.
template <class V, int W>
FLITLAB_INLINE bool has_flit_next(const V& v, const Item<W>& router, u32 port, u32 vc, Cycle now) {
  const Cycle arrival = now + 1 - (is_terminal_port(port) ? 0 : v.t.wait);
  return (byte_of_port(router.at(v.t.router_fields.flit_mail, arrival & v.t.slot_mask), port) & kVcBits) == vc + 1;
}

/// Returns whether a credit for an output VC arrives in the next clock.
template <class V, int W>
FLITLAB_INLINE bool has_credit_next(const V& v, const Item<W>& router, u32 port, u32 vc, Cycle now) {
  return byte_of_port(router.at(v.t.router_fields.credit_mail, (now + 1) & v.t.slot_mask), port) == vc + 1;
}

/// Cancels the other of a packet's two requests when its head leaves by output VC (out_port, out_vc). Returns whether
/// the packet has won the deterministic output VC without using it; release() must follow, after all cancellations.
template <class V, int W>
FLITLAB_INLINE bool cancel_other_request(const V& v, const Item<W>& router, u32 input_bit, InputVc& in, u32 out_port,
                                         u32 out_vc) {
  bool owns = false;
  if (in.adaptive_port == out_port && in.adaptive_vc == out_vc) {
    OutputVc& out = output_vc(v, router, in.out_port, in.out_vc);
    clear_bit(out.asked_by, input_bit);
    owns = out.owner == input_bit;
  } else if (in.adaptive_port != kNoVc) {
    output_vc(v, router, in.adaptive_port, in.adaptive_vc).owner = kNoVc;  // adaptive VCs have no pending requests
  }
  in.adaptive_port = kNoVc;
  return owns;
}

/// After a flit has crossed: decides whether its input VC keeps the right to request and whether its output VC keeps
/// the port.
template <class V, int W>
FLITLAB_INLINE void update_rights(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc,
                                  InputVc& in, u32 out_port, u32 out_vc, bool tail, Cycle now) {
  PortState& state = router.at(v.t.router_fields.port, port);
  PortState& out_state = router.at(v.t.router_fields.port, out_port);
  const u32 flits = in.flits - 1u;
  in.flits = static_cast<u16>(flits);
  subtract_from(control.buffered, 1);
  clear_bit(control.ready, bit_of(port, vc), flits == 0);
  const bool slow = v.t.io_interval > 1 && (out_port == kIoPort || port == kIoPort);
  const bool more = (flits != 0) | has_flit_next(v, router, port, vc, now);
  const bool room =
      (output_vc(v, router, out_port, out_vc).credits != 0) | has_credit_next(v, router, out_port, out_vc, now);
  const bool continues = !tail & !slow & more & room;
  out_state.pick_out = static_cast<u8>(out_vc + 1);
  out_state.sending = vc_if(continues, out_vc);
  // If the packet does not continue, it has ended, its next flit is missing (a bubble), or it is blocked. A slow I/O
  // port has the effect of a bubble.
  state.asking = vc_if(continues, vc);
}

}  // namespace flitlab::t3e
