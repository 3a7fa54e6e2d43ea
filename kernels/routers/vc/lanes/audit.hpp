#pragma once
/// Audit of lane state on a CPU: the checks of kernels/routers/vc/audit.hpp, for all routers of a lane block at once
/// and without a conversion to scalar state. It finds whether a state has a fault; the audit of scalar state finds
/// which one.
#include "kernels/routers/vc/audit.hpp"
#include "kernels/routers/vc/lanes/routers.hpp"

namespace flitlab::vc::lanes {

/// Sums in bit-plane form, as in Counts, and the set of sums that have overflowed.
template <class C, int kPlanes>
struct Sums {
  using B = typename C::Value;
  B plane[kPlanes]{}, overflow{};

  /// Adds 2^j to each sum in `set`.
  FLITLAB_INLINE void add(B set, int j = 0) {
    for (; j < kPlanes; ++j) {
      const B carry = plane[j] & set;
      plane[j] ^= set;
      set = carry;
    }
    overflow |= set;
  }
  FLITLAB_INLINE void add(const Counts<C, kPlanes>& counts) {
    for (int j = 0; j < kPlanes; ++j) add(counts.plane[j], j);
  }
  /// Returns the sums that differ from `expected`.
  FLITLAB_INLINE B other_than(u32 expected) const {
    B differ = overflow;
    for (int j = 0; j < kPlanes; ++j) differ |= expected >> j & 1 ? ~plane[j] : plane[j];
    return differ;
  }
};

template <class C, class S, class V>
struct BlockAudit {
  using B = typename C::Value;
  using E = typename C::Element;
  using Row = typename C::Row;
  using F = FlitsOf<C, S>;
  using Channels = Sums<C, S::flit_planes>;
  static constexpr bool kInLanes = kLaneTerminals<typename V::Table>;
  const V& v;
  const State<C, S>& s;
  const Wiring& wiring;
  u32 b;
  Cycle now;
  Block<C, S>& k = s.block[b];
  u32 routers = s.routers - b * C::lanes < C::lanes ? s.routers - b * C::lanes : C::lanes;
  E all_vcs = static_cast<E>((1u << v.t.vcs) - 1);
  B bad{};  ///< virtual channels with a fault
  bool faults = false;
  u32 flits = 0, packets = 0;  ///< in the block's routers and on the channels to them

  /// Counts flits and packets. Returns whether the routers and their terminals have no fault.
  bool sound() {
    B credits[S::ports];  // output VCs with credits
    for (u32 port = 0; port < S::ports_of(v.t); ++port) credits[port] = k.credits[port].nonzero_counts();
    for (u32 port = 0; port < S::ports_of(v.t); ++port) {
      const B connected = check_channels(port);
      check_buffers(port, connected, credits);
    }
    for (u32 lane = 0; lane < routers; ++lane) faults |= s.fault[b * C::lanes + lane] != 0;
    for (u32 i = 0; i < S::concentration_of(v.t); ++i)
      for (u32 lane = 0; lane < routers && b * C::lanes + lane < v.t.terminal_routers; ++lane)
        faults |= (kInLanes ? s.terminal[s.place_of(b, i, lane)]
                            : v.terminals[s.terminal_of(b, i, lane)].at(v.t.terminal_fields.control))
                      .fault != 0;
    return !faults && !C::any(bad);
  }

 private:
  FLITLAB_INLINE const Peer& peer(u32 port, u32 lane) const {
    return v.t.peers[std::size_t{b * C::lanes + lane} * S::ports_of(v.t) + port];
  }
  /// Adds flits in transit to the sums of their channels, and counts them.
  FLITLAB_INLINE void add(Channels& channels, const F& in_transit, B connected) {
    const B vcs = in_transit.vcs() & connected;
    channels.add(vcs);
    flits += C::count(vcs);
    packets += C::count(vcs & in_transit.tails());
  }
  /// Counts the flits and packets in the ejection buffers of terminal i of each router (count_held() of scalar state).
  FLITLAB_INLINE void count_held(u32 i, B connected) {
    const Loops<C, S>& loops = s.loops[s.row_of(b, i)];
    const B filled = loops.held.nonzero_counts() & connected;
    C::for_each(C::members(filled), [&](u32 lane) {
      for (u32 set = lane_of(filled, lane) & all_vcs; set; set &= set - 1) {
        const u32 vc = lowest_bit(set);
        const u32 first = lane_of(s.terminals(b, i).arriving_first[vc], lane), left = loops.left.get(lane, vc);
        count_queue(S::ports_of(v.t) + i, vc, lane, first, left != 0, left, loops.held.get(lane, vc));
      }
    });
  }
  /// Counts `in_buffer` flits of a packet queue, and the packets whose tails are among them. `left`: flits of the front
  /// packet that have not left, if `begun`.
  FLITLAB_INLINE void count_queue(u32 port, u32 vc, u32 lane, u32 first, bool begun, u32 left, u32 in_buffer) {
    const u32 size = v.t.ring;
    const Packet* queue = &s.ring[queue_of<C, S>(v.t, b * C::lanes + lane, port, vc) * S::descriptors(size)];
    flits += in_buffer;
    packets += tails_among(size, first, begun ? left : u32{queue[first].flits}, in_buffer,
                           [&](u32 position) -> u32 { return queue[position].flits; });
  }

  /// Checks the credits and flits of the channels that enter at a port, and of the channels to a terminal. Returns the
  /// virtual channels of connected ports.
  FLITLAB_INLINE B check_channels(u32 port) {
    const auto& t = v.t;
    const bool to_terminal = port >= S::network_ports_of(t);
    const u32 i = port - S::network_ports_of(t), row = to_terminal ? s.row_of(b, i) : 0;
    B connected{};
    Counts<C, S::flit_planes> sender{}, held{};  // credits at the sender; flits in a terminal's ejection VCs
    for (u32 lane = 0; lane < routers; ++lane) {
      const Peer& there = peer(port, lane);
      if (there.item == kNone) continue;
      lane_of(connected, lane) = all_vcs;
      if (!to_terminal) {
        const auto& credits = s.block[there.item / C::lanes].credits[there.port];
        for (u32 j = 0; j < S::flit_planes; ++j)
          lane_of(sender.plane[j], lane) = static_cast<E>(lane_of(credits.plane[j], there.item % C::lanes));
      } else if (!kInLanes) {
        const auto terminal = v.terminals[there.item];
        for (u32 vc = 0; vc < t.vcs; ++vc) {
          const u32 credits = terminal.at(t.terminal_fields.output, vc).credits;
          faults |= credits > t.buffer_flits;
          sender.set(lane, vc, credits);
        }
        packets += packets_in_injection(t, terminal);
      }
    }
    if (kInLanes && to_terminal) {
      sender = s.terminals(b, i).injection_credits;
      packets += C::count(s.terminals(b, i).left_to_send & nonzero(connected));
      if (t.mode == TrafficMode::kRequestReply) {
        held = s.loops[row].held;
        packets += C::count(s.loops[row].left_to_send & nonzero(connected));
        count_held(i, connected);
      }
    }
    Channels entering, leaving;
    entering.add(sender);
    entering.add(k.flits[port]);
    leaving.add(k.credits[port]);
    leaving.add(held);
    if (to_terminal)
      add_terminal_channel(entering, leaving, row, connected);
    else
      add_network_channel(entering, port, connected);
    bad |= entering.other_than(t.buffer_flits) & connected;
    if (to_terminal) bad |= leaving.other_than(t.buffer_flits) & connected;
    return connected;
  }

  /// Adds the flits and credits in transit between a row of terminals and their routers.
  FLITLAB_INLINE void add_terminal_channel(Channels& entering, Channels& leaving, u32 row, B connected) {
    const auto& t = v.t;
    for (u32 ahead = 0; ahead <= t.slot_mask; ++ahead) {
      const u32 slot = s.slot(now + ahead);
      if (ahead < t.inject_delay) add(entering, s.terminal_flits(s.inject_flits, slot, row), connected);
      if (ahead < t.eject_delay) add(leaving, s.terminal_flits(s.eject_flits, slot, row), connected);
      if (ahead < t.credit_delay) leaving.add(s.of_terminals(s.eject_credits, slot, row));
      if (ahead < t.injection_credit_delay) entering.add(s.of_terminals(s.inject_credits, slot, row));
    }
  }
  /// add_network_channel() where routers write to rows of receivers.
  FLITLAB_INLINE void add_written(Channels& entering, u32 port, B connected) {
    const Routers<C, S, V> block(v, s, wiring, b, now);
    const OtherEnd* const end = wiring.other_end + (std::size_t{b} * S::network_ports_of(v.t) + port) * C::lanes;
    for (u32 slot = 0; slot < s.slots; ++slot) {
      const E* const flit_row = block.block_of(s.flit_row(slot, port));
      add(entering, F::read([&](u32 plane) -> B { return *reinterpret_cast<const Row*>(flit_row + plane * s.planes); }),
          connected);
      B credits{};
      for (u32 lane = 0; lane < routers; ++lane)
        if (lane_of(connected, lane)) lane_of(credits, lane) = s.credit_row(slot, 0)[end[lane].at];
      entering.add(credits);
    }
  }
  /// Adds the flits in transit to a network port, and the credits in transit from it.
  FLITLAB_INLINE void add_network_channel(Channels& entering, u32 port, B connected) {
    const Routers<C, S, V> block(v, s, wiring, b, now);
    if (wiring.other_end) add_written(entering, port, connected);
    block.for_each_sender(port, [&](const SenderRow& row, B mask) {
      for (u32 ago = 1; ago <= block.link_delay_of(row); ++ago) {
        const E* const flit_row = block.block_of(s.flit_row(s.slot_of_leaving(now - ago, block.link_delay_of(row)), 0));
        add(entering, F::read([&](u32 plane) { return B{block.from(row, flit_row + plane * s.planes) & mask}; }),
            connected);
      }
      for (u32 ago = 1; ago <= block.credit_delay_of(row); ++ago)
        entering.add(*reinterpret_cast<const typename C::Row*>(
                         s.credit_row(s.slot_of_leaving(now - ago, block.credit_delay_of(row)), port) +
                         std::size_t{b} * C::lanes) &
                     mask);
    });
    if constexpr (!S::exact)
      if (v.t.narrow) {
        const B closed = (B)(k.occupied[port] >= block.widths_of(port)[0]);
        bad |= (closed ^ has(k.closed, port)) & connected;
      }
  }

  /// Checks the sets of a port against the states of its input VCs, and counts the flits and packets in its buffers.
  /// `credits`: output VCs with credits.
  FLITLAB_INLINE void check_buffers(u32 port, B connected, const B (&credits)[S::ports]) {
    B routing = k.fresh[port] | (k.due[port] & ~k.routed[port]), usable = k.granted[port];
    for (u32 row = 0; row < S::routing_delay_of(v.t); ++row) routing |= k.in_routing[row][port];
    for (u32 row = 0; row < S::allocation_delay_of(v.t); ++row) usable |= k.pending[row][port];
    const B routed = (k.due[port] | k.heads[port] | k.granted[port]) & ~routing, owners = routed & ~k.due[port];
    const B filled = k.flits[port].nonzero_counts();
    bad |= ((k.filled[port] ^ filled) | (usable ^ owners)) & connected;
    C::for_each(C::members((filled | owners) & connected), [&](u32 lane) {
      for (u32 set = lane_of(owners, lane) & all_vcs; set; set &= set - 1) {
        const u32 vc = lowest_bit(set), out_port = lane_of(k.out_port[port][vc], lane);
        const u32 out_vc = lane_of(k.out_vc[port][vc], lane);
        faults |= !out_port || !out_vc;
        if (out_port)
          faults |= ((lane_of(credits[lowest_bit(out_port)], lane) & out_vc) != 0) !=
                    (lane_of(k.credited[port], lane) >> vc & 1);
      }
      for (u32 set = lane_of(filled, lane) & all_vcs; set; set &= set - 1)
        count_buffer(port, lowest_bit(set), lane, routed);
    });
  }
  FLITLAB_INLINE void count_buffer(u32 port, u32 vc, u32 lane, const B& routed) {
    const auto& t = v.t;
    const u32 in_buffer = k.flits[port].get(lane, vc), before = lane_of(k.first[port][vc], lane);
    const u32 first = lane_of(k.passed[port], lane) >> vc & 1 ? next_position(before, t.ring) : before;
    count_queue(port, vc, lane, first, lane_of(routed, lane) >> vc & 1, k.left[port].get(lane, vc), in_buffer);
  }
};

}  // namespace flitlab::vc::lanes
