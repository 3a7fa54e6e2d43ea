#pragma once
/// Switch allocation by any allocator and arbiter, and speculation, for all routers of a lane block at once, on a CPU.
/// The rules are the same as for scalar state (switch.hpp, arbitrate.hpp); the default ones are in routers.hpp.
///
/// A matching is kept twice: as the outputs that inputs were matched to, and as sets of matched ports. Sets of inputs
/// that outputs choose from follow from the inputs' sets of outputs by a transposition of bits.
#include "kernels/routers/vc/lanes/heads.hpp"

namespace flitlab::vc::lanes {

template <class C, class S, class V>
struct SwitchMatching {
  static constexpr bool matches = true;
  using B = typename C::Value;
  using E = typename C::Element;
  using Rows = B[S::ports];
  const V& v;
  const State<C, S>& s;
  Block<C, S>& k;
  u32 b;
  Cycle now;
  const Packet* rings;    ///< descriptors of the block
  Rows ready;             ///< [input] VCs that are ready to send
  Rows vcs;               ///< [input] VC that sends, as a set of one
  Rows accepted;          ///< [input] output that it sends to, as a set of one
  B inputs{}, outputs{};  ///< matched ports

  FLITLAB_INLINE SwitchMatching(const V& view, const State<C, S>& state, u32 block, Cycle cycle)
      : v(view),
        s(state),
        k(state.block[block]),
        b(block),
        now(cycle),
        rings(state.ring + std::size_t{block} * queues_of<S>(view.t) * C::lanes * S::descriptors(view.t.ring)) {}

  FLITLAB_INLINE u32 ports() const { return v.t.ports; }

  FLITLAB_APART void match() {
    for (u32 port = 0; port < ports(); ++port) {
      ready[port] = ready_vcs(k, v.t, port);
      vcs[port] = accepted[port] = B{};
    }
    switch (v.t.switch_allocator) {
      case Allocator::kInputFirst: input_first(); break;
      case Allocator::kOutputFirst: output_first(1); break;
      case Allocator::kIslip: output_first(v.t.iterations); break;
      case Allocator::kWavefront: wavefront(); break;
    }
    if (v.t.speculative) speculate();
  }

 private:
  FLITLAB_INLINE void transpose_ports(const Rows& from, Rows& to) const { transpose_sets(from, ports(), to); }

  /// Returns the union of `rows[vc]` over the VCs of a set, in each lane.
  FLITLAB_INLINE B join(B set, const B* rows) const {
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
  FLITLAB_INLINE B matrix_winner(B set, const B* matrix, u32 n) const {
    B winner{};
    for (u32 i = 0; i < n; ++i) {
      const B beaten_by_others = set & ~matrix[i] & static_cast<E>(~C::only(i));
      winner |= has(set, i) & (B)(beaten_by_others == 0) & C::only(i) & (B)(winner == 0);
    }
    return select(nonzero(winner), winner, set & (0 - set));
  }
  /// Gives the winners, sets of one, the lowest priority in a matrix.
  FLITLAB_INLINE void matrix_update(B* matrix, u32 n, B winner) const {
    for (u32 i = 0; i < n; ++i) matrix[i] = (matrix[i] | winner) & ~has(winner, i);
  }
  /// Sets winners[port] to the lowest of the members of sets[port] whose age is highest. `age_of(port, lane, member)`:
  /// cycles.
  template <class Age>
  FLITLAB_INLINE void oldest(const Rows& sets, Rows& winners, const Age& age_of) const {
    Rows others;
    for (u32 port = 0; port < ports(); ++port) {
      winners[port] = sets[port] & (0 - sets[port]);
      others[port] = sets[port] ^ winners[port];
    }
    typename C::Position list[C::lanes * S::ports + C::kMargin];
    const u32 n = C::list(others, ports(), list);
    for (u32 i = 0; i < n; ++i) {
      const u32 port = list[i] / C::lanes, lane = list[i] % C::lanes;
      u32 rest = lane_of(others[port], lane), winner = lane_of(winners[port], lane);
      u32 age = age_of(port, lane, lowest_bit(winner));
      do {
        const u32 other_age = age_of(port, lane, lowest_bit(rest)), older = 0 - u32{other_age > age};
        winner = ((rest & (0 - rest)) & older) | (winner & ~older);  // no branch: it would be unpredictable
        age = std::max(age, other_age);
        rest &= rest - 1;
      } while (rest);
      lane_of(winners[port], lane) = static_cast<E>(winner);
    }
  }
  /// Returns the age of the packet at the front of an input VC.
  FLITLAB_INLINE u32 age(u32 lane, u32 port, u32 vc) const {
    const u32 position = (port * S::vcs + vc) * C::lanes + lane;
    return now - rings[position * S::descriptors(v.t.ring) + lane_of(k.first[port][vc], lane)].created;
  }
  FLITLAB_INLINE u32 oldest_age(u32 lane, u32 port, u32 set) const {
    u32 most = 0;
    for (; set; set &= set - 1) most = std::max(most, age(lane, port, lowest_bit(set)));
    return most;
  }

  /// Picks the VC with which each input port requests, a member of `sets[port]`.
  FLITLAB_INLINE void pick_vcs(const Rows& sets, Rows& picked) const {
    if (v.t.arbiter == ArbiterKind::kOldestFirst)
      return oldest(sets, picked, [&](u32 port, u32 lane, u32 vc) { return age(lane, port, vc); });
    for (u32 port = 0; port < ports(); ++port)
      picked[port] = v.t.arbiter == ArbiterKind::kMatrix ? matrix_winner(sets[port], k.input_matrix[port], v.t.vcs)
                                                         : pick(sets[port], k.first_vc[port]);
  }
  /// Picks the input that wins each output, a member of `sets[out]`. `age_of(out, lane, input)`: age of its packet.
  template <class Age>
  FLITLAB_INLINE void pick_inputs(const Rows& sets, Rows& picked, const Age& age_of) const {
    if (v.t.arbiter == ArbiterKind::kOldestFirst) return oldest(sets, picked, age_of);
    for (u32 out = 0; out < ports(); ++out)
      picked[out] = v.t.arbiter == ArbiterKind::kMatrix ? matrix_winner(sets[out], k.output_matrix[out], ports())
                                                        : pick(sets[out], k.first_input[out]);
  }

  /// Updates the arbiters for matched inputs, those in `updated`.
  FLITLAB_INLINE void update_arbiters(B updated) const {
    Rows accepts, winners;
    for (u32 port = 0; port < ports(); ++port) accepts[port] = accepted[port] & has(updated, port);
    transpose_ports(accepts, winners);
    for (u32 port = 0; port < ports(); ++port) {
      const B sends = nonzero(accepts[port]), wins = nonzero(winners[port]), vc = vcs[port] & sends;
      if (v.t.switch_allocator != Allocator::kInputFirst)
        k.first_output[port] = select(sends, above(accepts[port]), k.first_output[port]);
      if (v.t.arbiter == ArbiterKind::kMatrix) {
        matrix_update(k.input_matrix[port], v.t.vcs, vc);
        matrix_update(k.output_matrix[port], ports(), winners[port]);
      } else {
        k.first_vc[port] = select(sends, above(vc), k.first_vc[port]);
        k.first_input[port] = select(wins, above(winners[port]), k.first_input[port]);
      }
    }
  }

  /// Matches inputs that request with one VC each. `requests[input]`: output, as a set of one. Returns the matched
  /// inputs.
  FLITLAB_INLINE B grant_requests(const Rows& requests, Rows& offered_vcs, Rows& granted) const {
    Rows requesters, winners;
    transpose_ports(requests, requesters);
    pick_inputs(requesters, winners, [&](u32, u32 lane, u32 input) {
      return age(lane, input, lowest_bit(u32{lane_of(offered_vcs[input], lane)}));
    });
    transpose_ports(winners, granted);
    B matched{};
    for (u32 port = 0; port < ports(); ++port) matched |= nonzero(granted[port]) & C::only(port);
    return matched;
  }

  FLITLAB_INLINE void input_first() {
    Rows requests, offers;
    pick_vcs(ready, offers);
    for (u32 port = 0; port < ports(); ++port) requests[port] = join(offers[port], k.out_port[port]);
    inputs = grant_requests(requests, offers, accepted);
    for (u32 port = 0; port < ports(); ++port) {
      vcs[port] = offers[port] & nonzero(accepted[port]);
      outputs |= accepted[port];
    }
    update_arbiters(inputs);
  }

  /// Sets the VCs that send after outputs have been accepted, and updates the arbiters.
  FLITLAB_INLINE void choose_vcs(B updated) {
    Rows sets;
    for (u32 port = 0; port < ports(); ++port) sets[port] = toward(port, ready[port], accepted[port]);
    pick_vcs(sets, vcs);
    update_arbiters(updated);
  }

  FLITLAB_INLINE void output_first(u32 rounds) {
    Rows requests, requesters, contenders, grants, offers;
    for (u32 port = 0; port < ports(); ++port) requests[port] = join(ready[port], k.out_port[port]);
    transpose_ports(requests, requesters);
    B updated{};
    for (u32 round = 0; round < rounds; ++round) {
      B any{};
      for (u32 out = 0; out < ports(); ++out) any |= contenders[out] = requesters[out] & ~inputs & ~has(outputs, out);
      if (!C::any(any)) break;
      pick_inputs(contenders, grants, [&](u32 out, u32 lane, u32 input) {
        u32 set = 0;
        for (u32 rest = lane_of(ready[input], lane); rest; rest &= rest - 1)
          if (lane_of(k.out_port[input][lowest_bit(rest)], lane) >> out & 1) set |= rest & (0 - rest);
        return oldest_age(lane, input, set);
      });
      transpose_ports(grants, offers);
      for (u32 port = 0; port < ports(); ++port) {
        const B accepts = pick(offers[port], k.first_output[port]);
        accepted[port] |= accepts;
        inputs |= nonzero(accepts) & C::only(port);
        outputs |= accepts;
      }
      if (round == 0) updated = inputs;
    }
    choose_vcs(updated);
  }

  FLITLAB_INLINE void wavefront() {
    Rows requests;
    for (u32 port = 0; port < ports(); ++port) requests[port] = join(ready[port], k.out_port[port]);
    const u32 n = ports(), first = first_diagonal(now, n);
    for (u32 d = 0; d < n; ++d)
      for (u32 port = 0; port < n; ++port) {
        const u32 out = (d + first + n - port) % n;
        const B accepts = requests[port] & ~outputs & ~has(inputs, port) & C::only(out);
        accepted[port] |= accepts;
        outputs |= accepts;
        inputs |= nonzero(accepts) & C::only(port);
      }
    choose_vcs(inputs);
  }

  /// Speculative requests (speculate() in switch.hpp). A grant is wasted unless the packet got an output VC in this
  /// cycle and this VC has a credit.
  FLITLAB_INLINE void speculate() {
    Rows bids, requests, offers, granted;
    for (u32 port = 0; port < ports(); ++port) bids[port] = k.bids[port] & ~has(inputs, port);
    pick_vcs(bids, offers);
    for (u32 port = 0; port < ports(); ++port)
      requests[port] = join(offers[port], k.out_port[port]) & ~outputs & ~k.closed;
    grant_requests(requests, offers, granted);
    const u32 delay = v.t.allocation_delay;
    B useful{};
    for (u32 port = 0; port < ports(); ++port) {
      const B vc = offers[port] & k.heads[port] & k.credited[port] & nonzero(granted[port]);
      k.granted[port] |= vc;
      if (delay) k.pending[now % delay][port] &= ~vc;
      accepted[port] |= granted[port] & nonzero(vc);
      vcs[port] |= vc;
      useful |= nonzero(vc) & C::only(port);
    }
    if (C::any(useful)) update_arbiters(useful);
  }
};

}  // namespace flitlab::vc::lanes
