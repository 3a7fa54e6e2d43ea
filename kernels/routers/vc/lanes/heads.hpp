#pragma once
/// What the heads of packets do, router by router: routes, virtual-channel allocation, descriptors. It is what
/// route.hpp and vc_allocation.hpp do for one router, on the state of lanes.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc::lanes {

/// While output VCs are asked for, the owner of one that is asked for is the best bidder so far, with this mark. It is
/// free, so that it has none.
inline constexpr u8 kClaimed = 0x80;

/// A packet asks for an output VC.
struct Bid {
  u8 lane, port, vc, out_port, out_vc;
};

/// Whether of two bidders for an output VC `a` is served before `b`: round robin over all input VCs.
template <class S>
FLITLAB_INLINE bool is_before(u32 a, u32 b, u32 first) {
  const auto distance = [first](u32 flat) { return flat >= first ? flat - first : flat + S::flats - first; };
  return distance(a) < distance(b);
}

template <int L, class S, class V>
struct Heads {
  const V& v;
  const State<L, S>& s;
  Block<L, S>& k;
  u32 b;
  Cycle now;

  FLITLAB_INLINE Heads(const V& view, const State<L, S>& state, u32 block, Cycle cycle)
      : v(view), s(state), k(state.block[block]), b(block), now(cycle) {}

  FLITLAB_INLINE Packet& front(u32 router, u32 port, u32 vc, u32 lane) const {
    return s
        .ring[((std::size_t{router} * S::ports + port) * S::vcs + vc) * v.t.ring + lane_of(k.first[port][vc], lane)];
  }

  /// Descriptor `place` of those that arrive at a terminal.
  FLITLAB_INLINE Packet& arriving(u32 terminal, u32 vc, u32 place) const {
    const auto& t = v.t;
    if constexpr (kTerminalsInLanes<typename V::Table>)
      return s.terminal_ring[(std::size_t{terminal} * S::vcs + vc) * t.ring + place];
    else
      return v.terminals[terminal].at(t.terminal_fields.ring, vc * t.ring + place);
  }

  /// Whether all packets are of one length.
  FLITLAB_INLINE bool same_length() const {
    return v.t.mode == TrafficMode::kOpen && v.t.traffic.length_law == LengthLaw::kTable &&
           v.t.traffic.packets.count == 1;
  }

  /// What adaptive routing asks of a router's outputs, as vc::Outputs.
  struct Outputs {
    const Heads& heads;
    u32 lane;

    FLITLAB_INLINE u32 free(u32 port, u32 allowed, u32 credits_needed) const {
      return heads.free(port, lane, allowed, credits_needed);
    }
    FLITLAB_INLINE u32 credits(u32 port, u32 vc) const { return heads.k.credits[port].get(lane, vc); }
  };

  /// As free_vcs().
  FLITLAB_INLINE u32 free(u32 port, u32 lane, u32 allowed, u32 credits_needed) const {
    u32 free = allowed & ~u32{lane_of(k.taken[port], lane)};
    if (credits_needed)
      for (u32 set = free; set; set &= set - 1)
        if (k.credits[port].get(lane, lowest_bit(set)) < credits_needed) free ^= set & (0 - set);
    return free;
  }

  FLITLAB_INLINE bool is_wormhole() const { return v.t.flow_control == FlowControl::kWormhole; }
  /// Routes are computed in every cycle until there is an output VC.
  FLITLAB_INLINE bool adapts() const { return v.t.algorithm == Algorithm::kMinimalAdaptive; }

  /// Route computation; false: there is none.
  FLITLAB_INLINE bool compute_route(u32 lane, u32 port, u32 vc) const {
    const auto& t = v.t;
    const u32 router = b * L + lane;
    const Route route = vc::compute_route(t, Outputs{*this, lane}, router, front(router, port, vc, lane), port, vc);
    if (route.port >= S::ports || !route.allowed) [[unlikely]] {
      raise_fault(s.fault[router], kFaultNoRoute, port);
      return false;
    }
    lane_of(k.out_port[port][vc], lane) = static_cast<u8>(1u << route.port);
    lane_of(k.allowed[port][vc], lane) = static_cast<u8>(route.allowed);
    return true;
  }

  /// The first route of a packet, when it has just come to the front.
  FLITLAB_INLINE bool compute_first_route(u32 lane, u32 port, u32 vc) const {
    if (!compute_route(lane, port, vc)) return false;
    const u32 router = b * L + lane;
    if (!same_length()) k.left[port].set(lane, vc, front(router, port, vc, lane).flits);
    s.ready_at[std::size_t{router} * S::flats + port * S::vcs + vc] = now;
    return true;
  }

  /// Whether a packet that is due may bid: of those that adapt, if there is a route now; of those that are stored
  /// before they go on, if all of it is here.
  FLITLAB_INLINE bool may_bid(u32 lane, u32 port, u32 vc, bool routed_now) const {
    if (adapts() && !routed_now && !compute_route(lane, port, vc)) return false;
    return v.t.flow_control != FlowControl::kStoreAndForward ||
           k.flits[port].get(lane, vc) >= k.left[port].get(lane, vc);
  }

  /// Output VCs that a packet that is due may take.
  FLITLAB_INLINE u32 free_for(u32 lane, u32 port, u32 vc) const {
    const u32 out = lowest_bit(u32{lane_of(k.out_port[port][vc], lane)}), allowed = lane_of(k.allowed[port][vc], lane);
    return free(out, lane, allowed, is_wormhole() ? 0 : u32{front(b * L + lane, port, vc, lane).flits});
  }

  /// VC allocation, separable and input first, of all that are due.
  FLITLAB_INLINE void allocate_vcs() const {
    Bid bids[L * S::flats];
    u32 n = 0;
    for (u32 port = 0; port < S::ports; ++port) {
      const Bytes<L> due = k.due[port] & ~k.asleep[port];
      const u64 lanes_due = members(due);
      if (!lanes_due) continue;
      Bytes<L> new_ones = due & ~k.routed[port], lost{};
      for_each_lane(members(new_ones), [&](u32 lane) __attribute__((always_inline)) {
        for (u32 set = lane_of(new_ones, lane); set; set &= set - 1)
          if (!compute_first_route(lane, port, lowest_bit(set))) [[unlikely]]
            lane_of(lost, lane) |= static_cast<u8>(set & (0 - set));
      });
      new_ones &= ~lost;
      k.routed[port] |= new_ones;
      if (same_length()) k.left[port].set(new_ones, v.t.traffic.packets.flits[0]);
      const Bytes<L> bidding = due & ~lost;
      for_each_lane(lanes_due, [&](u32 lane) __attribute__((always_inline)) {
        for (u32 set = lane_of(bidding, lane); set; set &= set - 1) {
          const u32 vc = lowest_bit(set);
          if (!may_bid(lane, port, vc, lane_of(new_ones, lane) >> vc & 1)) continue;
          const u32 free = free_for(lane, port, vc);
          if (!free) {  // an output VC that is freed will wake it; room in one that is free, or elsewhere, would not
            if (is_wormhole() && !adapts()) lane_of(k.asleep[port], lane) |= static_cast<u8>(1u << vc);
            continue;
          }
          const u32 out = lowest_bit(u32{lane_of(k.out_port[port][vc], lane)});
          const u32 out_vc = first_at_or_after(free, lane_of(k.pick_out[port][vc], lane));
          bids[n++] = {u8(lane), u8(port), u8(vc), u8(out), u8(out_vc)};
        }
      });
    }
    for (u32 i = 0; i < n; ++i) {
      const Bid& bid = bids[i];
      u8& claim = lane_of(k.owner[bid.out_port][bid.out_vc], bid.lane);
      const u32 flat = bid.port * S::vcs + bid.vc;
      if (!(claim & kClaimed) ||
          is_before<S>(flat, claim & ~u32{kClaimed}, lane_of(k.pick_in[bid.out_port][bid.out_vc], bid.lane)))
        claim = static_cast<u8>(flat | kClaimed);
    }
    for (u32 i = 0; i < n; ++i) grant(bids[i]);
  }

  /// A bidder that has won gets its output VC.
  FLITLAB_INLINE void grant(const Bid& bid) const {
    const u32 flat = bid.port * S::vcs + bid.vc, lane = bid.lane;
    u8& owner = lane_of(k.owner[bid.out_port][bid.out_vc], lane);
    if (owner != (flat | kClaimed)) return;
    const u8 bit = static_cast<u8>(1u << bid.vc), out_bit = static_cast<u8>(1u << bid.out_vc);
    owner = static_cast<u8>(flat);
    lane_of(k.pick_in[bid.out_port][bid.out_vc], lane) = static_cast<u8>(flat + 1);
    lane_of(k.pick_out[bid.port][bid.vc], lane) = static_cast<u8>(bid.out_vc + 1);
    lane_of(k.out_vc[bid.port][bid.vc], lane) = out_bit;
    lane_of(k.taken[bid.out_port], lane) |= out_bit;
    lane_of(k.due[bid.port], lane) &= static_cast<u8>(~bit);
    lane_of(k.routed[bid.port], lane) &= static_cast<u8>(~bit);
    lane_of(k.heads[bid.port], lane) |= bit;
    lane_of(k.pending[bid.port], lane) |= bit;
    u8& credited = lane_of(k.credited[bid.port], lane);
    credited = static_cast<u8>((credited & ~bit) | (lane_of(k.some_credits[bid.out_port], lane) & out_bit ? bit : 0));
    s.ready_at[std::size_t{b * L + lane} * S::flats + flat] = now + v.t.allocation_delay;
  }

  /// Heads that cross take their descriptors to the next ring. `out_ports`, `mail`: by input port.
  FLITLAB_INLINE void take_descriptors(u32 port, Bytes<L> heads, Bytes<L> out_ports, const FlitsOf<L, S>& mail) const {
    const auto& t = v.t;
    for_each_lane(members(heads), [&](u32 lane) __attribute__((always_inline)) {
      const u32 router = b * L + lane, vc = lowest_bit(u32{lane_of(heads, lane)});
      const u32 out = lowest_bit(u32{lane_of(out_ports, lane)}), out_vc = mail.vc(lane);
      u8& tail = lane_of(k.tail[out][out_vc], lane);
      const Peer& peer = t.peers[std::size_t{router} * S::ports + out];
      Packet& copy = out == S::network_ports
                         ? arriving(peer.item, out_vc, tail)
                         : s.ring[((std::size_t{peer.item} * S::ports + peer.port) * S::vcs + out_vc) * t.ring + tail];
      copy = front(router, port, vc, lane);
      copy.hops = static_cast<u16>(copy.hops + (out != S::network_ports));
      tail = next_place(tail, t.ring);
    });
  }
};

}  // namespace flitlab::vc::lanes
