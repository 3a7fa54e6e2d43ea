#pragma once
/// Arrival of flits and credits at a router, and the end of the VC allocation delay.
#include "kernels/routers/vc/switch.hpp"

namespace flitlab::vc {

/// Admits the packet that owns an output VC to switch allocation if the VC has a credit.
template <class T, int W>
FLITLAB_INLINE void admit_credit(const T& t, const Item<W>& router, RouterControl& control, const OutputVc& out) {
  if (out.owner == kNoOwner || !out.credits) return;
  const u32 in_port = out.owner / t.vcs;
  word_of(t, router, control, in_port).credits |= u64{1} << bit_of(t, in_port, out.owner % t.vcs);
}

/// Adds an arriving credit to output VC (port, vc).
template <class V, int W>
FLITLAB_INLINE void receive_credit(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 vc) {
  const auto& t = v.t;
  OutputVc& out = router.at(t.router_fields.output, port * t.vcs + vc);
  if (++out.credits > t.buffer_flits) [[unlikely]]
    raise_fault(control.fault, kFaultCreditOverflow, port);
  if (!t.early_vc_credits) admit_credit(t, router, control, out);
}

/// End of a cycle, router.early_vc_credits: admits the credits that have arrived in this cycle to switch allocation,
/// and clears the inbox slot.
template <class T, int W>
FLITLAB_INLINE void admit_credits(const T& t, const Item<W>& router, RouterControl& control, u32 first_word) {
  for (u32 port = 0; port < t.ports; ++port) {
    const u64 word = router.at(t.router_fields.credit_mail, first_word + port / 8);
    if (const u32 vc = static_cast<u32>(word >> port % 8 * 8) & 0xFF)
      admit_credit(t, router, control, router.at(t.router_fields.output, port * t.vcs + vc - 1));
  }
  for (u32 w = 0; w < t.port_words; ++w) router.at(t.router_fields.credit_mail, first_word + w) = 0;
}

/// Stores an arriving flit. Returns whether it is the head of a packet that is now at the front of its input VC.
template <class V, int W>
FLITLAB_INLINE bool receive_flit(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port,
                                 u32 flit_byte) {
  const auto& t = v.t;
  const u32 vc = (flit_byte & kVcBits) - 1u, flat = port * t.vcs + vc;
  InputVc& in = router.at(t.router_fields.input, flat);
  RouterControl& word = word_of(t, router, control, port);
  if (++in.flits > t.buffer_flits) [[unlikely]]
    raise_fault(control.fault, kFaultBufferOverflow, port);
  word.flits |= u64{1} << bit_of(t, port, vc);
  if constexpr (V::traced) {
    if (flit_byte & kHeadMark) {
      const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + (in.first + in.packets) % t.ring);
      v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(port), u8(vc), 0, 0,
                               u8(flit_byte & kTailMark ? 3 : 1), packet.flits});
    }
  }
  (void)index;
  const u32 head = flit_byte / kHeadMark;
  in.packets = static_cast<u8>(in.packets + head);
  return head & (in.packets == 1);
}

/// Starts route computation of the packet at the front, whose head has just arrived, in the first round of cycle `now`.
template <class V, int W>
FLITLAB_INLINE void start_arrived(const V& v, const Item<W>& router, RouterControl& control, u32 port, u32 flit_byte,
                                  Cycle now, u32 round) {
  const auto& t = v.t;
  const u32 vc = (flit_byte & kVcBits) - 1u;
  start_front(t, word_of(t, router, control, port), port, vc, router.at(t.router_fields.input, port * t.vcs + vc), now,
              round);
}

/// Admits packets to switch allocation when their VC allocation delay is over.
template <class V, int W>
FLITLAB_INLINE void release_pending(const V& v, const Item<W>& router, RouterControl& control, u32 round) {
  const auto& t = v.t;
  const auto pending = [](const RouterControl& word) { return word.pending; };
  for_each_vc(t, router, control, pending, [&](u32 port, u32 vc) {
    if (static_cast<i32>(round - router.at(t.router_fields.input, port * t.vcs + vc).ready_at) < 0) return;
    RouterControl& word = word_of(t, router, control, port);
    const u64 bit = u64{1} << bit_of(t, port, vc);
    word.pending &= ~bit;
    word.granted |= bit;
  });
}

}  // namespace flitlab::vc
