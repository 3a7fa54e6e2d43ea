#pragma once
/// Work on head flits in lane state, one head at a time: route computation, VC allocation, packet descriptors. The
/// rules are the same as for scalar state (route.hpp, vc_allocation.hpp).
#include <algorithm>
#include <bit>

#include "kernels/routers/vc/lanes/side_routes.hpp"
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/lanes/vc_matching.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc::lanes {

/// A bid for an output VC in one number: the bidder's index among the thread's ports, and the output (port, VC).
template <class C, class S>
struct Bid {
  static constexpr u32 kPositions = C::lanes * C::ports_of(S::ports) * S::vcs;
  static constexpr u32 kBits = static_cast<u32>(std::bit_width(kPositions - 1));
  static_assert(u64{S::flats} << kBits <= u64{1} << 8 * sizeof(typename C::Position));

  static FLITLAB_INLINE typename C::Position of(u32 position, u32 out_flat) {
    return static_cast<typename C::Position>(out_flat << kBits | (position - first()));
  }
  static FLITLAB_INLINE u32 from(u32 bid) { return first() + (bid & ((1u << kBits) - 1)); }
  static FLITLAB_INLINE u32 first() { return C::first_port() * (C::lanes * S::vcs); }
  static FLITLAB_INLINE u32 to(u32 bid) { return (bid >> kBits) * C::lanes + bid % C::lanes; }
};

template <class C, class S>
struct AllocationScratch {
  static constexpr u32 kMost = C::lanes * C::ports_of(S::ports) * S::vcs;
  typename C::Position positions[kMost + C::kMargin];  ///< indices of heads, later replaced by their bids (Bid)
  typename C::template ByPort<typename C::Row, S::ports> won;
};

template <class C, class S>
struct CrossingScratch {
  typename C::Position list[C::lanes * C::ports_of(S::ports) + C::kMargin];
  typename C::template SharedRows<S::ports> sets;
};

/// Flits and credits that arrive in a cycle, by port. They are added to the counts when flits leave, so that counts
/// change once a cycle.
template <class C, class S>
struct Arrivals {
  typename C::template ByPort<typename C::Value, S::ports> flits, credits;
};

/// Arrivals in a form that the threads of all ports can read.
template <class C, class S>
struct SharedArrivals {
  typename C::template Exchange<S::ports> flits, credits;
  typename C::template Exchange<S::ports> full;  ///< output VCs with all credits, if adaptive routing needs them
  typename C::Votes votes;                       ///< whether any port has packets left after a round of VC allocation
};

template <class C, class S, class V>
struct Heads {
  using B = typename C::Value;
  using Position = typename C::Position;
  using E = typename C::Element;
  static_assert(S::flats <= kClaimed<E>);
  using ByPort = typename C::template ByPort<B, S::ports>;
  static constexpr u32 L = C::lanes;
  static constexpr bool kPlain = std::is_base_of_v<PlainVcTable, typename V::Table>;
  const V& v;
  const State<C, S>& s;
  const Wiring& wiring;
  Block<C, S>& k;
  u32 b;
  Cycle now;
  mutable typename C::template GroupScratch<SharedArrivals<C, S>> shared_arrivals;

  FLITLAB_INLINE Heads(const V& view, const State<C, S>& state, const Wiring& w, u32 block, Cycle cycle)
      : v(view), s(state), wiring(w), k(state.block[block]), b(block), now(cycle) {}

  /// Returns an element of an array [port][VC] or [port] of rows.
  template <class Array>
  static FLITLAB_INLINE E& element(Array& array, u32 position) {
    return reinterpret_cast<E*>(array)[position];
  }
  static FLITLAB_INLINE u32 place_of(u32 port, u32 vc, u32 lane) { return (port * S::vcs + vc) * L + lane; }
  /// Converts an index in [port][VC][lane] to an index in [port][lane].
  static FLITLAB_INLINE u32 port_of(u32 position) { return position / (S::vcs * L) * L + position % L; }
  FLITLAB_INLINE std::size_t queue(u32 position) const { return std::size_t{b} * queues_of<S>(v.t) * L + position; }

  /// Packet descriptors of a block. Loops use a local object of this type instead of members of Heads: a written
  /// element may alias any member, so the compiler would reload members in every iteration.
  struct Rings {
    Packet* base;
    u32 size;
    Block<C, S>& k;

    FLITLAB_INLINE Packet& front(u32 position) const {
      return base[position * S::descriptors(size) + element(k.first, position)];
    }
  };
  FLITLAB_INLINE Rings rings() const { return {s.ring + queue(0) * S::descriptors(v.t.ring), v.t.ring, k}; }

  FLITLAB_INLINE u32 list_members(const ByPort& sets, Position* positions) const {
    return C::template list_members<S::vcs, S::ports>(sets, S::ports_of(v.t), positions, [](u32) {});
  }

  /// Returns whether all packets have the same length.
  FLITLAB_INLINE bool same_length() const {
    return v.t.mode == TrafficMode::kOpen && v.t.traffic.length_law == LengthLaw::kTable &&
           v.t.traffic.packets.count == 1;
  }

  /// State of a router's outputs that adaptive routing reads; it has the interface of vc::Outputs.
  struct Outputs {
    const Heads& heads;
    u32 lane;

    FLITLAB_INLINE u32 free(u32 port, u32 allowed, u32 credits_needed) const {
      return heads.free(port, lane, allowed, credits_needed);
    }
    FLITLAB_INLINE u32 credits(u32 port, u32 set) const {
      return heads.k.credits[port].sum(lane, set) + bit_count(heads.arrived_credits(port, lane) & set);
    }
  };

  FLITLAB_INLINE u32 arrived_credits(u32 port, u32 lane) const {
    return shared_arrivals->credits.element(port * L + lane);
  }
  FLITLAB_INLINE u32 flits(u32 port, u32 vc, u32 lane) const {
    return k.flits[port].get(lane, vc) + (shared_arrivals->flits.element(port * L + lane) >> vc & 1);
  }

  /// Returns the free VCs of a port that are in `allowed` (free_vcs()).
  FLITLAB_INLINE u32 free(u32 port, u32 lane, u32 allowed, u32 credits_needed) const {
    const u32 free = allowed & ~u32{lane_of(k.taken[port], lane)};
    if (!credits_needed) return free;
    if (v.t.atomic_adaptive && credits_needed == v.t.buffer_flits)
      return free & shared_arrivals->full.element(port * L + lane);
    return free & k.credits[port].above(lane, credits_needed - 1, arrived_credits(port, lane));
  }

  FLITLAB_INLINE bool stores_first() const { return v.t.flow_control == FlowControl::kStoreAndForward; }
  /// Returns whether packets recompute their routes in every cycle until they get an output VC.
  FLITLAB_INLINE bool adapts() const { return v.t.adapts; }

  /// Packets that are due for VC allocation.
  struct Due {
    ByPort unrouted, rerouted;
    B any{}, any_rerouted{};
  };

  /// VC allocation of all packets that are due: here separable, input-first and round robin, otherwise by
  /// allocate_otherwise(). Each step handles all of them before the next step, with few branches, so that a processor
  /// overlaps the work on several heads.
  FLITLAB_APART void allocate_vcs(const Arrivals<C, S>& arrivals) {
    Due due;
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      const B of_port = k.due[port] & ~k.asleep[port];
      due.unrouted[port] = of_port & ~k.routed[port];
      due.rerouted[port] = of_port & k.routed[port];
      due.any |= of_port;
      due.any_rerouted |= due.rerouted[port];
    }
    if constexpr (!kPlain) {  // plain routers do not read counts
      FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
        shared_arrivals->flits.put(port, arrivals.flits[port]);
        shared_arrivals->credits.put(port, arrivals.credits[port]);
        if (v.t.atomic_adaptive)
          shared_arrivals->full.put(port, k.credits[port].above(v.t.buffer_flits - 1, arrivals.credits[port]));
      }
      C::group_barrier(S::ports_of(v.t));
    }
    typename C::template Scratch<AllocationScratch<C, S>> scratch;
    if constexpr (!S::exact)
      if (!S::plain_vc_allocator(v.t)) return allocate_otherwise(due, scratch->positions, scratch->won);
    u32 n = 0;
    if (C::any(due.any)) n = bid(scratch->positions, route(due, scratch->positions));
    if constexpr (!S::exact)
      if (v.t.speculative) note_bids();  // packets that sleep also request the switch
    C::group_barrier(S::ports_of(v.t));
    if (C::any(n)) grant(scratch->positions, n, scratch->won);
  }

  /// Computes the routes of packets that are due. Writes to `positions` the packets that have one, and returns their
  /// number.
  FLITLAB_INLINE u32 route(const Due& due, Position* positions) const {
    u32 n = 0;
    if (C::any(due.any_rerouted)) {
      n = list_members(due.rerouted, positions);
      if (adapts()) n = compute_routes<false>(positions, n);
    }
    return n + compute_first_routes(due.unrouted, positions + n);
  }

  /// Computes routes of listed packets. Keeps in `positions` the packets that have one, and returns their number.
  template <bool kFirst>
  FLITLAB_INLINE u32 compute_routes(Position* positions, u32 n) const {
    const auto& t = v.t;
    if constexpr (C::side_by_side && kFirst)
      if (t.algorithm == Algorithm::kDimensionOrder && t.message_classes == 1) return compute_side_routes(positions, n);
    const Rings rings = this->rings();
    const auto keep = keep_route<kFirst>(rings.k);
    const u32 first_router = b * L;
    return C::filter(positions, n, positions, [&](u32 position, Position& routed) {
      const u32 flat = position / L, lane = position % L;
      return keep(position,
                  vc::compute_route<kLongRoutes<C, S>, false>(t, Outputs{*this, lane}, first_router + lane,
                                                              rings.front(position), flat / S::vcs, flat % S::vcs),
                  routed);
    });
  }

  /// Returns a function that stores the route of a packet. It returns false if there is none.
  template <bool kFirst>
  FLITLAB_INLINE auto keep_route(Block<C, S>& k) const {
    return [&t = v.t, &k, fault = s.fault + b * L, ready_at = s.ready_at + queue(0), now = now](
               u32 position, const Route& route, Position& routed) __attribute__((always_inline)) {
      if (route.port >= S::ports_of(t) || !route.allowed) [[unlikely]] {
        const u32 port = position / L / S::vcs, vc = position / L % S::vcs;
        C::raise(fault[position % L], kFaultNoRoute, port);
        if (kFirst) C::and_bits(lane_of(k.routed[port], position % L), ~u32{C::only(vc)});
        return false;
      }
      const E out = C::only(route.port);
      if constexpr (!S::exact && C::has_all_ports)  // not on a GPU (excluded_from_device_lanes())
        if (t.pointer_spans_ports && element(k.out_port, position) != out) element(k.pick_out, position) = 0;
      element(k.out_port, position) = out;
      element(k.allowed, position) = static_cast<E>(route.allowed);
      if (kFirst) ready_at[position] = now;
      routed = static_cast<Position>(position);
      return true;
    };
  }

  /// compute_routes<true>() for dimension-order routing, several packets side by side.
  FLITLAB_INLINE u32 compute_side_routes(Position* positions, u32 n) const {
    const auto& t = v.t;
    const Rings rings = this->rings();
    const auto keep = keep_route<true>(rings.k);
    const u32* const address = t.address + b * L;
    SideRoutes<C::row_bytes> side;
    const auto number = [](auto& vectors, u32 i) -> u32& { return reinterpret_cast<u32*>(vectors)[i]; };
    u32 kept = 0;
    for (u32 first = 0; first < n; first += side.kMost) {
      const u32 count = std::min(n - first, side.kMost);
      for (u32 i = 0; i < count; ++i) {
        const u32 position = positions[first + i], flat = position / L;
        const Packet& packet = rings.front(position);
        number(side.here, i) = address[position % L];
        number(side.target, i) = packet.dst;
        number(side.last_port, i) = packet.dst_port;
        if (!t.wraps) continue;
        number(side.in_port, i) = flat / S::vcs;
        number(side.in_vc, i) = flat % S::vcs;
        number(side.hash, i) = static_cast<u32>(mix64((u64{packet.src} << 32) | packet.id));
      }
      side.compute(t, count);
      kept +=
          C::filter(positions + first, count, positions + kept, [&, i = 0u](u32 position, Position& routed) mutable {
            const Route route{number(side.port, i), static_cast<u16>(number(side.allowed, i))};
            ++i;
            return keep(position, route, routed);
          });
    }
    return kept;
  }

  /// route() for packets that have come to the front.
  FLITLAB_INLINE u32 compute_first_routes(const ByPort& unrouted, Position* positions) const {
    const Rings rings = this->rings();
    const u32 ring = rings.size;
    const u32 listed =
        C::template list_members<S::vcs, S::ports>(unrouted, S::ports_of(v.t), positions, [&](u32 position) {
          const u32 flat = position / L;
          const u32 passed = element(rings.k.passed, flat / S::vcs * L + position % L) >> flat % S::vcs & 1;
          E& first = element(rings.k.first, position);
          const u32 next = first + passed;  // no branch: it would be unpredictable
          first = static_cast<E>(next & (0 - u32{next != ring}));
          C::prefetch(&rings.front(position));
        });
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      k.passed[port] &= ~unrouted[port];
      k.routed[port] |= unrouted[port];
    }
    C::sync();
    const u32 n = compute_routes<true>(positions, listed);
    if (same_length()) {
      const u32 flits = v.t.traffic.packets.flits[0];
      FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) k.left[port].start(
          unrouted[port] & k.routed[port], flits);
      C::sync();
    } else {
      C::each(n, [&](u32 i) {
        const u32 position = positions[i], flat = position / L;
        rings.k.left[flat / S::vcs].set(position % L, flat % S::vcs, rings.front(position).flits);
      });
    }
    return n;
  }

  /// Returns the free output VCs that the packet at `position` may take: in store-and-forward flow control none before
  /// its tail has arrived.
  FLITLAB_INLINE u32 free_for(u32 position, u32 out) const {
    const u32 flat = position / L, lane = position % L, allowed = element(k.allowed, position);
    if (takes_without_credits(v.t)) return free(out, lane, allowed, 0);
    const Packet& packet = rings().front(position);
    if (stores_first() && flits(flat / S::vcs, flat % S::vcs, lane) < packet.flits) return 0;
    return free(out, lane, allowed, credits_to_take(v.t, packet.flits));
  }

  /// Returns whether packets that found no free output VC sleep until one is released: if nothing else can unblock
  /// them.
  FLITLAB_INLINE bool may_sleep() const { return takes_without_credits(v.t) && !adapts(); }
  FLITLAB_INLINE void sleep(u32 position) const {
    C::or_bits(element(k.asleep, port_of(position)), C::only(position / L % S::vcs));
  }

  /// Bids for packets that have a route. Keeps in `positions` the bids of packets that found a free output VC, and
  /// returns their number.
  FLITLAB_INLINE u32 bid(Position* positions, u32 n) const {
    Block<C, S>& k = this->k;
    const bool may_sleep = this->may_sleep();
    return C::filter(positions, n, positions, [&](u32 position, Position& bid) {
      const u32 flat = position / L, lane = position % L, out = lowest_bit(u32{element(k.out_port, position)});
      const u32 free = free_for(position, out);
      if (!free) {
        if (may_sleep) sleep(position);
        return false;
      }
      const u32 out_vc = first_at_or_after(free, element(k.pick_out, position)), to = place_of(out, out_vc, lane);
      bid = Bid<C, S>::of(position, out * S::vcs + out_vc);
      const u32 first = element(k.pick_in, to);
      C::update(element(k.owner, to), [&](E claim) {
        const bool better = !(claim & kClaimed<E>) || is_before<S>(flat, claim & ~u32{kClaimed<E>}, first);
        return better ? static_cast<E>(flat | kClaimed<E>) : claim;
      });
      return true;
    });
  }

  /// Records the packets that bid for an output VC in this cycle.
  FLITLAB_INLINE void note_bids() const {
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      B bids = k.due[port] & k.routed[port];
      if (stores_first())
        C::for_each_of_thread(C::members(bids), [&](u32 lane) {
          for (u32 set = lane_of(bids, lane); set; set &= set - 1)
            if (const u32 vc = lowest_bit(set); flits(port, vc, lane) < k.left[port].get(lane, vc))
              lane_of(bids, lane) &= static_cast<E>(~C::only(vc));
        });
      k.bids[port] = bids;
    }
  }

  /// VC allocation by any allocator and arbiter (VcMatching). On a CPU, packets that request output VCs which no other
  /// packet requests get one before that.
  FLITLAB_APART void allocate_otherwise(const Due& due, Position* positions,
                                        typename C::template ByPort<typename C::Row, S::ports>& won) const {
    Block<C, S>& k = this->k;
    Cycle* const ready_at = s.ready_at + queue(0);
    const Cycle ready = now + v.t.allocation_delay;
    const bool may_sleep = this->may_sleep(), one_choice = v.t.vc_allocator == VcAllocator::kInputFirst;
    const VcMatching<C, S, Heads> matching(*this);
    [[maybe_unused]] B requests[S::ports],
        contested[S::ports];  // [output] VCs that at least one and two packets request
    if constexpr (C::has_all_ports)
      for (u32 port = 0; port < v.t.ports; ++port) requests[port] = contested[port] = B{};
    u32 n = 0;
    if (C::any(due.any))
      n = C::filter(positions, route(due, positions), positions, [&](u32 position, Position& request) {
        const u32 out = matching.out_of(position);
        u32 requested = free_for(position, out);
        if (!requested) {
          if (may_sleep) sleep(position);
          return false;
        }
        if (one_choice) requested = 1u << matching.choice(position, out, requested);
        if constexpr (C::has_all_ports) {
          E& all = lane_of(requests[out], position % L);
          lane_of(contested[out], position % L) |= static_cast<E>(all & requested);
          all |= static_cast<E>(requested);
        }
        request = static_cast<Position>(position | requested << 16);
        return true;
      });
    if (v.t.speculative) note_bids();
    if (C::has_all_ports && !n) return;
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) won[port] = B{};
    C::sync();
    const auto grant = [&](u32 position, u32 out, u32 vc) {
      grant_one(k, ready_at, ready, position, place_of(out, vc, position % L), won);
    };
    if constexpr (C::has_all_ports)
      n = C::filter(positions, n, positions, [&](u32 request, Position& kept) {
        const u32 position = request & 0xFFFF, requested = request >> 16, out = matching.out_of(position);
        kept = request;
        if (lane_of(contested[out], position % L) & requested) return true;
        grant(position, out, matching.choice(position, out, requested));
        return false;
      });
    if (!C::has_all_ports || n) matching.settle(positions, n, grant);
    end_grants(won);
  }

  /// Grants output VCs to the winning bids. On a GPU, a bidder that has lost may read the owner before or after the
  /// winner writes it. Its decision is the same: it compares with its own claim, `flat | kClaimed`. It reads either the
  /// claim of the winner, whose `flat` differs, or the winner's `flat` without the mark.
  FLITLAB_INLINE void grant(const Position* bids, u32 n,
                            typename C::template ByPort<typename C::Row, S::ports>& won) const {
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) won[port] = B{};
    C::sync();
    Block<C, S>& k = this->k;
    Cycle* const ready_at = s.ready_at + queue(0);
    const Cycle ready = now + S::allocation_delay_of(v.t);
    C::each(n, [&](u32 i) {
      const u32 position = Bid<C, S>::from(bids[i]), to = Bid<C, S>::to(bids[i]), flat = position / L;
      if (C::peek(element(k.owner, to)) != (flat | kClaimed<E>)) return;
      grant_one(k, ready_at, ready, position, to, won);
    });
    end_grants(won);
  }

  /// Grants output VC `to` to the packet at `position`.
  FLITLAB_INLINE void grant_one(Block<C, S>& k, Cycle* ready_at, Cycle ready, u32 position, u32 to,
                                typename C::template ByPort<typename C::Row, S::ports>& won) const {
    const u32 flat = position / L, at = port_of(position), out_at = port_of(to), out_vc = to / L % S::vcs;
    const E bit = C::only(flat % S::vcs), out_bit = C::only(out_vc);
    C::poke(element(k.owner, to), static_cast<E>(flat));
    element(k.pick_in, to) = static_cast<E>(flat + 1);
    element(k.pick_out, position) = static_cast<E>(out_vc + 1);
    element(k.out_vc, position) = out_bit;
    C::or_bits(element(k.taken, out_at), out_bit);
    C::put_bits(element(k.credited, at), bit, element(k.some_credits, out_at) & out_bit ? bit : E{0});
    C::or_bits(C::template element_of<S::ports>(won, at), bit);
    ready_at[position] = ready;
  }

  /// Takes the packets that got output VCs out of VC allocation.
  FLITLAB_INLINE void end_grants(typename C::template ByPort<typename C::Row, S::ports>& won) const {
    const u32 delay = S::allocation_delay_of(v.t);
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      k.due[port] &= ~won[port];
      k.routed[port] &= ~won[port];
      k.heads[port] |= won[port];
      if (delay)
        k.pending[now % delay][port] |= won[port];
      else
        k.granted[port] |= won[port];
    }
  }

  /// Copies descriptors of departing heads to the packet queues of the next routers or of terminals.
  FLITLAB_APART void take_descriptors(const ByPort& heads) const {
    const auto& t = v.t;
    const Rings rings = this->rings();
    Block<C, S>& k = rings.k;
    const u32* const leads_to = wiring.to + std::size_t{b} * (S::ports_of(t) * L);
    Packet* const ring = s.ring;
    typename C::template Scratch<CrossingScratch<C, S>> scratch;
    const auto sets = C::template share_rows<S::ports>(scratch->sets, heads);  // sets of one VC
    const u32 n = C::list(heads, S::ports_of(t), scratch->list);
    struct Copy {
      const Packet* from;
      Packet* to;
      u32 hops;
    };
    const auto prepare = [&](u32 i) {
      const u32 at = scratch->list[i], lane = at % L,
                position = at + at / L * (L * (S::vcs - 1)) + lowest_bit(u32{sets[at]}) * L;
      const u32 out = lowest_bit(u32{element(k.out_port, position)}),
                out_vc = lowest_bit(u32{element(k.out_vc, position)});
      E& tail = element(k.tail, place_of(out, out_vc, lane));
      const Packet& packet = rings.front(position);
      Packet* copy = ring + std::size_t{leads_to[out * L + lane] + out_vc * L} * S::descriptors(rings.size) + tail;
      if constexpr (!kLaneTerminals<typename V::Table>)
        if (out >= S::network_ports_of(t))
          copy = &v.terminals[s.terminal_of(b, out - S::network_ports_of(t), lane)].at(t.terminal_fields.ring,
                                                                                       out_vc * rings.size + tail);
      C::prefetch(&packet);
      C::template prefetch<true>(copy);
      tail = static_cast<E>(next_position(tail, rings.size));
      return Copy{&packet, copy, u32{out < S::network_ports_of(t)}};
    };
    C::template in_two_steps<L * C::ports_of(S::ports)>(n, prepare, [](const Copy& copy) {
      const u32 after = copy.from->hops + copy.hops;
      *copy.to = *copy.from;
      copy.to->hops = static_cast<u16>(after);
    });
  }
};

}  // namespace flitlab::vc::lanes
