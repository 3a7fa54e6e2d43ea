#pragma once
/// Arrivals: credits, flits that pass straight through, flits that are buffered (paper, section 7).
#include "kernels/routers/t3e/move.hpp"

namespace flitlab::t3e {

template <class V, int W>
FLITLAB_INLINE void receive_credit(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc) {
  const u32 places = buffer_of(v.t, vc);  // terminals have no adaptive ones
  if (++output_vc(v, router, port, vc).credits > places) raise_fault(control.fault, kFaultCreditOverflow, port);
}

/// An adaptive VC of an output port that nobody has and that has room for a whole packet, or kNoVc.
template <class V, int W>
FLITLAB_INLINE u32 free_adaptive_vc(const V& v, const Item<W>& router, u32 port, u32 flits) {
  u32 free = kNoVc;
  for (u32 vc = v.t.link_vcs; vc-- > kDeterministicVcs;) {
    const OutputVc& out = output_vc(v, router, port, vc);
    free = select((out.owner == kNoVc) & (out.credits >= flits), vc, free);
  }
  return free;
}

/// The short-circuit path: a flit that goes on in its direction leaves in the cycle in which it arrives. It is open
/// while no interface of the router holds anything that might come from the crossbar, and the output is not held by a
/// packet from the PE, whose flits come one by one. So nobody competes with a flit that passes, and it need not hold
/// the output. This is whether the output `straight` allows it.
template <class V, int W>
FLITLAB_INLINE bool is_path_open(const V& v, const Item<W>& router, u32 index, u32 straight) {
  const Registers& registers = router.at(v.t.router_fields.registers);
  const bool wired = v.t.peers[index * kPorts + straight].item != kNone;
  const bool fast = !(registers.chan[oriented(registers.turned, straight)] & kNoFast);
  return wired & fast & (router.at(v.t.router_fields.port, straight).sending == kNoVc);
}

/// Whether a flit behind a head goes straight on as its head has.
template <class V, int W>
FLITLAB_INLINE bool body_passes(const V& v, const Item<W>& router, const InputVc& in, u32 straight) {
  const bool room = output_vc(v, router, straight, in.out_vc % kMaxVcs).credits != 0;
  return (in.stage == Stage::kFlowing) & (in.out_port == straight) & room;
}

/// The output VC on which a head goes straight on, or kNoVc. If it does, its packet is at the front.
template <class V, int W>
FLITLAB_INLINE u32 head_passes(const V& v, const Item<W>& router, u32 index, u32 port, u32 vc, InputVc& in,
                               u32 straight, Cycle now) {
  const Packet& packet = front_packet(v, router, port, vc, in);
  const Choice choice = choose(v, router.at(v.t.router_fields.registers), index, packet, port, vc);
  if (is_stopped(v, index, port, choice, now)) return kNoVc;
  u32 out_vc = kNoVc;
  if (choice.port == straight) {
    const OutputVc& out = output_vc(v, router, straight, choice.vc);
    if (out.owner == kNoVc && out.credits) out_vc = choice.vc;
  }
  if (out_vc == kNoVc && (choice.wish >> straight & 1)) out_vc = free_adaptive_vc(v, router, straight, packet.flits);
  if (out_vc == kNoVc) return kNoVc;
  in.packets = 1;
  set_front(in, packet, choice, false);
  return out_vc;
}

/// Whether a flit that has come in by a link goes straight on, as it then does.
template <class V, class Out, int W>
FLITLAB_INLINE bool pass_straight(const V& v, const Out& outbox, const Item<W>& router, RouterControl& control,
                                  u32 index, u32 port, u32 mail, Cycle now) {
  const u32 straight = opposite(port), vc = (mail & kVcBits) - 1u;
  if (!is_path_open(v, router, index, straight)) return false;
  InputVc& in = input_vc(v, router, port, vc);
  u32 out_vc = in.out_vc;
  if (mail & kHeadMark) {
    out_vc = head_passes(v, router, index, port, vc, in, straight, now);
    if (out_vc == kNoVc) return false;
  } else if (!body_passes(v, router, in, straight)) {
    return false;
  }
  send(v, outbox, router, control, index, port, vc, in, straight, out_vc, now);
  return true;
}

/// A flit enters the buffer of its virtual channel. Returns whether its packet comes to the front.
FLITLAB_INLINE bool buffer_flit(InputVc& in, u32 mail) {
  const u32 head = mail / kHeadMark;
  const u32 packets = in.packets + head;
  in.packets = static_cast<u8>(packets);
  return head & u32{packets == 1};
}

/// A buffered flit may move from now on.
template <class V, int W>
FLITLAB_INLINE void wake_flit(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 mail) {
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

/// Bytes of a word of mail that are for the ports of PE and I/O device.
inline constexpr u64 kTerminalBytes = ~u64{0} << (8 * kNodePort);

/// The flits of this cycle. Network flits stay in their mail slot while they may not move yet; those of PE and I/O
/// device may at once. `busy`: output ports that barrier packets have taken. Returns the ports that flits have gone
/// straight through, as bits.
template <class V, int W>
FLITLAB_INLINE u32 receive_flits(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 busy,
                                 Cycle now) {
  const auto& t = v.t;
  const auto outbox = outbox_of<Outbox<V>>(v, now);
  const bool open = t.short_circuit && !control.buffered;
  u32 passed = 0;
  u64& slot = router.at(t.router_fields.flit_mail, now & t.slot_mask);
  u64& waited = router.at(t.router_fields.flit_mail, (now - t.wait) & t.slot_mask);
  const u64 waking = (waited & ~kTerminalBytes) | (slot & kTerminalBytes);
  for (u64 mail = slot; mail;) {
    const u32 shift = lowest_bit(mail) & 0x38u, port = shift / 8, flit = static_cast<u32>(mail >> shift) & 0xFF;
    mail &= ~(u64{0xFF} << shift);
    if constexpr (V::traced) log_arrival(v, router, index, port, static_cast<u8>(flit));
    if (open && !is_terminal_port(port) && !(busy >> opposite(port) & 1) &&
        pass_straight(v, outbox, router, control, index, port, flit, now)) {
      slot &= ~(u64{0xFF} << shift);
      passed |= 1u << opposite(port);
      continue;
    }
    ++control.buffered;
    const u32 vc = (flit & kVcBits) - 1u;
    InputVc& in = input_vc(v, router, port, vc);
    if (buffer_flit(in, flit)) start_front(v, router, index, port, vc, in, now);
  }
  slot &= ~kTerminalBytes;
  waited &= kTerminalBytes;
  for (u64 mail = waking; mail;) {
    const u32 shift = lowest_bit(mail) & 0x38u;
    wake_flit(v, router, control, shift / 8, static_cast<u32>(mail >> shift) & 0xFF);
    mail &= ~(u64{0xFF} << shift);
  }
  return passed;
}

}  // namespace flitlab::t3e
