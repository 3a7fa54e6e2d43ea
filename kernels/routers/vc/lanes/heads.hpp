#pragma once
/// What the heads of packets do, head by head: routes, virtual-channel allocation, descriptors. It is what route.hpp
/// and vc_allocation.hpp do for one router, on the state of lanes.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc::lanes {

/// While output VCs are asked for, the owner of one that is asked for is the best bidder so far, with this mark. It is
/// free, so that it has none.
inline constexpr u8 kClaimed = 0x80;

/// A packet asks for an output VC. Places of bytes: of both in arrays [port][VC][lane], of their ports in [port][lane].
struct Bid {
  u16 from, to, in_port, out_port;
};

/// Whether of two bidders for an output VC `a` is served before `b`: round robin over all input VCs.
template <class S>
FLITLAB_INLINE bool is_before(u32 a, u32 b, u32 first) {
  const auto distance = [first](u32 flat) { return flat >= first ? flat - first : flat + S::flats - first; };
  return distance(a) < distance(b);
}

/// What arrives in a cycle, by port. Counts of flits and credits take it in when flits leave: one change, not two.
template <int L, class S>
struct Arrivals {
  Bytes<L> flits[S::ports], credits[S::ports];
};

template <int L, class S, class V>
struct Heads {
  using B = Bytes<L>;
  const V& v;
  const State<L, S>& s;
  const Wiring& wiring;
  const Arrivals<L, S>& arrivals;
  Block<L, S>& k;
  u32 b;
  Cycle now;

  FLITLAB_INLINE Heads(const V& view, const State<L, S>& state, const Wiring& w, const Arrivals<L, S>& a, u32 block,
                       Cycle cycle)
      : v(view), s(state), wiring(w), arrivals(a), k(state.block[block]), b(block), now(cycle) {}

  /// A byte of an array [port][VC] or [port] of vectors.
  template <class Array>
  static FLITLAB_INLINE u8& byte(Array& array, u32 place) {
    return reinterpret_cast<u8*>(array)[place];
  }
  static FLITLAB_INLINE u32 place_of(u32 port, u32 vc, u32 lane) { return (port * S::vcs + vc) * L + lane; }
  FLITLAB_INLINE std::size_t queue(u32 place) const { return std::size_t{b} * (S::queues * L) + place; }

  /// Descriptors of the packets in a block. Like all that loops here use again and again it is a value, not a member:
  /// bytes that are written might be anybody's, so that a compiler would look members up anew each time.
  struct Rings {
    Packet* base;
    u32 size;
    Block<L, S>& k;

    FLITLAB_INLINE Packet& front(u32 place) const { return base[place * S::places(size) + byte(k.first, place)]; }
  };
  FLITLAB_INLINE Rings rings() const { return {s.ring + queue(0) * S::places(v.t.ring), v.t.ring, k}; }

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
    FLITLAB_INLINE u32 credits(u32 port, u32 vc) const { return heads.credits(port, vc, lane); }
  };

  FLITLAB_INLINE u32 credits(u32 port, u32 vc, u32 lane) const {
    return k.credits[port].get(lane, vc) + (lane_of(arrivals.credits[port], lane) >> vc & 1);
  }
  FLITLAB_INLINE u32 flits(u32 port, u32 vc, u32 lane) const {
    return k.flits[port].get(lane, vc) + (lane_of(arrivals.flits[port], lane) >> vc & 1);
  }

  /// As free_vcs().
  FLITLAB_INLINE u32 free(u32 port, u32 lane, u32 allowed, u32 credits_needed) const {
    u32 free = allowed & ~u32{lane_of(k.taken[port], lane)};
    if (credits_needed)
      for (u32 set = free; set; set &= set - 1)
        if (credits(port, lowest_bit(set), lane) < credits_needed) free ^= set & (0 - set);
    return free;
  }

  FLITLAB_INLINE bool is_wormhole() const { return v.t.flow_control == FlowControl::kWormhole; }
  FLITLAB_INLINE bool stores_first() const { return v.t.flow_control == FlowControl::kStoreAndForward; }
  /// Routes are computed in every cycle until there is an output VC.
  FLITLAB_INLINE bool adapts() const { return v.t.algorithm == Algorithm::kMinimalAdaptive; }

  /// Lists the places of the members of sets of virtual channels: of bytes in arrays [port][VC][lane].
  static FLITLAB_INLINE u32 list_places(const B (&sets)[S::ports], u32* places) {
    constexpr u32 kPorts = 8 / S::vcs, kBytes = (S::ports + kPorts - 1) / kPorts;  // whose sets share a byte
    B bytes[kBytes];
    for (u32 port = 0; port < S::ports; ++port) {
      if (port % kPorts)
        bytes[port / kPorts] |= sets[port] << (port % kPorts * S::vcs);
      else
        bytes[port / kPorts] = sets[port];
    }
    u32 n = list_lanes(bytes, places);
    for (u32 i = 0; i < n; ++i) {
      const u32 at = places[i], set = byte(bytes, at), rest = set & (set - 1);
      byte(bytes, at) = static_cast<u8>(rest);
      places[n] = at;  // once more for the others
      n += rest != 0;
      places[i] = at + at / L * (7 * L) + lowest_bit(set) * L;
    }
    return n;
  }

  /// VC allocation, separable and input first, of all that are due. Each step is done for all before the next of any,
  /// with few branches, so that a processor works on several heads at once.
  [[gnu::noinline]] void allocate_vcs() const {
    B new_ones[S::ports], old_ones[S::ports], any{}, any_old{};
    for (u32 port = 0; port < S::ports; ++port) {
      const B due = k.due[port] & ~k.asleep[port];
      new_ones[port] = due & ~k.routed[port];
      old_ones[port] = due & k.routed[port];
      any |= due;
      any_old |= old_ones[port];
    }
    if (!members(any)) return;
    u32 places[L * S::flats + kListMargin];
    u32 n = 0;
    if (members(any_old)) {
      n = list_places(old_ones, places);
      if (adapts()) n = compute_routes<false>(places, n, [](u32, u32) {});
    }
    n += compute_first_routes(new_ones, places + n);
    Bid bids[L * S::flats];
    n = bid(places, n, bids);
    if (n) grant(bids, n);
  }

  /// Route computation of packets; returns how many have one, and lists these.
  template <bool kFirst, class Lost>
  FLITLAB_INLINE u32 compute_routes(u32* places, u32 n, Lost&& lost) const {
    const auto& t = v.t;
    const Rings rings = this->rings();
    Block<L, S>& k = rings.k;
    const u32 first_router = b * L;
    Cycle* const ready_at = s.ready_at + queue(0);
    const Cycle now = this->now;
    u32 routed = 0;
    for (u32 i = 0; i < n; ++i) {
      const u32 place = places[i], flat = place / L, lane = place % L;
      const Route route = vc::compute_route(t, Outputs{*this, lane}, first_router + lane, rings.front(place),
                                            flat / S::vcs, flat % S::vcs);
      if (route.port >= S::ports || !route.allowed) [[unlikely]] {
        raise_fault(s.fault[first_router + lane], kFaultNoRoute, flat / S::vcs);
        lost(flat, lane);
        continue;
      }
      byte(k.out_port, place) = only(route.port);
      byte(k.allowed, place) = static_cast<u8>(route.allowed);
      if (kFirst) ready_at[place] = now;
      places[routed++] = place;
    }
    return routed;
  }

  /// The first routes of packets that have just come to the front.
  FLITLAB_INLINE u32 compute_first_routes(const B (&new_ones)[S::ports], u32* places) const {
    B routed[S::ports];
    for (u32 port = 0; port < S::ports; ++port) routed[port] = new_ones[port];
    const u32 listed = list_places(new_ones, places);
    const Rings rings = this->rings();
    const u32 ring = rings.size;
    for (u32 i = 0; i < listed; ++i) {
      const u32 place = places[i], flat = place / L;
      const u32 passed = byte(k.passed, flat / S::vcs * L + place % L) >> flat % S::vcs & 1;
      u8& first = byte(rings.k.first, place);
      const u32 next = first + passed;  // no branch: nobody could foresee it
      first = static_cast<u8>(next & (0 - u32{next != ring}));
      __builtin_prefetch(&rings.front(place));
    }
    for (u32 port = 0; port < S::ports; ++port) k.passed[port] &= ~new_ones[port];
    const u32 n = compute_routes<true>(
        places, listed, [&](u32 flat, u32 lane) { lane_of(routed[flat / S::vcs], lane) ^= only(flat % S::vcs); });
    const bool same = same_length();
    for (u32 port = 0; port < S::ports; ++port) {
      k.routed[port] |= routed[port];
      if (same) k.left[port].set(routed[port], v.t.traffic.packets.flits[0]);
    }
    if (same) return n;
    for (u32 i = 0; i < n; ++i) {
      const u32 place = places[i], flat = place / L;
      rings.k.left[flat / S::vcs].set(place % L, flat % S::vcs, rings.front(place).flits);
    }
    return n;
  }

  /// Packets that have a route bid for an output VC. Returns how many do: not those that may take none now.
  FLITLAB_INLINE u32 bid(const u32* places, u32 n, Bid* bids) const {
    Block<L, S>& k = this->k;
    const bool sleepy = is_wormhole() && !adapts();
    u32 count = 0;
    for (u32 i = 0; i < n; ++i) {
      const u32 place = places[i], flat = place / L, lane = place % L, port = flat / S::vcs, vc = flat % S::vcs;
      if (stores_first() && flits(port, vc, lane) < k.left[port].get(lane, vc)) continue;
      const u32 out = lowest_bit(u32{byte(k.out_port, place)});
      const u32 free =
          this->free(out, lane, byte(k.allowed, place), is_wormhole() ? 0 : u32{rings().front(place).flits});
      if (!free) {  // an output VC that is freed will wake it; room in one that is free, or elsewhere, would not
        if (sleepy) byte(k.asleep, port * L + lane) |= only(vc);
        continue;
      }
      const u32 to = place_of(out, first_at_or_after(free, byte(k.pick_out, place)), lane);
      bids[count++] = {static_cast<u16>(place), static_cast<u16>(to), static_cast<u16>(port * L + lane),
                       static_cast<u16>(out * L + lane)};
      u8& claim = byte(k.owner, to);
      if (!(claim & kClaimed) || is_before<S>(flat, claim & ~u32{kClaimed}, byte(k.pick_in, to)))
        claim = static_cast<u8>(flat | kClaimed);
    }
    return count;
  }

  /// Bidders that have won get their output VCs.
  FLITLAB_INLINE void grant(const Bid* bids, u32 n) const {
    B won[S::ports] = {};
    Block<L, S>& k = this->k;
    Cycle* const ready_at = s.ready_at + queue(0);
    const Cycle ready = now + v.t.allocation_delay;
    for (u32 i = 0; i < n; ++i) {
      const u32 place = bids[i].from, to = bids[i].to, flat = place / L;
      if (byte(k.owner, to) != (flat | kClaimed)) continue;
      byte(k.owner, to) = static_cast<u8>(flat);
      byte(k.pick_in, to) = static_cast<u8>(flat + 1);
      const u32 at = bids[i].in_port, out_at = bids[i].out_port, out_vc = to / L % S::vcs;
      const u8 bit = only(flat % S::vcs), out_bit = only(out_vc);
      byte(k.pick_out, place) = static_cast<u8>(out_vc + 1);
      byte(k.out_vc, place) = out_bit;
      byte(k.taken, out_at) |= out_bit;
      const u8 credits = byte(k.some_credits, out_at) & out_bit ? bit : u8{0};
      byte(k.credited, at) = static_cast<u8>((byte(k.credited, at) & ~bit) | credits);
      byte(won, at) |= bit;
      ready_at[place] = ready;
    }
    for (u32 port = 0; port < S::ports; ++port) {
      k.due[port] &= ~won[port];
      k.routed[port] &= ~won[port];
      k.heads[port] |= won[port];
      k.pending[port] = won[port];
    }
  }

  /// Heads that cross take their descriptors along: to a queue of the next router, or of the terminal.
  [[gnu::noinline]] void take_descriptors(const B (&heads)[S::ports]) const {
    const auto& t = v.t;
    const Rings rings = this->rings();
    Block<L, S>& k = rings.k;
    const u32* const leads_to = wiring.to + std::size_t{b} * (S::ports * L);
    Packet* const ring = s.ring;
    u32 list[L * S::ports + kListMargin];
    const u32 n = list_lanes(heads, list);
    const u8* const sets = reinterpret_cast<const u8*>(heads);  // of one
    struct Copy {
      const Packet* from;
      Packet* to;
      u32 hops;
    };
    Copy copies[L * S::ports];
    for (u32 i = 0; i < n; ++i) {
      const u32 at = list[i], lane = at % L, place = at + at / L * (L * (S::vcs - 1)) + lowest_bit(u32{sets[at]}) * L;
      const u32 out = lowest_bit(u32{byte(k.out_port, place)}), out_vc = lowest_bit(u32{byte(k.out_vc, place)});
      u8& tail = byte(k.tail, place_of(out, out_vc, lane));
      const Packet& packet = rings.front(place);
      Packet* copy = ring + std::size_t{leads_to[out * L + lane] + out_vc * L} * S::places(rings.size) + tail;
      if (!kTerminalsInLanes<typename V::Table> && out == S::network_ports)
        copy = &v.terminals[b * L + lane].at(t.terminal_fields.ring, out_vc * rings.size + tail);
      __builtin_prefetch(&packet);
      __builtin_prefetch(copy, 1);
      copies[i] = {&packet, copy, u32{out != S::network_ports}};
      tail = next_place(tail, rings.size);
    }
    for (u32 i = 0; i < n; ++i) {
      const auto [from, to, hops] = copies[i];
      const u32 after = from->hops + hops;
      *to = *from;
      to->hops = static_cast<u16>(after);
    }
  }
};

}  // namespace flitlab::vc::lanes
