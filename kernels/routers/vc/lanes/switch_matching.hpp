#pragma once
/// Switch allocation by any allocator and arbiter, and speculation, for all routers of a lane block at once. The rules
/// are the same as for scalar state (switch.hpp, arbitrate.hpp); the default ones are in routers.hpp.
///
/// A thread keeps the matching of its own input ports: the output that each of them was matched to. Sets of inputs that
/// outputs choose from follow from the inputs' sets of outputs by a transposition of bits, through an exchange.
#include "kernels/routers/vc/lanes/heads.hpp"

namespace flitlab::vc::lanes {

/// Sets that ports exchange while inputs are matched to outputs. Two exchanges alternate, so that a barrier between
/// writing and reading is enough. The exchange of VC allocation comes first, because no barrier separates its last use
/// from the first use of these.
template <class C, class S>
struct MatchingExchange : SharedArrivals<C, S> {
  typename C::template Exchange<S::ports> sets[2];
  typename C::template Exchange<S::ports> offers;  ///< [input] VCs that request, for the ranks of their packets
};

template <class C, class S>
struct RankScratch {
  typename C::Position list[C::lanes * C::ports_of(S::ports) + C::kMargin];
  typename C::template SharedRows<S::ports> others;
  typename C::template ByPort<typename C::Row, S::ports> winners;
};

template <class C, class S, class V>
struct SwitchMatching {
  static constexpr bool matches = true;
  using B = typename C::Value;
  using E = typename C::Element;
  using Row = typename C::Row;
  using ByPort = typename C::template ByPort<B, S::ports>;
  const V& v;
  const State<C, S>& s;
  Block<C, S>& k;
  typename C::template GroupScratch<MatchingExchange<C, S>> exchange;
  u32 b;
  Cycle now;
  const Packet* rings;  ///< descriptors of the block
  u32 turn = 0;         ///< exchange that is used next
  ByPort ready;         ///< [input] VCs that are ready to send
  ByPort vcs;           ///< [input] VC that sends, as a set of one
  ByPort accepted;      ///< [input] output that it sends to, as a set of one

  FLITLAB_INLINE SwitchMatching(const V& view, const State<C, S>& state, u32 block, Cycle cycle)
      : v(view),
        s(state),
        k(state.block[block]),
        b(block),
        now(cycle),
        rings(state.ring + std::size_t{block} * queues_of<S>(view.t) * C::lanes * S::descriptors(view.t.ring)) {}

  FLITLAB_INLINE u32 ports() const { return v.t.ports; }
  /// Returns the ports that this thread processes.
  FLITLAB_INLINE auto own_ports() const { return C::template ports<S>(ports()); }

  FLITLAB_APART void match() {
    for (const u32 port : own_ports()) {
      ready[port] = ready_vcs(k, v.t, port);
      vcs[port] = accepted[port] = B{};
    }
    switch (v.t.switch_allocator) {
      case SwitchAllocator::kInputFirst: input_first(); break;
      case SwitchAllocator::kOutputFirst: output_first(1); break;
      case SwitchAllocator::kIslip: output_first(v.t.iterations); break;
      case SwitchAllocator::kWavefront: wavefront(); break;
      case SwitchAllocator::kInputFirstByOutput:
        if (compares_ranks(v.t.arbiter))
          input_first();
        else
          input_first_by_output();
        break;
    }
    if (v.t.speculative) speculate();
  }

 private:
  /// Makes the sets of all ports readable for all threads.
  FLITLAB_INLINE const auto& share(const ByPort& sets) {
    auto& shared = exchange->sets[turn];
    turn ^= 1;
    for (const u32 port : own_ports()) shared.put(port, sets[port]);
    C::group_barrier(ports());
    return shared;
  }
  FLITLAB_INLINE void transpose_ports(const ByPort& from, ByPort& to) {
    C::template transpose_ports<S::ports>(share(from), ports(), to);
  }
  /// Makes the sets of VCs with which inputs request readable, after the next call of share().
  FLITLAB_INLINE void share_offers(const ByPort& sets) {
    if (compares_ranks(v.t.arbiter))
      for (const u32 port : own_ports()) exchange->offers.put(port, sets[port]);
  }
  /// Returns the VCs of an input with which it requests.
  FLITLAB_INLINE u32 offers_of(u32 input, u32 lane) { return exchange->offers.element(input * C::lanes + lane); }

  /// Returns the union of `rows[vc]` over the VCs of a set, in each lane.
  FLITLAB_INLINE B join(B set, const Row* rows) const {
    B all{};
    for (u32 vc = 0; vc < v.t.vcs; ++vc) all |= rows[vc] & has(set, vc);
    return all;
  }
  /// Returns the VCs of an input port, among `set`, whose packets leave through an output in `outs`.
  FLITLAB_INLINE B toward(u32 port, B set, B outs) const {
    B found{};
    for (u32 vc = 0; vc < v.t.vcs; ++vc) found |= nonzero(k.out_port[port][vc] & outs) & C::only(vc);
    return found & set;
  }

  /// Matrix arbiter: returns the member of `set` that beats all others. Row i of the matrix is the set that i beats.
  FLITLAB_INLINE B matrix_winner(B set, const Row* matrix, u32 n) const {
    B winner{};
    for (u32 i = 0; i < n; ++i) {
      const B beaten_by_others = set & ~matrix[i] & static_cast<E>(~C::only(i));
      winner |= has(set, i) & (B)(beaten_by_others == 0) & C::only(i) & (B)(winner == 0);
    }
    return select(nonzero(winner), winner, set & (0 - set));
  }
  /// Gives the winners, sets of one, the lowest priority in a matrix.
  FLITLAB_INLINE void matrix_update(Row* matrix, u32 n, B winner) const {
    for (u32 i = 0; i < n; ++i) matrix[i] = (matrix[i] | winner) & ~has(winner, i);
  }
  /// Sets winners[port] to the lowest of the members of sets[port] whose rank is highest, `rank_of_member(port, lane,
  /// member)`.
  template <class Rank>
  FLITLAB_INLINE void highest(const ByPort& sets, ByPort& winners, const Rank& rank_of_member) const {
    typename C::template Scratch<RankScratch<C, S>> scratch;
    ByPort others;
    B any{};
    for (const u32 port : own_ports()) {
      const B lowest = sets[port] & (0 - sets[port]);
      scratch->winners[port] = lowest;
      any |= others[port] = sets[port] ^ lowest;
    }
    if (C::any(any)) {
      const auto others_of = C::template share_rows<S::ports>(scratch->others, others);
      const u32 n = C::list(others, ports(), scratch->list);
      C::each(n, [&](u32 i) {
        const u32 at = scratch->list[i], port = at / C::lanes, lane = at % C::lanes;
        E& highest = C::template element_of<S::ports>(scratch->winners, at);
        u32 rest = others_of[at], winner = highest, best = rank_of_member(port, lane, lowest_bit(winner));
        do {
          const u32 other_rank = rank_of_member(port, lane, lowest_bit(rest)), higher = 0 - u32{other_rank > best};
          winner = ((rest & (0 - rest)) & higher) | (winner & ~higher);  // no branch: it would be unpredictable
          best = std::max(best, other_rank);
          rest &= rest - 1;
        } while (rest);
        highest = static_cast<E>(winner);
      });
    }
    for (const u32 port : own_ports()) winners[port] = scratch->winners[port];
  }
  /// Returns the rank of an input VC (rank_of() in arbitrate.hpp).
  FLITLAB_INLINE u32 rank(u32 lane, u32 port, u32 vc) const {
    const u32 position = (port * S::vcs + vc) * C::lanes + lane;
    return rank_of(v.t, rings[position * S::descriptors(v.t.ring) + lane_of(k.first[port][vc], lane)],
                   port * v.t.vcs + vc, turn_of(v, b * C::lanes + lane, now));
  }
  FLITLAB_INLINE u32 highest_rank(u32 lane, u32 port, u32 set) const {
    u32 most = 0;
    for (; set; set &= set - 1) most = std::max(most, rank(lane, port, lowest_bit(set)));
    return most;
  }

  /// Picks a member of a set by an arbiter that compares no ranks. `n`: size of its matrix; `first`: its pointer.
  template <class Matrix>
  FLITLAB_INLINE B pick_one(B set, const Matrix& matrix, u32 n, B first) const {
    if (v.t.arbiter == ArbiterKind::kFixedPriority) return set & (0 - set);
    return v.t.arbiter == ArbiterKind::kMatrix ? matrix_winner(set, matrix, n) : pick(set, first);
  }

  /// Picks the VC with which each input port requests, a member of `sets[port]`.
  FLITLAB_INLINE void pick_vcs(const ByPort& sets, ByPort& picked) const {
    if (compares_ranks(v.t.arbiter))
      return highest(sets, picked, [&](u32 port, u32 lane, u32 vc) { return rank(lane, port, vc); });
    for (const u32 port : own_ports())
      picked[port] = pick_one(sets[port], k.input_matrix[port], v.t.vcs, k.first_vc[port]);
  }
  /// Picks the input that wins each output, a member of `sets[out]`. `rank_of_member(out, lane, input)`: its rank.
  template <class Rank>
  FLITLAB_INLINE void pick_inputs(const ByPort& sets, ByPort& picked, const Rank& rank_of_member) const {
    if (compares_ranks(v.t.arbiter)) return highest(sets, picked, rank_of_member);
    for (const u32 out : own_ports())
      picked[out] = pick_one(sets[out], k.output_matrix[out], ports(), k.first_input[out]);
  }

  /// Updates the arbiters for matched inputs. `matched[input]`: its output, as a set of one, or no output.
  FLITLAB_INLINE void update_arbiters(const ByPort& matched) {
    ByPort winners;
    transpose_ports(matched, winners);
    for (const u32 port : own_ports()) {
      const B sends = nonzero(matched[port]), wins = nonzero(winners[port]), vc = vcs[port] & sends;
      if (v.t.switch_allocator != SwitchAllocator::kInputFirst)
        k.first_output[port] = select(sends, above(matched[port]), k.first_output[port]);
      if (v.t.arbiter == ArbiterKind::kMatrix) {
        matrix_update(k.input_matrix[port], v.t.vcs, vc);
        matrix_update(k.output_matrix[port], ports(), winners[port]);
      } else {
        k.first_vc[port] = select(sends, above(vc), k.first_vc[port]);
        k.first_input[port] = select(wins, above(winners[port]), k.first_input[port]);
      }
    }
  }

  /// Matches inputs that request with one VC each. `requests[input]`: output, as a set of one. `granted[input]`: the
  /// same if it was granted, otherwise empty.
  FLITLAB_INLINE void grant_requests(const ByPort& requests, const ByPort& offered_vcs, ByPort& granted) {
    ByPort requesters, winners;
    share_offers(offered_vcs);
    transpose_ports(requests, requesters);
    pick_inputs(requesters, winners,
                [&](u32, u32 lane, u32 input) { return rank(lane, input, lowest_bit(offers_of(input, lane))); });
    transpose_ports(winners, granted);
  }

  FLITLAB_INLINE void input_first() {
    ByPort requests, offers;
    pick_vcs(ready, offers);
    for (const u32 port : own_ports()) requests[port] = join(offers[port], k.out_port[port]);
    grant_requests(requests, offers, accepted);
    for (const u32 port : own_ports()) vcs[port] = offers[port] & nonzero(accepted[port]);
    update_arbiters(accepted);
  }

  /// For arbiters that do not compare ranks.
  FLITLAB_INLINE void input_first_by_output() {
    ByPort requests;
    for (const u32 port : own_ports()) requests[port] = pick(join(ready[port], k.out_port[port]), k.first_output[port]);
    grant_requests(requests, ready, accepted);
    choose_vcs(accepted);
  }

  /// Sets the VCs that send after outputs have been accepted, and updates the arbiters.
  FLITLAB_INLINE void choose_vcs(const ByPort& matched) {
    ByPort sets;
    for (const u32 port : own_ports()) sets[port] = toward(port, ready[port], accepted[port]);
    pick_vcs(sets, vcs);
    update_arbiters(matched);
  }

  FLITLAB_INLINE void output_first(u32 rounds) {
    ByPort requests, requesters, contenders, grants, offers, first;
    for (const u32 port : own_ports()) {
      requests[port] = join(ready[port], k.out_port[port]);
      first[port] = B{};
    }
    share_offers(ready);
    transpose_ports(requests, requesters);
    B inputs{}, outputs{};  // matched ports
    for (u32 round = 0; round < rounds; ++round) {
      B any{};
      for (const u32 out : own_ports()) any |= contenders[out] = requesters[out] & ~inputs & ~has(outputs, out);
      if (C::has_all_ports && !C::any(any)) break;
      pick_inputs(contenders, grants, [&](u32 out, u32 lane, u32 input) {
        u32 set = 0;
        for (u32 rest = offers_of(input, lane); rest; rest &= rest - 1)
          if (lane_of(k.out_port[input][lowest_bit(rest)], lane) >> out & 1) set |= rest & (0 - rest);
        return highest_rank(lane, input, set);
      });
      transpose_ports(grants, offers);
      for (const u32 port : own_ports()) {
        const B accepts = pick(offers[port], k.first_output[port]);
        accepted[port] |= accepts;
        if (round == 0) first[port] = accepts;
      }
      if (round + 1 < rounds) find_matched(inputs, outputs);
    }
    choose_vcs(first);
  }
  /// Sets `inputs` and `outputs` to the matched ports.
  FLITLAB_INLINE void find_matched(B& inputs, B& outputs) {
    const auto& of_inputs = share(accepted);
    for (u32 port = 0; port < ports(); ++port) {
      const B accepts = of_inputs.get(port);
      inputs |= nonzero(accepts) & C::only(port);
      outputs |= accepts;
    }
  }

  FLITLAB_INLINE void wavefront() {
    ByPort requests;
    for (const u32 port : own_ports()) requests[port] = join(ready[port], k.out_port[port]);
    const auto& of_inputs = share(requests);
    const u32 n = ports(), first = first_diagonal(now, n);
    B inputs{}, outputs{};  // matched ports
    for (u32 d = 0; d < n; ++d)
      for (u32 port = 0; port < n; ++port) {  // every thread needs the matches of all inputs
        const u32 out = (d + first + n - port) % n;
        const B accepts = of_inputs.get(port) & ~outputs & ~has(inputs, port) & C::only(out);
        if (C::has_port(port)) accepted[port] |= accepts;
        outputs |= accepts;
        inputs |= nonzero(accepts) & C::only(port);
      }
    choose_vcs(accepted);
  }

  /// Speculative requests (speculate() in switch.hpp). A grant is wasted unless the packet got an output VC in this
  /// cycle and this VC has a credit.
  FLITLAB_INLINE void speculate() {
    ByPort bids, requests, offers, granted;
    B inputs{}, outputs{};  // matched ports
    find_matched(inputs, outputs);
    for (const u32 port : own_ports()) bids[port] = k.bids[port] & ~nonzero(accepted[port]);
    pick_vcs(bids, offers);
    for (const u32 port : own_ports()) requests[port] = join(offers[port], k.out_port[port]) & ~outputs & ~k.closed;
    grant_requests(requests, offers, granted);
    const u32 delay = v.t.allocation_delay;
    B useful{};
    for (const u32 port : own_ports()) {
      const B vc = offers[port] & k.heads[port] & k.credited[port] & nonzero(granted[port]);
      k.granted[port] |= vc;
      if (delay) k.pending[now % delay][port] &= ~vc;
      granted[port] &= nonzero(vc);
      accepted[port] |= granted[port];
      vcs[port] |= vc;
      useful |= vc;
    }
    if (!C::has_all_ports || C::any(useful)) update_arbiters(granted);
  }
};

}  // namespace flitlab::vc::lanes
