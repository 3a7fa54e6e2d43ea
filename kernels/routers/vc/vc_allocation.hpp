#pragma once
/// Virtual-channel allocation (Dally & Towles sections 16.1 and 19): packets with a route bid for an output VC of their
/// output port. The request matrix has one block per output port, so all allocators work block by block.
#include "kernels/routers/vc/arbitrate.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc {

/// Computes the packet's route if it is due. Returns whether the packet may bid for an output VC in this cycle.
template <class V, int W>
FLITLAB_INLINE bool route_due(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 vc,
                              InputVc& in, u32 round) {
  const auto& t = v.t;
  if (static_cast<i32>(round - in.ready_at) < 0) return false;
  const u32 flat = port * t.vcs + vc;
  Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
  if (in.stage == VcState::kRouting || t.adapts) {
    const Route route = compute_route(t, outputs_of(t, router, control), index, packet, port, vc);
    if (route.port >= t.ports || !route.allowed) {
      raise_fault(control.fault, kFaultNoRoute, port);
      return false;
    }
    if (t.pointer_spans_ports && in.out_port != route.port) in.pick = 0;
    in.out_port = static_cast<u8>(route.port);
    in.allowed = route.allowed;
    if constexpr (V::traced) {
      if (in.stage == VcState::kRouting)
        v.log.write(index, Event{packet.src, packet.id, EventKind::kRouted, u8(port), u8(vc), in.out_port, 0,
                                 head_of(packet.flits), packet.flits});
    }
    if (in.stage == VcState::kRouting) in.left = packet.flits;
    in.stage = VcState::kWaiting;
  }
  // Store-and-forward: a packet bids only after its tail has arrived.
  return t.flow_control != FlowControl::kStoreAndForward || in.flits >= in.left;
}

/// Grants output VC `vc` of in.out_port to input VC (port, in_vc).
template <class V, int W>
FLITLAB_INLINE void grant_vc(const V& v, const Item<W>& router, RouterControl& control, u32 index, u32 port, u32 in_vc,
                             InputVc& in, u32 vc, Cycle now, u32 round) {
  const auto& t = v.t;
  const u32 flat = port * t.vcs + in_vc;
  const u32 out_flat = in.out_port * t.vcs + vc;
  OutputVc& out = router.at(t.router_fields.output, out_flat);
  out.owner = static_cast<u16>(flat);
  if (t.vc_arbiter_by_port) {
    out.pick = static_cast<u16>(pointer_after(t, port, t.ports));
    router.at(t.router_fields.pick_of_port, out_flat * t.ports + port) =
        static_cast<u8>(pointer_after(t, in_vc, t.vcs));
  } else {
    out.pick = static_cast<u16>(pointer_after(t, flat, t.ports * t.vcs));
  }
  in.out_vc = static_cast<u8>(vc);
  in.pick = static_cast<u8>(pointer_after(t, vc, t.vcs));
  in.stage = VcState::kHead;
  in.ready_at = round_after(t, now, round, t.allocation_delay);
  word_of(t, router, control, in.out_port).taken |= u64{1} << bit_of(t, in.out_port, vc);
  RouterControl& word = word_of(t, router, control, port);
  const u64 bit = u64{1} << bit_of(t, port, in_vc);
  word.waiting &= ~bit;
  word.credits = (word.credits & ~bit) | (out.credits ? bit : 0);
  if (t.allocation_delay)
    word.pending |= bit;
  else
    word.granted |= bit;
  if constexpr (V::traced) {
    const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    v.log.write(index, Event{packet.src, packet.id, EventKind::kVcGranted, u8(port), u8(in_vc), in.out_port, u8(vc),
                             head_of(packet.flits), packet.flits});
  }
}

/// One iteration of bids. Each waiting input VC bids for free output VCs (input-first: for one of its choice; otherwise
/// for all), and `claim` keeps the best bidder of each output VC. Returns whether any input VC bid.
template <class V, int W>
FLITLAB_INLINE bool bid(const V& v, const Item<W>& router, RouterControl& control, u32 index, bool one_choice,
                        bool first_iteration, const Turn& turn, u32 round) {
  const auto& t = v.t;
  bool any = false;
  const auto waiting = [](const RouterControl& word) { return word.waiting; };
  for_each_vc(t, router, control, waiting, [&](u32 port, u32 vc) __attribute__((always_inline)) {
    const u32 flat = port * t.vcs + vc;
    InputVc& in = router.at(t.router_fields.input, flat);
    if (first_iteration) {
      if (!route_due(v, router, control, index, port, vc, in, round)) return;
      word_of(t, router, control, port).bids |= u64{1} << bit_of(t, port, vc);
    } else if (!((vcs_of(t, word_of(t, router, control, port).bids, port) >> vc) & 1)) {
      return;
    }
    const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
    u32 requested = free_vcs(t, router, control, in.out_port, in.allowed, credits_to_take(t, packet.flits));
    if (!requested) return;
    any = true;
    if (one_choice) requested = 1u << first_at_or_after(requested, in.pick);
    for (; requested; requested &= requested - 1) {
      const u32 out = in.out_port * t.vcs + lowest_bit(requested);
      u16& claim = router.at(t.router_fields.claim, out);
      const OutputVc& output = router.at(t.router_fields.output, out);
      if (claim == kNoOwner || beats(t, router, output, in.out_port, flat, claim, turn, out))
        claim = static_cast<u16>(flat);
    }
  });
  return any;
}

/// Grants each bidder one of the output VCs that it won, and clears the claims for the next iteration.
template <class V, int W>
FLITLAB_INLINE void accept(const V& v, const Item<W>& router, RouterControl& control, u32 index, Cycle now, u32 round) {
  const auto& t = v.t;
  const auto bidders = [](const RouterControl& word) { return word.waiting & word.bids; };
  for_each_vc(t, router, control, bidders, [&](u32 port, u32 vc) __attribute__((always_inline)) {
    const u32 flat = port * t.vcs + vc;
    InputVc& in = router.at(t.router_fields.input, flat);
    u32 won = 0;
    for (u32 requested = in.allowed; requested; requested &= requested - 1) {
      u16& claim = router.at(t.router_fields.claim, in.out_port * t.vcs + lowest_bit(requested));
      if (claim == flat) {
        won |= 1u << lowest_bit(requested);
        claim = kNoOwner;
      }
    }
    if (won) grant_vc(v, router, control, index, port, vc, in, first_at_or_after(won, in.pick), now, round);
  });
}

/// Wavefront: cells (input VC, output VC) on one diagonal never conflict, so diagonals are served one by one. The first
/// diagonal changes from cycle to cycle.
template <class V, int W>
FLITLAB_INLINE void wavefront_vcs(const V& v, const Item<W>& router, RouterControl& control, u32 index, Cycle now,
                                  u32 round) {
  const auto& t = v.t;
  const u32 n = t.ports * t.vcs;
  u32 bidders = 0;
  const auto waiting = [](const RouterControl& word) { return word.waiting; };
  for_each_vc(t, router, control, waiting, [&](u32 port, u32 vc) {
    InputVc& in = router.at(t.router_fields.input, port * t.vcs + vc);
    if (!route_due(v, router, control, index, port, vc, in, round)) return;
    word_of(t, router, control, port).bids |= u64{1} << bit_of(t, port, vc);
    ++bidders;
  });
  const auto bidding = [](const RouterControl& word) { return word.waiting & word.bids; };
  const u32 first = first_diagonal(round, n);
  for (u32 d = 0; d < n && bidders; ++d) {
    const u32 diagonal = (d + first) % n;
    for_each_vc(t, router, control, bidding, [&](u32 port, u32 vc) {
      const u32 flat = port * t.vcs + vc, column = (diagonal + n - flat) % n;
      InputVc& in = router.at(t.router_fields.input, flat);
      if (column / t.vcs != in.out_port || !((in.allowed >> (column % t.vcs)) & 1)) return;
      const Packet& packet = router.at(t.router_fields.ring, flat * t.ring + in.first);
      const u32 needed = credits_to_take(t, packet.flits);
      if (free_vcs(t, router, control, in.out_port, 1u << (column % t.vcs), needed)) {
        grant_vc(v, router, control, index, port, vc, in, column % t.vcs, now, round);
        --bidders;
      }
    });
  }
}

/// VC allocation of one router. `round`: as for turn_of().
template <class V, int W>
FLITLAB_INLINE void allocate_vcs(const V& v, const Item<W>& router, RouterControl& control, u32 index, Cycle now,
                                 u32 round) {
  const auto& t = v.t;
  if (t.vc_allocator == VcAllocator::kWavefront) {
    wavefront_vcs(v, router, control, index, now, round);
    return;
  }
  const bool one_choice = t.vc_allocator == VcAllocator::kInputFirst;
  const u32 iterations = t.vc_allocator == VcAllocator::kIslip ? t.iterations : 1;
  const Turn turn = turn_of(v, index, now, round);
  for (u32 iteration = 0; iteration < iterations; ++iteration) {
    if (!bid(v, router, control, index, one_choice, iteration == 0, turn, round)) return;
    accept(v, router, control, index, now, round);
  }
}

}  // namespace flitlab::vc
