#pragma once
/// The central arbiter (paper, section 7): every interface lets one of its virtual channels ask, output virtual
/// channels choose who may have them, outputs choose which virtual channel sends, and an interface that has won both of
/// its wishes takes the adaptive one.
#include "kernels/routers/t3e/receive.hpp"
#include "kernels/traffic/injection.hpp"

namespace flitlab::t3e {

/// What the virtual channels of a router bid for in one clock.
struct Bids {
  u8 output[kPorts];            ///< output VCs that could send now, by output port
  u8 vc[kPorts];                ///< the virtual channel that asks, by input port
  u8 won[kPorts];               ///< output ports, by input port
  u8 sender[kPorts];            ///< output VC that sends, by output port
  u8 adaptive[kDirections][4];  ///< input ports that ask for an adaptive VC
};

/// A flit of a packet that was stopped at the dateline is thrown away. The packet is lost, and counted.
template <class V, int W>
FLITLAB_INLINE void throw_away(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                               InputVc& in, Cycle now) {
  --in.flits;
  --control.buffered;
  outbox_of<Outbox<V>>(v, now).credit(port, v.t.peers[index * kPorts + port], vc);
  count(*v.shard, Total::kFlitsDropped);
  if (!in.flits) control.ready &= ~(u64{1} << bit_of(port, vc));
  const bool tail = --in.left == 0;
  if (tail) {
    count(*v.shard, Total::kPacketsDropped);
    if (measured(v, front_packet(v, router, port, vc, in).created)) count(*v.shard, Total::kMeasuredDropped);
    if (end_front(v, vc, in)) start_front(v, router, index, port, vc, in, now);
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

/// The virtual channel of an interface that asks: the one that has the right already, else the next one of a set that
/// has flits.
FLITLAB_INLINE u32 take_turn(PortState& port, u32 set) {
  const u32 asking = port.asking, next = first_at_or_after(set, port.pick), pick = port.pick;
  const bool free = asking == kNoVc;
  const u32 vc = select(free, next, asking);
  port.asking = static_cast<u8>(vc);
  port.pick = static_cast<u8>(select(free, next + 1, pick));
  return vc;
}

/// A packet of which nothing has left asks for its deterministic VC, which remembers it.
template <class V, int W>
FLITLAB_INLINE void ask(const V& v, const Item<W>& router, RouterControl& control, u32 me, const InputVc& in) {
  OutputVc& out = output_vc(v, router, in.out_port, in.out_vc);
  const u32 owner = out.owner;
  out.asked_by |= u64{owner != me} << me;
  control.asked |= u64{owner == kNoVc} << bit_of(in.out_port, in.out_vc);
}

/// Whether it asks for an adaptive VC as well.
FLITLAB_INLINE bool may_adapt(const InputVc& in) { return (in.wish != 0) & (in.adaptive_port == kNoVc); }

/// It asks for one with room for all of it. Returns the bit_of() that output VC if it is the first to do so, else
/// kNone.
template <class V, int W>
FLITLAB_INLINE u32 ask_adaptive(const V& v, const Item<W>& router, u32 port, const InputVc& in, Bids& bids) {
  const u32 flits = in.left;  // nothing has left yet
  u32 best_port = 0, best_vc = kNoVc, most = 0;
  if (!v.t.any_direction) {  // then it wishes for one
    best_port = lowest_bit(u32{in.wish});
    best_vc = free_adaptive_vc(v, router, best_port, flits);
  } else {
    for (u32 set = in.wish; set; set &= set - 1) {
      const u32 out_port = lowest_bit(set), out_vc = free_adaptive_vc(v, router, out_port, flits);
      if (out_vc == kNoVc) continue;
      const u32 room = output_vc(v, router, out_port, out_vc).credits;
      if (best_vc != kNoVc && room < most) continue;  // of equals the highest direction
      best_port = out_port, best_vc = out_vc, most = room;
    }
  }
  const bool found = best_vc != kNoVc;
  const u32 vc = found ? best_vc : kDeterministicVcs;
  u8& asking = bids.adaptive[best_port][vc - kDeterministicVcs];
  const bool first = found & (asking == 0);
  asking = static_cast<u8>(asking | u32{found} << port);
  return first ? bit_of(best_port, vc) : kNone;
}

/// A deterministic output VC chooses among all who have asked for it.
template <class V, int W>
FLITLAB_INLINE void grant(const V& v, const Item<W>& router, u32 bit) {
  OutputVc& out = output_vc(v, router, bit / 8, bit % 8);
  const u32 winner = first_at_or_after64(out.asked_by, out.pick);
  out.owner = static_cast<u8>(winner);
  out.pick = static_cast<u8>(winner + 1);
  out.asked_by &= ~(u64{1} << winner);
}

/// An adaptive one among those who ask now.
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

/// Output VCs whose owner asks, and that have a place free downstream, compete for their port. An input port whose
/// packet has nothing to wait for lets another virtual channel ask.
template <class V, int W>
FLITLAB_INLINE void compete(const V& v, const Item<W>& router, u32 port, u32 vc, u32 closed, Bids& bids) {
  const InputVc& in = input_vc(v, router, port, vc);
  const OutputVc& out = output_vc(v, router, in.out_port, in.out_vc);
  const bool sends = (out.owner == bit_of(port, vc)) & (out.credits != 0) & !(closed >> in.out_port & 1);
  const bool adaptive = in.adaptive_port != kNoVc;
  const u32 adaptive_port = in.adaptive_port % kPorts;
  bids.output[in.out_port] = static_cast<u8>(bids.output[in.out_port] | u32{sends} << in.out_vc);
  bids.output[adaptive_port] = static_cast<u8>(bids.output[adaptive_port] | u32{adaptive} << in.adaptive_vc % kMaxVcs);
  PortState& state = router.at(v.t.router_fields.port, port);
  state.asking = vc_if(sends | adaptive, vc);
}

/// The virtual channel that an output port sends from: the one that holds it; else round robin, adaptive ones last
/// unless their packet has begun. Returns the input port that it belongs to.
template <class V, int W>
FLITLAB_INLINE u32 choose_sender(const V& v, const Item<W>& router, u32 port, Bids& bids) {
  const PortState& state = router.at(v.t.router_fields.port, port);
  const u32 set = bids.output[port];
  u32 urgent = set & ((1u << kDeterministicVcs) - 1);
  for (u32 vc = kDeterministicVcs; vc < v.t.link_vcs; ++vc) {
    const u32 wants = set >> vc & 1, owner = select(wants, output_vc(v, router, port, vc).owner, 0);
    const u32 begun = input_vc(v, router, owner / 8, owner % 8).stage == Stage::kFlowing;
    urgent |= (wants & begun) << vc;
  }
  const u32 next = first_at_or_after(select(urgent != 0, urgent, set), state.pick_out), holder = state.sending % 32;
  const u32 vc = select(set >> holder & 1, holder,
                        next);  // kNoVc % 32 is no virtual channel
  bids.sender[port] = static_cast<u8>(vc);
  const u32 winner = output_vc(v, router, port, vc).owner / 8u;
  bids.won[winner] = static_cast<u8>(bids.won[winner] | 1u << port);
  return winner;
}

/// Whether a virtual channel that has the right to ask holds its output port, from which it will therefore send.
template <class V, int W>
FLITLAB_INLINE bool holds_output(const V& v, const Item<W>& router, const InputVc& in) {
  return (in.stage == Stage::kFlowing) & (router.at(v.t.router_fields.port, in.out_port).sending == in.out_vc) &
         (output_vc(v, router, in.out_port, in.out_vc).credits != 0);
}

/// The output port that a winner takes: of both its wishes the adaptive one.
FLITLAB_INLINE u32 output_taken(const InputVc& in, u32 won) {
  return select((won & (won - 1)) != 0, in.adaptive_port, lowest_bit(won));
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

/// The packet of a head that leaves by output VC (out_port, out_vc) gives up its other wish.
template <class V, int W>
FLITLAB_INLINE void settle_wishes(const V& v, const Item<W>& router, RouterControl& control, u32 me, InputVc& in,
                                  u32 out_port, u32 out_vc) {
  if (in.adaptive_port == out_port && in.adaptive_vc == out_vc)
    withdraw(control, output_vc(v, router, in.out_port, in.out_vc), in.out_port, in.out_vc, me);
  else if (in.adaptive_port != kNoVc)
    release(control, output_vc(v, router, in.adaptive_port, in.adaptive_vc), in.adaptive_port, in.adaptive_vc);
  in.adaptive_port = kNoVc;
}

/// A flit has crossed; who keeps which rights follows from what is left.
template <class V, int W>
FLITLAB_INLINE void keep_rights(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc,
                                InputVc& in, u32 out_port, u32 out_vc, bool tail, Cycle now) {
  PortState& state = router.at(v.t.router_fields.port, port);
  PortState& out_state = router.at(v.t.router_fields.port, out_port);
  const u32 flits = in.flits - 1u;
  in.flits = static_cast<u16>(flits);
  --control.buffered;
  control.ready ^= u64{flits == 0} << bit_of(port, vc);  // it was set
  const bool slow = v.t.io_interval > 1 && (out_port == kIoPort || port == kIoPort);
  const bool more = (flits != 0) | has_flit_next(v, router, port, vc, now);
  const bool room =
      (output_vc(v, router, out_port, out_vc).credits != 0) | has_credit_next(v, router, out_port, out_vc, now);
  const bool goes_on = !tail & !slow & more & room;
  out_state.pick_out = static_cast<u8>(out_vc + 1);
  out_state.sending = vc_if(goes_on, out_vc);
  // If not, it has ended, has a bubble, or is blocked; so it is at a slow I/O port.
  state.asking = vc_if(goes_on, vc);
}

/// `busy`: output ports on which a flit has gone straight through in this cycle.
template <class V, int W>
FLITLAB_INLINE void arbitrate(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 busy,
                              Cycle now) {
  // Ports that take and give no flit in this clock, as bits: an I/O port works one clock of io_interval.
  const u32 closed = v.t.io_interval > 1 && now % v.t.io_interval ? 1u << kIoPort : 0;
  Bids bids{};
  u32 askers = 0, winners = 0;
  u64 wanted = 0;
  for (u64 left = closed ? control.ready & ~(u64{0xFF} << (8 * kIoPort)) : control.ready; left;) {
    const u32 port = lowest_bit(left) / 8;
    u32 set = static_cast<u32>(control.ready >> (port * 8)) & 0xFF;
    left &= ~(u64{0xFF} << (port * 8));
    PortState& state = router.at(v.t.router_fields.port, port);
    if (v.t.io_interval > 1 && state.asking == kNoVc) set = beside_slow_io(v, router, port, set, closed);
    if (!set) continue;
    const u32 vc = take_turn(state, set);
    InputVc& in = input_vc(v, router, port, vc);
    if (in.stage == Stage::kStopped) {
      throw_away(v, router, control, index, port, vc, in, now);
      continue;
    }
    askers |= 1u << port;
    bids.vc[port] = static_cast<u8>(vc);
  }
  for (u32 set = askers; set; set &= set - 1) {
    const u32 port = lowest_bit(set), vc = bids.vc[port];
    const InputVc& in = input_vc(v, router, port, vc);
    if (in.stage != Stage::kAsking) continue;
    ask(v, router, control, bit_of(port, vc), in);
    if (!may_adapt(in)) continue;
    const u32 bit = ask_adaptive(v, router, port, in, bids);
    if (bit != kNone) wanted |= u64{1} << bit;
  }
  for (u64 set = control.asked; set; set &= set - 1) grant(v, router, lowest_bit(set));
  control.asked = 0;
  for (; wanted; wanted &= wanted - 1) grant_adaptive(v, router, lowest_bit(wanted), bids);
  for (u32 set = askers; set; set &= set - 1) {
    const u32 port = lowest_bit(set);
    compete(v, router, port, bids.vc[port], closed, bids);
  }
  for (u32 port = 0; port < kPorts; ++port)
    if (bids.output[port] && !(busy >> port & 1)) winners |= 1u << choose_sender(v, router, port, bids);
  const auto outbox = outbox_of<Outbox<V>>(v, now);
  for (; winners; winners &= winners - 1) {
    const u32 port = lowest_bit(winners), vc = bids.vc[port];
    InputVc& in = input_vc(v, router, port, vc);
    const u32 out_port = output_taken(in, bids.won[port]), out_vc = bids.sender[out_port];
    if (in.stage == Stage::kAsking) settle_wishes(v, router, control, bit_of(port, vc), in, out_port, out_vc);
    const u32 mail = send(v, outbox, router, control, index, port, vc, in, out_port, out_vc, now);
    keep_rights(v, router, control, port, vc, in, out_port, out_vc, (mail & kTailMark) != 0, now);
  }
}

}  // namespace flitlab::t3e
