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

  /// Whether all packets are of one length.
  FLITLAB_INLINE bool same_length() const {
    return v.t.traffic.length_law == LengthLaw::kTable && v.t.traffic.packets.count == 1;
  }

  /// Route computation of a packet that has just come to the front.
  FLITLAB_INLINE void compute_route(u32 lane, u32 port, u32 vc) const {
    const auto& t = v.t;
    const u32 router = b * L + lane;
    const Packet& packet = front(router, port, vc, lane);
    const u32 here = t.address[router];
    const Route route = here == packet.dst ? Route{packet.dst_port, t.message_mask[packet.message_class]}
                                           : dimension_order(t, packet, here, packet.dst, false, 0, port, vc);
    lane_of(k.out_port[port][vc], lane) = static_cast<u8>(1u << route.port);
    lane_of(k.allowed[port][vc], lane) = static_cast<u8>(route.allowed);
    if (!same_length()) k.left[port].set(lane, vc, packet.flits);
    s.ready_at[std::size_t{router} * S::flats + port * S::vcs + vc] = now;
  }

  /// VC allocation, separable and input first, of all that are due.
  FLITLAB_INLINE void allocate_vcs() const {
    Bid bids[L * S::flats];
    u32 n = 0;
    for (u32 port = 0; port < S::ports; ++port) {
      const Bytes<L> due = k.due[port] & ~k.asleep[port];
      const u64 lanes_due = members(due);
      if (!lanes_due) continue;
      const Bytes<L> new_ones = due & ~k.routed[port];
      for_each_lane(members(new_ones), [&](u32 lane) __attribute__((always_inline)) {
        for (u32 set = lane_of(new_ones, lane); set; set &= set - 1) compute_route(lane, port, lowest_bit(set));
      });
      k.routed[port] |= new_ones;
      if (same_length()) k.left[port].set(new_ones, v.t.traffic.packets.flits[0]);
      for_each_lane(lanes_due, [&](u32 lane) __attribute__((always_inline)) {
        for (u32 set = lane_of(due, lane); set; set &= set - 1) {
          const u32 vc = lowest_bit(set), out = lowest_bit(u32{lane_of(k.out_port[port][vc], lane)});
          const u32 free = lane_of(k.allowed[port][vc], lane) & ~u32{lane_of(k.taken[out], lane)};
          if (!free) {
            lane_of(k.asleep[port], lane) |= static_cast<u8>(1u << vc);
            continue;
          }
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
  FLITLAB_INLINE void take_descriptors(u32 port, Bytes<L> heads, Bytes<L> out_ports, Bytes<L> mail) const {
    const auto& t = v.t;
    for_each_lane(members(heads), [&](u32 lane) __attribute__((always_inline)) {
      const u32 router = b * L + lane, vc = lowest_bit(u32{lane_of(heads, lane)});
      const u32 out = lowest_bit(u32{lane_of(out_ports, lane)}), out_vc = lowest_bit(u32{lane_of(mail, lane)});
      u8& tail = lane_of(k.tail[out][out_vc], lane);
      const Peer& peer = t.peers[std::size_t{router} * S::ports + out];
      Packet& copy = out == S::network_ports
                         ? s.terminal_ring[(std::size_t{peer.item} * S::vcs + out_vc) * t.ring + tail]
                         : s.ring[((std::size_t{peer.item} * S::ports + peer.port) * S::vcs + out_vc) * t.ring + tail];
      copy = front(router, port, vc, lane);
      copy.hops = static_cast<u16>(copy.hops + (out != S::network_ports));
      tail = next_place(tail, t.ring);
    });
  }
};

}  // namespace flitlab::vc::lanes
