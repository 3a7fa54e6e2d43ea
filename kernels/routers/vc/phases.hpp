#pragma once
/// One cycle of a router. In pipeline order, with the defaults of one cycle per stage, for a head flit arriving at
/// cycle t: buffer write and route computation t, VC allocation t+1, switch allocation t+2, switch traversal t+3,
/// link t+4, arrival at the next router t+5. Body flits skip the first two. A stage of delay 0 shares the cycle of
/// the next one. Dally & Towles section 16.1, Figure 16.2.
///
/// Routers talk only through mail with a delay of at least one cycle, so within a cycle no item reads what another
/// one writes, and all routers and terminals may be visited in any order without a barrier between them.
#include "kernels/routers/vc/switch.hpp"
#include "kernels/routers/vc/vc_allocation.hpp"

namespace flitlab::vc {

/// An input VC whose packet owns an output VC may bid if it has a flit, a credit, and no allocation delay to sit out.
FLITLAB_INLINE void set_ready(RouterControl& control, PortState& state, u32 port, u32 vc) {
  if ((state.pending >> vc) & 1) return;
  state.ready |= static_cast<u16>(1u << vc);
  control.ready |= 1u << port;
}

template <class V, int W>
FLITLAB_INLINE void receive_credit(const V& v, const Item<W>& router, u32 port, u32 vc) {
  const auto& t = v.t;
  OutputVc& out = router.at(t.router_fields.output, port * t.vcs + vc);
  RouterControl& control = router.at(t.router_fields.control);
  if (++out.credits > t.buffer_flits) control.fault |= kFaultCreditOverflow;
  if (out.credits != 1 || out.owner == kNoOwner) return;
  if (router.at(t.router_fields.input, out.owner).flits)
    set_ready(control, router.at(t.router_fields.port, out.owner / t.vcs), out.owner / t.vcs, out.owner % t.vcs);
}

template <class V, int W>
FLITLAB_INLINE void receive_flit(const V& v, const Item<W>& router, u32 index, u32 port, u8 mail, Cycle now) {
  const auto& t = v.t;
  const u32 vc = (mail & kVcBits) - 1u, flat = port * t.vcs + vc;
  InputVc& in = router.at(t.router_fields.input, flat);
  RouterControl& control = router.at(t.router_fields.control);
  if (++in.flits > t.buffer_flits) control.fault |= kFaultBufferOverflow;
  if constexpr (V::traced) {
    if (mail & kHeadMark) {
      const Packet& packet =
          router.at(t.router_fields.ring, flat * t.ring + (in.first + in.packets) % t.ring);
      v.log.write(index, Event{packet.src, packet.id, EventKind::kArrived, u8(port), u8(vc), 0, 0,
                               u8(mail & kTailMark ? 3 : 1), packet.flits});
    }
  }
  (void)index;
  if (mail & kHeadMark) {
    if (++in.packets == 1) start_front(t, router, port, vc, in, now);
  } else if (in.flits == 1 && in.stage == Stage::kBody) {
    if (router.at(t.router_fields.output, in.out_port * t.vcs + in.out_vc).credits)
      set_ready(control, router.at(t.router_fields.port, port), port, vc);
  }
}

/// Packets whose allocation delay is over join the switch allocation.
template <class V, int W>
FLITLAB_INLINE void release_pending(const V& v, const Item<W>& router, Cycle now) {
  const auto& t = v.t;
  RouterControl& control = router.at(t.router_fields.control);
  for (u32 ports = control.pending; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    PortState& state = router.at(t.router_fields.port, port);
    for (u32 set = state.pending; set; set &= set - 1) {
      const u32 vc = lowest_bit(set);
      const InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
      if (static_cast<i32>(now - in.ready_at) < 0) continue;
      state.pending &= static_cast<u16>(~(1u << vc));
      if (router.at(t.router_fields.output, in.out_port * t.vcs + in.out_vc).credits)
        set_ready(control, state, port, vc);
    }
    if (!state.pending) control.pending &= ~(1u << port);
  }
}

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }

  /// Asks for the hot part of a router that will be visited soon.
  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
#if !defined(__CUDA_ARCH__)
    const std::byte* hot = v.routers[index].block;
    const u32 bytes = v.t.router_fields.ring.offset;
    for (u32 line = 0; line < bytes; line += 64) __builtin_prefetch(hot + line, 1);
#endif
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto router = v.routers[index];
    RouterControl& control = router.at(t.router_fields.control);
    const u32 first_word = (now & t.slot_mask) * t.port_words;
    for (u32 w = 0; w < t.port_words; ++w) {
      u64& credits = router.at(t.router_fields.credit_mail, first_word + w);
      if (credits) {
        for (u64 mail = credits; mail;) {
          const u32 byte = lowest_bit(mail) / 8;
          receive_credit(v, router, w * 8 + byte, static_cast<u32>((mail >> (byte * 8)) & 0xFF) - 1);
          mail &= ~(u64{0xFF} << (byte * 8));
        }
        credits = 0;
      }
      u64& flits = router.at(t.router_fields.flit_mail, first_word + w);
      if (flits) {
        for (u64 mail = flits; mail;) {
          const u32 byte = lowest_bit(mail) / 8;
          receive_flit(v, router, index, w * 8 + byte, static_cast<u8>(mail >> (byte * 8)), now);
          mail &= ~(u64{0xFF} << (byte * 8));
        }
        flits = 0;
      }
    }
    if (!(control.ready | control.waiting | control.pending)) return;
    if (control.pending) release_pending(v, router, now);
    const u32 bidding_ports = control.waiting;
    if (bidding_ports) {
      allocate_vcs(v, router, index, now);
      if (!t.allocation_delay && control.pending) release_pending(v, router, now);
    }
    if (control.ready | (t.speculative ? bidding_ports : 0)) allocate_switch(v, router, index, bidding_ports, now);
  }
};

}  // namespace flitlab::vc
