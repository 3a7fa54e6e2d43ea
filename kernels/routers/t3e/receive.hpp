#pragma once
/// Arrivals: credits, flits that pass straight through, flits that are buffered (paper, section 7).
#include "kernels/routers/t3e/move.hpp"

namespace flitlab::t3e {

template <class V, int W>
FLITLAB_INLINE void receive_credit(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc) {
  const u32 places = is_terminal_port(port) ? v.t.buffer_flits : buffer_of(v.t, vc);
  if (++output_vc(v, router, port, vc).credits > places) raise_fault(control.fault, kFaultCreditOverflow, port);
}

/// An adaptive VC of an output port that nobody has and that has room for a whole packet, or kNoVc.
template <class V, int W>
FLITLAB_INLINE u32 free_adaptive_vc(const V& v, const Item<W>& router, u32 port, u32 flits) {
  for (u32 vc = kDeterministicVcs; vc < v.t.link_vcs; ++vc) {
    const OutputVc& out = output_vc(v, router, port, vc);
    if (out.owner == kNoVc && out.credits >= flits) return vc;
  }
  return kNoVc;
}

/// The short-circuit path: a flit that goes on in its direction leaves in the cycle in which it arrives. It is open
/// while no interface of the router holds anything that might come from the crossbar, and the output is not held by a
/// packet from the PE, whose flits come one by one. So nobody competes with a flit that passes, and it need not hold
/// the output.
template <class V, int W>
FLITLAB_INLINE bool pass_straight(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port,
                                  u8 mail, Cycle now) {
  const u32 straight = opposite(port), vc = (mail & kVcBits) - 1u;
  if (v.t.peers[index * kPorts + straight].item == kNone) return false;
  if (router.at(v.t.router_fields.registers).chan[oriented(router.at(v.t.router_fields.registers).turned, straight)] &
      kNoFast)
    return false;
  if (router.at(v.t.router_fields.port, straight).sending != kNoVc) return false;
  InputVc& in = input_vc(v, router, port, vc);
  u32 out_vc = in.out_vc;
  if (mail & kHeadMark) {
    const Packet& packet = front_packet(v, router, port, vc, in);
    const Choice choice = choose(v, router.at(v.t.router_fields.registers), index, packet, port, vc);
    if (is_stopped(v, index, port, choice, now)) return false;
    out_vc = kNoVc;
    if (choice.port == straight) {
      const OutputVc& out = output_vc(v, router, straight, choice.vc);
      if (out.owner == kNoVc && out.credits) out_vc = choice.vc;
    }
    if (out_vc == kNoVc && (choice.wish >> straight & 1)) out_vc = free_adaptive_vc(v, router, straight, packet.flits);
    if (out_vc == kNoVc) return false;
    in.packets = 1;
    start_front(v, router, index, port, vc, in, now);
  } else if (in.stage != Stage::kFlowing || in.out_port != straight ||
             !output_vc(v, router, straight, out_vc).credits) {
    return false;
  }
  send(v, router, control, index, port, vc, in, straight, out_vc, now);
  return true;
}

/// A flit enters the buffer of its virtual channel.
template <class V, int W>
FLITLAB_INLINE void buffer_flit(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u8 mail,
                                Cycle now) {
  const u32 vc = (mail & kVcBits) - 1u;
  InputVc& in = input_vc(v, router, port, vc);
  ++control.buffered;
  if ((mail & kHeadMark) && ++in.packets == 1) start_front(v, router, index, port, vc, in, now);
}

/// A buffered flit may move from now on.
template <class V, int W>
FLITLAB_INLINE void wake_flit(const V& v, const Item<W>& router, RouterControl& control, u32 port, u8 mail) {
  const u32 vc = (mail & kVcBits) - 1u;
  const u32 places = buffer_of(v.t, vc);
  if (++input_vc(v, router, port, vc).flits > places) raise_fault(control.fault, kFaultBufferOverflow, port);
  control.ready |= u64{1} << bit_of(port, vc);
}

/// Writes down that a head has arrived.
template <class V, int W>
FLITLAB_INLINE void log_arrival(const V& v, const Item<W>& router, u32 index, u32 port, u8 mail) {
  if (!(mail & kHeadMark)) return;
  const u32 vc = (mail & kVcBits) - 1u;
  const InputVc& in = input_vc(v, router, port, vc);
  const u32 place = (in.first + in.packets) % ring_of(v.t, vc);
  const Packet& packet = router.at(v.t.router_fields.ring, ring_start(v.t, port, vc) + place);
  v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(port), u8(vc), 0, 0,
                           u8(mail & kTailMark ? 3 : 1), packet.flits});
}

/// The flits of this cycle. Network flits stay in their mail slot while they may not move yet; those of PE and I/O
/// device may at once. `busy`: output ports that barrier packets have taken. Returns the ports that flits have gone
/// straight through, as bits.
template <class V, int W>
FLITLAB_INLINE u32 receive_flits(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 busy,
                                 Cycle now) {
  const auto& t = v.t;
  const bool open = t.short_circuit && !control.buffered;
  u32 passed = 0;
  u64& slot = router.at(t.router_fields.flit_mail, now & t.slot_mask);
  for (u64 mail = slot; mail;) {
    const u32 shift = lowest_bit(mail) & 0x38u, port = shift / 8;
    const u8 flit = static_cast<u8>(mail >> shift);
    mail &= ~(u64{0xFF} << shift);
    if constexpr (V::traced) log_arrival(v, router, index, port, flit);
    if (is_terminal_port(port)) {
      buffer_flit(v, router, control, index, port, flit, now);
      wake_flit(v, router, control, port, flit);
      slot &= ~(u64{0xFF} << shift);
    } else if (open && !(busy >> opposite(port) & 1) && pass_straight(v, router, control, index, port, flit, now)) {
      slot &= ~(u64{0xFF} << shift);
      passed |= 1u << opposite(port);
    } else {
      buffer_flit(v, router, control, index, port, flit, now);
    }
  }
  constexpr u64 kTerminalBytes = ~u64{0} << (8 * kNodePort);
  u64& waited = router.at(t.router_fields.flit_mail, (now - t.wait) & t.slot_mask);
  for (u64 mail = waited & ~kTerminalBytes; mail;) {
    const u32 shift = lowest_bit(mail) & 0x38u;
    wake_flit(v, router, control, shift / 8, static_cast<u8>(mail >> shift));
    mail &= ~(u64{0xFF} << shift);
  }
  waited &= kTerminalBytes;
  return passed;
}

}  // namespace flitlab::t3e
