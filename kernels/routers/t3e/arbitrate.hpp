#pragma once
/// The central arbiter (paper, section 7): every interface lets one of its virtual channels ask, output virtual
/// channels choose who may have them, outputs choose which virtual channel sends, and an interface that has won both of
/// its wishes takes the adaptive one.
#include "kernels/routers/t3e/receive.hpp"
#include "kernels/traffic/injection.hpp"

namespace flitlab::t3e {

struct Bids {
  u32 askers = 0;               ///< input ports with a virtual channel that asks
  u32 outputs = 0;              ///< output ports that some virtual channel could send by now
  u64 wanted = 0;               ///< adaptive output VCs that somebody asks for
  u8 vc[kPorts];                ///< which
  u8 adaptive[kDirections][4];  ///< input ports that ask for an adaptive VC
  u8 output[kPorts];            ///< output VCs that could send now, by output port
};

/// A flit of a packet that was stopped at the dateline is thrown away. The packet is lost, and counted.
template <class V, int W>
FLITLAB_INLINE void throw_away(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                               InputVc& in, Cycle now) {
  --in.flits;
  --control.buffered;
  return_credit(v, index, port, vc, now);
  count(*v.shard, Total::kFlitsDropped);
  if (!in.flits) control.ready &= ~(u64{1} << bit_of(port, vc));
  const bool tail = --in.left == 0;
  if (tail) {
    count(*v.shard, Total::kPacketsDropped);
    if (measured(v, front_packet(v, router, port, vc, in).created)) count(*v.shard, Total::kMeasuredDropped);
    end_front(v, router, index, port, vc, in, now);
  }
  if (tail || !in.flits) router.at(v.t.router_fields.port, port).asking = kNoVc;
}

/// Virtual channels of an interface that may have the right to ask, where I/O ports are slow: packets for one only
/// while it is open, and then those first that have its virtual channel. Else those might always have their turn in the
/// clocks between.
template <class V, int W>
FLITLAB_INLINE u32 beside_slow_io(const V& v, const Item<W>& router, u32 port, u32 set, u32 closed) {
  u32 bound = 0, owners = 0;
  for (u32 left = set; left; left &= left - 1) {
    const u32 vc = lowest_bit(left);
    const InputVc& in = input_vc(v, router, port, vc);
    if (in.stage == Stage::kStopped || in.out_port != kIoPort) continue;
    bound |= 1u << vc;
    if (output_vc(v, router, kIoPort, in.out_vc).owner == bit_of(port, vc)) owners |= 1u << vc;
  }
  if (closed) return set & ~bound;
  return owners ? owners : set;
}

/// `closed`: ports that take and give no flit in this clock, as bits: an I/O port works one clock of io_interval.
/// Every interface with flits chooses one virtual channel, round robin, unless one has the right already.
template <class V, int W>
FLITLAB_INLINE void choose_askers(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 closed,
                                  Bids& bids, Cycle now) {
  for (u64 left = closed ? control.ready & ~(u64{0xFF} << (8 * kIoPort)) : control.ready; left;) {
    const u32 port = lowest_bit(left) / 8;
    u32 set = static_cast<u32>(control.ready >> (port * 8)) & 0xFF;
    left &= ~(u64{0xFF} << (port * 8));
    PortState& state = router.at(v.t.router_fields.port, port);
    if (state.asking == kNoVc) {
      if (v.t.io_interval > 1) set = beside_slow_io(v, router, port, set, closed);
      if (!set) continue;
      state.asking = static_cast<u8>(first_at_or_after(set, state.pick));
      state.pick = static_cast<u8>(state.asking + 1);
    }
    const u32 vc = state.asking;
    InputVc& in = input_vc(v, router, port, vc);
    if (in.stage == Stage::kStopped) {
      throw_away(v, router, control, index, port, vc, in, now);
      continue;
    }
    bids.askers |= 1u << port;
    bids.vc[port] = static_cast<u8>(vc);
  }
}

/// A packet of which nothing has left asks for its deterministic VC, which remembers it, and, if it may adapt, for one
/// adaptive VC with room for all of it.
template <class V, int W>
FLITLAB_INLINE void ask(const V& v, const Item<W>& router, RouterControl& control, u32 port, Bids& bids) {
  const u32 vc = bids.vc[port], me = bit_of(port, vc);
  InputVc& in = input_vc(v, router, port, vc);
  if (in.stage != Stage::kAsking) return;
  OutputVc& deterministic = output_vc(v, router, in.out_port, in.out_vc);
  if (deterministic.owner != me) {
    deterministic.asked_by |= u64{1} << me;
    if (deterministic.owner == kNoVc) control.asked |= u64{1} << bit_of(in.out_port, in.out_vc);
  }
  if (!in.wish || in.adaptive_port != kNoVc) return;
  const u32 flits = in.left;  // nothing has left yet
  u32 best_port = 0, best_vc = kNoVc, most = 0;
  for (u32 set = in.wish; set; set &= set - 1) {
    const u32 out_port = lowest_bit(set), out_vc = free_adaptive_vc(v, router, out_port, flits);
    if (out_vc == kNoVc) continue;
    const u32 room = output_vc(v, router, out_port, out_vc).credits;
    if (best_vc != kNoVc && room < most) continue;  // of equals the highest direction
    best_port = out_port, best_vc = out_vc, most = room;
  }
  if (best_vc == kNoVc) return;
  bids.adaptive[best_port][best_vc - kDeterministicVcs] |= static_cast<u8>(1u << port);
  bids.wanted |= u64{1} << bit_of(best_port, best_vc);
}

/// Output VCs choose among those who ask: deterministic ones among all who ever have, adaptive ones among those of now.
template <class V, int W>
FLITLAB_INLINE void grant_vcs(const V& v, const Item<W>& router, RouterControl& control, const Bids& bids) {
  for (u64 set = control.asked; set; set &= set - 1) {
    const u32 bit = lowest_bit(set);
    OutputVc& out = output_vc(v, router, bit / 8, bit % 8);
    const u32 winner = first_at_or_after64(out.asked_by, out.pick);
    out.owner = static_cast<u8>(winner);
    out.pick = static_cast<u8>(winner + 1);
    out.asked_by &= ~(u64{1} << winner);
  }
  control.asked = 0;
  for (u64 set = bids.wanted; set; set &= set - 1) {
    const u32 port = lowest_bit(set) / 8, vc = lowest_bit(set) % 8;
    OutputVc& out = output_vc(v, router, port, vc);
    const u32 winner = first_at_or_after(u32{bids.adaptive[port][vc - kDeterministicVcs]}, out.pick);
    out.owner = static_cast<u8>(bit_of(winner, bids.vc[winner]));
    out.pick = static_cast<u8>(winner + 1);
    InputVc& in = input_vc(v, router, winner, bids.vc[winner]);
    in.adaptive_port = static_cast<u8>(port);
    in.adaptive_vc = static_cast<u8>(vc);
  }
}

/// Output VCs whose owner asks, and that have a place free downstream, compete for their port. Returns whether the
/// input port's packet has anything to wait for: if not, another virtual channel may ask.
template <class V, int W>
FLITLAB_INLINE bool compete(const V& v, const Item<W>& router, u32 port, u32 closed, Bids& bids) {
  const u32 vc = bids.vc[port], me = bit_of(port, vc);
  const InputVc& in = input_vc(v, router, port, vc);
  const OutputVc& out = output_vc(v, router, in.out_port, in.out_vc);
  const bool sends = out.owner == me && out.credits && !(closed >> in.out_port & 1);
  bids.output[in.out_port] |= static_cast<u8>(u32{sends} << in.out_vc);
  bids.outputs |= u32{sends} << in.out_port;
  if (in.adaptive_port == kNoVc) return sends;
  bids.output[in.adaptive_port] |= static_cast<u8>(1u << in.adaptive_vc);
  bids.outputs |= 1u << in.adaptive_port;
  return true;
}

/// The virtual channel that an output port sends from: the one that holds it; else round robin, adaptive ones last
/// unless their packet has begun.
template <class V, int W>
FLITLAB_INLINE u32 choose_sender(const V& v, const Item<W>& router, const PortState& state, u32 port, u32 set) {
  if (state.sending != kNoVc && (set >> state.sending & 1)) return state.sending;
  u32 urgent = set & ((1u << kDeterministicVcs) - 1);
  for (u32 adaptive = set & ~urgent; adaptive; adaptive &= adaptive - 1) {
    const u32 vc = lowest_bit(adaptive), owner = output_vc(v, router, port, vc).owner;
    if (input_vc(v, router, owner / 8, owner % 8).stage == Stage::kFlowing) urgent |= 1u << vc;
  }
  return first_at_or_after(urgent ? urgent : set, state.pick_out);
}

/// Whether an input VC that holds no flit has one in the next clock: one that arrives then from the PE, or one from a
/// link that will have waited long enough. Mail for the next clock is complete: check_t3e and the parameters' ranges
/// allow no delay of one clock for it.
template <class V, int W>
FLITLAB_INLINE bool has_flit_next(const V& v, const Item<W>& router, u32 port, u32 vc, Cycle now) {
  const Cycle arrival = now + 1 - (is_terminal_port(port) ? 0 : v.t.wait);
  return (mail_byte(router.at(v.t.router_fields.flit_mail, arrival & v.t.slot_mask), port) & kVcBits) == vc + 1;
}

/// Whether an output VC that has no credit has one in the next clock.
template <class V, int W>
FLITLAB_INLINE bool has_credit_next(const V& v, const Item<W>& router, u32 port, u32 vc, Cycle now) {
  return mail_byte(router.at(v.t.router_fields.credit_mail, (now + 1) & v.t.slot_mask), port) == vc + 1;
}

/// A flit crosses; who keeps which rights follows from what is left.
template <class V, int W>
FLITLAB_INLINE void cross(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                          u32 out_port, u32 out_vc, Cycle now) {
  InputVc& in = input_vc(v, router, port, vc);
  PortState& state = router.at(v.t.router_fields.port, port);
  PortState& out_state = router.at(v.t.router_fields.port, out_port);
  const u32 me = bit_of(port, vc);
  if (in.stage == Stage::kAsking) {
    if (in.adaptive_port == out_port && in.adaptive_vc == out_vc)
      withdraw(control, output_vc(v, router, in.out_port, in.out_vc), in.out_port, in.out_vc, me);
    else if (in.adaptive_port != kNoVc)
      release(control, output_vc(v, router, in.adaptive_port, in.adaptive_vc), in.adaptive_port, in.adaptive_vc);
    in.adaptive_port = kNoVc;
  }
  const bool tail = send(v, router, control, index, port, vc, in, out_port, out_vc, now);
  --control.buffered;
  if (!--in.flits) control.ready &= ~(u64{1} << me);
  out_state.pick_out = static_cast<u8>(out_vc + 1);
  const bool slow = v.t.io_interval > 1 && (out_port == kIoPort || port == kIoPort);
  const bool goes_on =
      !tail && !slow && (in.flits || has_flit_next(v, router, port, vc, now)) &&
      (output_vc(v, router, out_port, out_vc).credits || has_credit_next(v, router, out_port, out_vc, now));
  out_state.sending = goes_on ? static_cast<u8>(out_vc) : kNoVc;
  if (!goes_on) state.asking = kNoVc;  // it has ended, has a bubble, or is blocked; so it is at a slow I/O port
}

/// `busy`: output ports on which a flit has gone straight through in this cycle.
template <class V, int W>
FLITLAB_INLINE void arbitrate(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 busy,
                              Cycle now) {
  const u32 closed = v.t.io_interval > 1 && now % v.t.io_interval ? 1u << kIoPort : 0;
  Bids bids{};
  choose_askers(v, router, control, index, closed, bids, now);
  for (u32 set = bids.askers; set; set &= set - 1) ask(v, router, control, lowest_bit(set), bids);
  grant_vcs(v, router, control, bids);
  for (u32 set = bids.askers; set; set &= set - 1) {
    const u32 port = lowest_bit(set);
    if (!compete(v, router, port, closed, bids)) router.at(v.t.router_fields.port, port).asking = kNoVc;
  }
  u8 sender[kPorts], won[kPorts] = {};  // won: output ports, by input port
  u32 winners = 0;
  for (u32 set = bids.outputs & ~busy; set; set &= set - 1) {
    const u32 port = lowest_bit(set);
    sender[port] =
        static_cast<u8>(choose_sender(v, router, router.at(v.t.router_fields.port, port), port, bids.output[port]));
    const u32 winner = output_vc(v, router, port, sender[port]).owner / 8;
    won[winner] |= static_cast<u8>(1u << port);
    winners |= 1u << winner;
  }
  for (; winners; winners &= winners - 1) {
    const u32 port = lowest_bit(winners), vc = bids.vc[port];
    u32 out_port = lowest_bit(u32{won[port]});
    if (won[port] & (won[port] - 1)) out_port = input_vc(v, router, port, vc).adaptive_port;  // both: the adaptive one
    cross(v, router, control, index, port, vc, out_port, sender[out_port], now);
  }
}

}  // namespace flitlab::t3e
