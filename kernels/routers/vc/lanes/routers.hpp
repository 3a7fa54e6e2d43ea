#pragma once
/// One cycle of a lane block, the routers whose state lies side by side, one element each: the steps of phases.hpp, in
/// the same order.
#include "kernels/routers/vc/lanes/heads.hpp"
#include "kernels/routers/vc/lanes/switch_matching.hpp"

namespace flitlab::vc::lanes {

template <class C, class S>
struct CreditScratch {
  typename C::Position list[C::lanes * C::ports_of(S::ports) + C::kMargin];
  typename C::template SharedRows<S::ports> sets;
};

struct NoMatching {
  static constexpr bool matches = false;
};

/// The part of SwitchExchange that sizes known at compile time (S::exact) do not need. It includes the memory of
/// MatchingExchange, which must not overlap with the other members: ports still read it while others write these.
template <class C, class S, bool kExact = S::exact>
struct MoreExchanges : MatchingExchange<C, S> {
  typename C::template Union<S::ports> closed;  ///< [output] the output port itself, if its channel is closed
};
template <class C, class S>
struct MoreExchanges<C, S, true> {};

/// Exchange between input and output ports during switch allocation.
template <class C, class S>
struct SwitchExchange : MoreExchanges<C, S> {
  using Exchange = typename C::template Exchange<S::ports>;
  using Union = typename C::template Union<S::ports>;
  Exchange requests;                              ///< [input] requested output port, a set of one
  Exchange flits_to_send[FlitsOf<C, S>::planes];  ///< [input] flit to send if granted
  Union wins;                                     ///< [output] granted input port, a set of one
  Union spent;  ///< [output] granted input port, as a set of one, if its flit used the last credit of its VC; otherwise
                ///< empty
  Union freed;  ///< [output] the output port itself, if a VC became free
};

template <class C, class S, class V>
struct Routers {
  using B = typename C::Value;
  using Row = typename C::Row;
  using ByPort = typename C::template ByPort<B, S::ports>;
  using F = FlitsOf<C, S>;
  using E = typename C::Element;
  const V& v;
  const State<C, S>& s;
  const Wiring& wiring;
  Block<C, S>& k;
  u32 b;
  Cycle now;

  FLITLAB_INLINE Routers(const V& view, const State<C, S>& state, const Wiring& w, u32 block, Cycle cycle)
      : v(view), s(state), wiring(w), k(state.block[block]), b(block), now(cycle) {}

  /// Lists the lanes of ports' values that are not 0 (C::list).
  FLITLAB_INLINE u32 list_ports(const ByPort& values, typename C::Position* list) const {
    return C::list(values, S::ports_of(v.t), list);
  }

  /// Reads the credits and flits that arrive at a port.
  FLITLAB_INLINE void read_arrivals(u32 port, B& credits, F& flits) const {
    if (port >= S::network_ports_of(v.t)) {
      const u32 slot = s.slot(now);
      const u32 row = s.row_of(b, port - S::network_ports_of(v.t));
      credits = s.of_terminals(s.eject_credits, slot, row);
      flits = s.terminal_flits(s.inject_flits, slot, row);
      return;
    }
    credits = B{};
    B planes[F::planes] = {};
    // With exact sizes all channels have the same delays, so the loop need not compute these rows.
    const E* const all_credits = block_of(s.credit_row(s.slot_of_arriving(now, v.t.credit_delay), 0));
    const E* const all_flits = block_of(s.flit_row(s.slot_of_arriving(now, v.t.link_delay), 0));
    for_each_sender(port, [&](const SenderRow& row, B mask) {
      credits |=
          from(row, S::exact ? all_credits : block_of(s.credit_row(s.slot_of_arriving(now, row.credit_delay), 0))) &
          mask;
      const E* const flit_row = S::exact ? all_flits : block_of(s.flit_row(s.slot_of_arriving(now, row.link_delay), 0));
      for (u32 plane = 0; plane < F::planes; ++plane) planes[plane] |= from(row, flit_row + plane * s.planes) & mask;
    });
    flits = F::read([&](u32 plane) { return planes[plane]; });
  }

  /// Calls work(row, mask of lanes) for each row of senders that a network port reads.
  template <class Work>
  FLITLAB_INLINE void for_each_sender(u32 port, Work&& work) const {
    const u32* first = wiring.first + b * S::network_ports_of(v.t) + port;
    FLITLAB_ROLLED for (const SenderRow* p = wiring.sender_rows + first[0], *end = wiring.sender_rows + first[1];
                        p != end; ++p)
        work(*p, B{*reinterpret_cast<const Row*>(wiring.masks + std::size_t{p->mask} * C::row_bytes)});
  }
  /// Returns the values of senders. `block`: this block's part of the row of port 0.
  FLITLAB_INLINE B from(const SenderRow& row, const E* block) const { return C::load_unaligned(block + row.at); }
  /// Returns this block's part of a row.
  FLITLAB_INLINE const E* block_of(const E* row) const { return row + std::size_t{b} * C::lanes; }
  FLITLAB_INLINE u32 link_delay_of(const SenderRow& row) const { return S::exact ? v.t.link_delay : row.link_delay; }
  /// On a GPU the registers of one more delay would be spilled (excluded_from_device_lanes()).
  FLITLAB_INLINE u32 injection_credit_delay() const {
    return S::exact || !C::has_all_ports ? v.t.credit_delay : v.t.injection_credit_delay;
  }
  FLITLAB_INLINE u32 credit_delay_of(const SenderRow& row) const {
    return S::exact ? v.t.credit_delay : row.credit_delay;
  }

  /// Stores arriving credits and flits. Packets that came to the front begin route computation; packets that have ended
  /// it are due for VC allocation.
  FLITLAB_INLINE void receive(Arrivals<C, S>& arrivals) const {
    const u32 routing_delay = S::routing_delay_of(v.t), allocation_delay = S::allocation_delay_of(v.t);
    auto& in_routing = k.in_routing[routing_delay ? now % routing_delay : 0];
    auto& pending = k.pending[allocation_delay ? now % allocation_delay : 0];
    ByPort first;  // credits of owned output VCs that had no credits: their packets may advance
    B any{};
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      B credits;
      F flits_to_send;
      read_arrivals(port, credits, flits_to_send);
      first[port] = credits & ~k.some_credits[port] & k.taken[port];
      any |= first[port];
      k.some_credits[port] |= credits;
      const B vcs = flits_to_send.vcs(), heads = vcs & flits_to_send.heads();
      arrivals.credits[port] = credits;
      arrivals.flits[port] = vcs;
      k.filled[port] |= vcs;
      const B fresh = k.fresh[port] | (heads & ~k.packets[port].nonzero_counts());
      k.packets[port].add(heads);
      k.granted[port] |= pending[port];
      pending[port] = B{};
      if (routing_delay) {
        k.due[port] |= in_routing[port];
        in_routing[port] = fresh;
      } else {
        k.due[port] |= fresh;
      }
      k.fresh[port] = B{};
    }
    if (!C::any(any)) return;
    typename C::template Scratch<CreditScratch<C, S>> scratch;
    const auto sets = C::template share_rows<S::ports>(scratch->sets, first);  // sets of one VC
    const u32 n = list_ports(first, scratch->list);
    C::each(n, [&](u32 i) {
      const u32 at = scratch->list[i], port = at / C::lanes, lane = at % C::lanes;
      // Other threads may already bid for free VCs, whose owners share a machine word with this one.
      const u32 flat = C::peek(lane_of(k.owner[port][lowest_bit(u32{sets[at]})], lane));
      C::or_bits(lane_of(k.credited[flat / S::vcs], lane), C::only(flat % S::vcs));
    });
  }

  /// Switch allocation and traversal. `matching`: inputs are matched to outputs, and arbiters updated, before flits are
  /// sent; without it, allocation is separable, input-first and round robin.
  template <class Matching>
  FLITLAB_INLINE void allocate_switch(const Arrivals<C, S>& arrivals, const Matching& matching) const {
    typename C::template GroupScratch<SwitchExchange<C, S>> exchange;
    ByPort vcs, heads, tails;
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      B requests{}, to_vc{};  // the output port and VC, as sets of one
      if constexpr (Matching::matches) {
        vcs[port] = matching.vcs[port];
        requests = matching.accepted[port];
      } else {
        vcs[port] = pick(ready_vcs(k, v.t, port), k.first_vc[port]);
      }
      for (u32 vc = 0; vc < v.t.vcs; ++vc) {
        if constexpr (!Matching::matches) put_where(requests, vcs[port], vc, k.out_port[port][vc]);
        put_where(to_vc, vcs[port], vc, k.out_vc[port][vc]);
      }
      heads[port] = vcs[port] & k.heads[port];
      tails[port] = k.left[port].ones(vcs[port]);
      exchange->requests.put(port, requests);
      F::of(to_vc, nonzero(heads[port]), nonzero(tails[port])).write([&](u32 plane, B values) {
        exchange->flits_to_send[plane].put(port, values);
      });
    }
    C::group_barrier(S::ports_of(v.t));
    send_winners<!Matching::matches>(arrivals, *exchange.operator->());
    C::group_barrier(S::ports_of(v.t));
    move<!Matching::matches>(arrivals, *exchange.operator->(), vcs, heads, tails);
  }

  /// Output ports grant one of their requesting input ports each, and send its flit. `kUpdate`: update the arbiters.
  template <bool kUpdate>
  FLITLAB_INLINE void send_winners(const Arrivals<C, S>& arrivals, SwitchExchange<C, S>& exchange) const {
    const auto& t = v.t;
    ByPort requested;
    C::template transpose_ports<S::ports>(exchange.requests, S::ports_of(t), requested);
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      const B winner = pick(requested[port], k.first_input[port]);
      if (kUpdate) k.first_input[port] = select(nonzero(winner), above(winner), k.first_input[port]);
      F out;
      for (u32 input = 0; input < S::ports_of(t); ++input)
        out.put_where(winner, input, F::read([&](u32 plane) { return exchange.flits_to_send[plane].get(input); }));
      const B vc = out.vcs();
      k.credits[port].change(arrivals.credits[port], vc);
      k.some_credits[port] = k.credits[port].nonzero_counts();
      const B tails = vc & out.tails();
      k.taken[port] &= ~tails;
      k.sent[port] -= nonzero(out.any());
      exchange.wins.put(port, winner);
      exchange.spent.put(port, winner & nonzero(vc & ~k.some_credits[port]));
      exchange.freed.put(port, nonzero(tails) & C::only(port));
      if (port >= S::network_ports_of(t))
        s.put_terminal_flits(s.eject_flits, s.slot(now + t.eject_delay), s.row_of(b, port - S::network_ports_of(t)),
                             out);
      else
        out.write([&](u32 plane, B values) {
          E* row = s.flit_row(s.slot_of_leaving(now, t.link_delay), port) + plane * s.planes;
          *reinterpret_cast<Row*>(row + std::size_t{b} * C::lanes) = values;
        });
      if constexpr (!S::exact)
        if (t.narrow)
          exchange.closed.put(port, port < t.network_ports ? occupy(port, nonzero(vc)) & C::only(port) : B{});
    }
  }

  /// Returns the rows of PortChannel::flits and cycles of a network port.
  FLITLAB_INLINE const Row* widths_of(u32 port) const {
    return reinterpret_cast<const Row*>(wiring.widths) + (std::size_t{b} * v.t.network_ports + port) * 2;
  }
  /// Adds the flits that an output's channels accept in this cycle, and ends the cycle for these channels
  /// (advance_channels() in narrow.hpp). Returns the lanes whose channel is closed.
  FLITLAB_INLINE B occupy(u32 port, B sends) const {
    const Row* const widths = widths_of(port);
    const B flits = widths[0], occupied = k.occupied[port] + (sends & widths[1]);
    k.occupied[port] = (occupied - flits) & (B)(occupied > flits);
    return (B)(k.occupied[port] >= flits);
  }

  /// For each granted input port, removes the sent flit from the buffer and returns its credit.
  template <bool kUpdate>
  FLITLAB_INLINE void move(const Arrivals<C, S>& arrivals, const SwitchExchange<C, S>& exchange,
                           const ByPort& requested, ByPort& heads, ByPort& tails) const {
    const u32 ports = S::ports_of(v.t);
    const B winners = exchange.wins.all(ports), spent = exchange.spent.all(ports), freed = exchange.freed.all(ports);
    if constexpr (!S::exact)
      if (v.t.narrow && C::has_port(0)) k.closed = exchange.closed.all(ports);
    B any_head{}, any_tail{};
    u32 moves = 0;
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      const B won = has(winners, port), vc = requested[port] & won;
      heads[port] &= won;
      tails[port] &= won;
      if (kUpdate) k.first_vc[port] = select(won, above(vc), k.first_vc[port]);
      k.flits[port].change(arrivals.flits[port], vc);
      k.left[port].subtract(vc);
      k.filled[port] = k.flits[port].nonzero_counts();
      k.heads[port] ^= heads[port];
      k.granted[port] &= ~tails[port];
      k.credited[port] &= ~(vc & has(spent, port));
      any_head |= heads[port];
      any_tail |= tails[port];
      moves += C::count(won);
      if (port >= S::network_ports_of(v.t))
        s.of_terminals(s.inject_credits, s.slot(now + injection_credit_delay()),
                       s.row_of(b, port - S::network_ports_of(v.t))) = vc;
      else
        *reinterpret_cast<Row*>(s.credit_row(s.slot_of_leaving(now, v.t.credit_delay), port) +
                                std::size_t{b} * C::lanes) = vc;
    }
    if (C::any(any_head)) Heads<C, S, V>(v, s, wiring, b, now).take_descriptors(heads);
    if (C::any(any_tail)) next_packets(tails);
    if (C::any(freed)) wake(freed);
    count(*v.shard, Total::kFlitMoves, moves);
  }

  /// Moves the packets behind departed tail flits to the front of their buffers.
  FLITLAB_INLINE void next_packets(const ByPort& tails) const {
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      k.packets[port].subtract(tails[port]);
      k.fresh[port] = tails[port] & k.packets[port].nonzero_counts();
      k.passed[port] |= tails[port];
    }
  }

  /// Lets sleeping packets (packets that found no free output VC) bid again if their output port is in `freed`.
  FLITLAB_INLINE void wake(B freed) const {
    B any{};
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) any |= k.asleep[port];
    if (!C::any(any & nonzero(freed))) return;
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) for (u32 vc = 0; vc < v.t.vcs; ++vc)
        k.asleep[port] &= ~(nonzero(k.out_port[port][vc] & freed) & C::only(vc));
  }

  /// Prefetches the next block. A network larger than a cache is read from memory in every cycle, in too many pieces
  /// for a hardware prefetcher.
  FLITLAB_INLINE void prefetch_next() const {
    const auto fetch = [](const void* p) { C::template prefetch<true>(p); };
    const char* block = reinterpret_cast<const char*>(&k + 1);
    for (u32 at = 0; at < sizeof k; at += 64) fetch(block + at);
    const auto row = [&](const E* flits_to_send) { fetch(flits_to_send + std::size_t{b + 1} * C::lanes); };
    for (u32 port = 0; port < S::network_ports_of(v.t); ++port) {
      if (kMayWriteRows<C, S> && wiring.other_end) {
        row(s.credit_row(s.slot(now), port));
        row(s.flit_row(s.slot(now), port));
        continue;
      }
      row(s.credit_row(s.slot_of_arriving(now, v.t.credit_delay), port));
      row(s.credit_row(s.slot_of_leaving(now, v.t.credit_delay), port));
      row(s.flit_row(s.slot_of_arriving(now, v.t.link_delay), port));
      row(s.flit_row(s.slot_of_leaving(now, v.t.link_delay), port));
    }
  }

  FLITLAB_INLINE void step() const {
    if (s.large) prefetch_next();
    Arrivals<C, S> arrivals;
    receive(arrivals);
    Heads<C, S, V>(v, s, wiring, b, now).allocate_vcs(arrivals);
    if (S::plain_switch_allocator(v.t)) {
      allocate_switch(arrivals, NoMatching{});
    } else if constexpr (!S::exact) {
      SwitchMatching<C, S, V> matching(v, s, b, now);
      matching.match();
      allocate_switch(arrivals, matching);
    }
    if constexpr (kMayWriteRows<C, S>)
      if (wiring.other_end) write_to_receivers();
    if (now % 128 == 127) flush_sent();
  }

  /// Moves the flits and credits that leave in this cycle from this block's rows to the rows of their receivers, and
  /// clears this block's rows. They lie in the slot of the flits and credits that arrived in this cycle, which are
  /// read; other blocks write to this slot again only after a lookahead.
  FLITLAB_APART void write_to_receivers() const {
    move_to_receivers<1>(s.credit_row(s.slot(now), 0),
                         [&](const OtherEnd& end) { return s.credit_row(s.slot(now + end.credit_delay), 0); });
    move_to_receivers<F::planes>(s.flit_row(s.slot(now), 0),
                                 [&](const OtherEnd& end) { return s.flit_row(s.slot(now + end.link_delay), 0); });
  }
  /// `rows`: row of port 0; `there(end)`: the same of the slot in which an element arrives. Elements of the first plane
  /// are not 0.
  template <u32 kPlanes, class There>
  FLITLAB_INLINE void move_to_receivers(E* rows, const There& there) const {
    const u32 ports = v.t.network_ports;
    ByPort leaving[kPlanes];
    for (const u32 port : C::template ports<S>(ports))
      for (u32 plane = 0; plane < kPlanes; ++plane) {
        leaving[plane][port] = B{};
        if (port >= ports) continue;  // a GPU's thread of a port to a terminal
        E* const place = rows + plane * s.planes + std::size_t{port} * s.row + std::size_t{b} * C::lanes;
        leaving[plane][port] = *reinterpret_cast<Row*>(place);
        *reinterpret_cast<Row*>(place) = B{};
      }
    C::template for_each_own<S::ports>(leaving[0], ports, [&](u32 port, u32 lane) {
      const OtherEnd& end = wiring.other_end[(std::size_t{b} * ports + port) * C::lanes + lane];
      E* const to = there(end) + end.at;
      for (u32 plane = 0; plane < kPlanes; ++plane)
        to[plane * s.planes] = static_cast<E>(lane_of(leaving[plane][port], lane));
    });
  }

  /// Adds the counts of sent flits to `flits_sent` before an element overflows.
  FLITLAB_INLINE void flush_sent() const {
    FLITLAB_UNROLLED for (const u32 port : C::template ports<S>(S::ports_of(v.t))) {
      C::for_each_of_thread([&](u32 lane) {
        s.flits_sent[(std::size_t{b} * C::lanes + lane) * S::ports_of(v.t) + port] += lane_of(k.sent[port], lane);
      });
      k.sent[port] = B{};
    }
  }
};

}  // namespace flitlab::vc::lanes
