#pragma once
/// Virtual-channel allocation (Dally & Towles sections 16.1 and 19): packets that have a route bid for an output VC
/// of their output port. The request matrix has one block per output port, so all allocators work block by block.
#include "kernels/routers/vc/arbitrate.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc {

/// Credits an output VC must have before a packet may take it.
template <class T>
FLITLAB_INLINE u32 credits_to_start(const T& t, const Packet& packet, u32 allowed) {
  if (t.flow_control != FlowControl::kWormhole) return packet.flits;  // room for the whole packet downstream
  const u32 adaptive = t.class_mask[packet.message_class][t.wraps ? 2 : 1];
  return t.atomic_adaptive && (allowed & adaptive) ? t.buffer_flits : 0;
}

/// Route computation where it is due. Returns true if the packet may bid for an output VC in this cycle.
template <class V, int W>
FLITLAB_INLINE bool route_due(const V& v, const Item<W>& router, u32 index, u32 port, u32 vc, InputVc& in,
                                 Cycle now) {
  const auto& t = v.t;
  if (static_cast<i32>(now - in.ready_at) < 0) return false;
  const u32 flat = port * t.vcs + vc;
  Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
  if (in.stage == Stage::kRouting || t.algorithm == Algorithm::kMinimalAdaptive) {
    const Route route = compute_route(t, router, index, packet, port, vc);
    if (route.port >= t.ports || !route.allowed) {
      router.at(t.router_fields.control).fault |= kFaultNoRoute;
      return false;
    }
    in.out_port = static_cast<u8>(route.port);
    in.allowed = route.allowed;
    if constexpr (V::traced) {
      if (in.stage == Stage::kRouting)
        v.log.write(index, Event{packet.src, packet.id, EventKind::kRouted, u8(port), u8(vc), in.out_port, 0, 0,
                                 packet.flits});
    }
    in.stage = Stage::kWaiting;
  }
  // Store-and-forward: nothing moves before the tail is here.
  return t.flow_control != FlowControl::kStoreAndForward || in.flits >= in.left;
}

/// Hands output VC `vc` of in.out_port to input VC `flat`.
template <class V, int W>
FLITLAB_INLINE void grant_vc(const V& v, const Item<W>& router, u32 index, u32 flat, InputVc& in, u32 vc,
                                Cycle now) {
  const auto& t = v.t;
  const u32 port = flat / t.vcs, in_vc = flat % t.vcs;
  OutputVc& out = router.at(t.router_fields.output, in.out_port * t.vcs + vc);
  out.owner = static_cast<u16>(flat);
  out.pick = static_cast<u16>(flat + 1 == t.ports * t.vcs ? 0 : flat + 1);
  in.out_vc = static_cast<u8>(vc);
  in.pick = static_cast<u8>(vc + 1 == t.vcs ? 0 : vc + 1);
  in.stage = Stage::kHead;
  in.ready_at = now + t.allocation_delay;
  RouterControl& control = router.at(t.router_fields.control);
  PortState& state = router.at(t.router_fields.port, port);
  state.waiting &= static_cast<u16>(~(1u << in_vc));
  if (!state.waiting) control.waiting &= ~(1u << port);
  if (t.allocation_delay) {
    state.pending |= static_cast<u16>(1u << in_vc);
    control.pending |= 1u << port;
  } else if (out.credits) {
    state.ready |= static_cast<u16>(1u << in_vc);
    control.ready |= 1u << port;
  }
  if constexpr (V::traced) {
    const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kVcGranted, u8(port), u8(in_vc), in.out_port, u8(vc),
                             0, packet.flits});
  }
}

/// Bids of one round: every waiting input VC (input-first: for one free VC of its choice; otherwise for all of
/// them) contends through OutputVc::claim. Returns false if nobody bid.
template <class V, int W>
FLITLAB_INLINE bool bid_round(const V& v, const Item<W>& router, u32 index, bool one_choice, bool first_round,
                                 Cycle now) {
  const auto& t = v.t;
  bool any = false;
  for (u32 ports = router.at(t.router_fields.control).waiting; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    PortState& state = router.at(t.router_fields.port, port);
    if (first_round) state.bids = 0;
    for (u32 set = state.waiting; set; set &= set - 1) {
      const u32 vc = lowest_bit(set), flat = port * t.vcs + vc;
      InputVc& in = router.at(t.router_fields.input, flat);
      if (first_round) {
        if (!route_due(v, router, index, port, vc, in, now)) continue;
        state.bids |= static_cast<u16>(1u << vc);
      } else if (!((state.bids >> vc) & 1)) {
        continue;
      }
      const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
      u32 wanted = free_vcs(t, router, in.out_port, in.allowed, credits_to_start(t, packet, in.allowed));
      if (!wanted) continue;
      any = true;
      if (one_choice) wanted = 1u << first_at_or_after(wanted, in.pick);
      for (; wanted; wanted &= wanted - 1) {
        OutputVc& out = router.at(t.router_fields.output, in.out_port * t.vcs + lowest_bit(wanted));
        if (out.claim == kNoOwner || beats(t, router, out, in.out_port, flat, out.claim, now))
          out.claim = static_cast<u16>(flat);
      }
    }
  }
  return any;
}

/// Bidders take one of the output VCs they won; the claims are cleared for the next round.
template <class V, int W>
FLITLAB_INLINE void accept_round(const V& v, const Item<W>& router, u32 index, Cycle now) {
  const auto& t = v.t;
  for (u32 ports = router.at(t.router_fields.control).waiting; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    PortState& state = router.at(t.router_fields.port, port);
    for (u32 set = state.waiting & state.bids; set; set &= set - 1) {
      const u32 vc = lowest_bit(set), flat = port * t.vcs + vc;
      InputVc& in = router.at(t.router_fields.input, flat);
      u32 won = 0;
      for (u32 wanted = in.allowed; wanted; wanted &= wanted - 1) {
        OutputVc& out = router.at(t.router_fields.output, in.out_port * t.vcs + lowest_bit(wanted));
        if (out.claim == flat) {
          won |= 1u << lowest_bit(wanted);
          out.claim = kNoOwner;
        }
      }
      if (won) grant_vc(v, router, index, flat, in, first_at_or_after(won, in.pick), now);
    }
  }
}

/// Wavefront: cells (input VC, output VC) on one diagonal never conflict, so diagonals are served in turn, the
/// first one moving on by one every cycle.
template <class V, int W>
FLITLAB_INLINE void wavefront_vcs(const V& v, const Item<W>& router, u32 index, Cycle now) {
  const auto& t = v.t;
  const u32 n = t.ports * t.vcs;
  u32 bidders = 0;
  for (u32 ports = router.at(t.router_fields.control).waiting; ports; ports &= ports - 1) {
    const u32 port = lowest_bit(ports);
    PortState& state = router.at(t.router_fields.port, port);
    state.bids = 0;
    for (u32 set = state.waiting; set; set &= set - 1) {
      const u32 vc = lowest_bit(set);
      if (route_due(v, router, index, port, vc, router.at(t.router_fields.input, port * t.vcs + vc), now)) {
        state.bids |= static_cast<u16>(1u << vc);
        ++bidders;
      }
    }
  }
  for (u32 d = 0; d < n && bidders; ++d) {
    const u32 diagonal = (d + now) % n;
    for (u32 ports = router.at(t.router_fields.control).waiting; ports; ports &= ports - 1) {
      const u32 port = lowest_bit(ports);
      const PortState& state = router.at(t.router_fields.port, port);
      for (u32 set = state.waiting & state.bids; set; set &= set - 1) {
        const u32 flat = port * t.vcs + lowest_bit(set);
        const u32 column = (diagonal + n - flat) % n;
        InputVc& in = router.at(t.router_fields.input, flat);
        if (column / t.vcs != in.out_port || !((in.allowed >> (column % t.vcs)) & 1)) continue;
        const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
        if (free_vcs(t, router, in.out_port, 1u << (column % t.vcs), credits_to_start(t, packet, in.allowed))) {
          grant_vc(v, router, index, flat, in, column % t.vcs, now);
          --bidders;
        }
      }
    }
  }
}

/// The VC allocation stage of one router.
template <class V, int W>
FLITLAB_INLINE void allocate_vcs(const V& v, const Item<W>& router, u32 index, Cycle now) {
  const auto& t = v.t;
  if (t.vc_allocator == Allocator::kWavefront) {
    wavefront_vcs(v, router, index, now);
    return;
  }
  const bool one_choice = t.vc_allocator == Allocator::kInputFirst;
  const u32 rounds = t.vc_allocator == Allocator::kIslip ? t.iterations : 1;
  for (u32 round = 0; round < rounds; ++round) {
    if (!bid_round(v, router, index, one_choice, round == 0, now)) return;
    accept_round(v, router, index, now);
  }
}

}  // namespace flitlab::vc
