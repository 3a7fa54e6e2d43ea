#pragma once
/// VC allocation by any allocator and arbiter in lane state, for packets that request the same output VC. The rules are
/// the same as for scalar state (vc_allocation.hpp, arbitrate.hpp).
#include <utility>

#include "kernels/routers/vc/arbitrate.hpp"
#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// During VC allocation, marks the best bidder so far in `owner` of a free output VC.
template <class E>
inline constexpr E kClaimed = static_cast<E>(E{1} << (8 * sizeof(E) - 1));

/// Returns whether bidder `a` precedes `b` in the round-robin order over all input VCs from `first` on.
template <class S>
FLITLAB_INLINE bool is_before(u32 a, u32 b, u32 first) {
  const auto distance = [first](u32 flat) { return flat >= first ? flat - first : flat + S::flats - first; };
  return distance(a) < distance(b);
}

template <class C, class S, class Heads>
struct VcMatching {
  using E = typename C::Element;
  static constexpr u32 L = C::lanes;
  const Heads& heads;
  const VcTable& t;
  const bool wavefront;
  const u32 cells;           ///< input VCs or output VCs of a router: rows or columns of the request matrix
  const u32 first_cell = 0;  ///< wavefront: the first diagonal of this cycle

  FLITLAB_INLINE explicit VcMatching(const Heads& h)
      : heads(h),
        t(h.v.t),
        wavefront(t.vc_allocator == VcAllocator::kWavefront),
        cells(t.ports * t.vcs),
        first_cell(wavefront ? first_diagonal(h.now, cells) : 0) {}

  /// Returns the order in which a wavefront serves the requests of an input VC for the first VC of an output port.
  FLITLAB_INLINE u32 diagonal(u32 position, u32 out) const {
    const u32 flat = position / L;
    u32 d = flat / S::vcs * t.vcs + flat % S::vcs + out * t.vcs + cells - first_cell;
    d -= d >= cells ? cells : 0;
    return d >= cells ? d - cells : d;
  }

  /// Returns the output VC, out of `set`, that a packet requests first: the next one in round-robin order, or the one
  /// on the first diagonal.
  FLITLAB_INLINE u32 choice(u32 position, u32 out, u32 set) const {
    const u32 first = wavefront ? cells - diagonal(position, out) : u32{Heads::element(heads.k.pick_out, position)};
    return first_at_or_after(set, first < S::vcs ? first : S::vcs);
  }

  FLITLAB_INLINE u32 out_of(u32 position) const { return lowest_bit(u32{Heads::element(heads.k.out_port, position)}); }
  /// Returns the rank of an input VC (rank_of() in arbitrate.hpp).
  FLITLAB_INLINE u32 rank(u32 position) const {
    const u32 flat = position / L;
    return rank_of(t, heads.rings().front(position), flat / S::vcs * t.vcs + flat % S::vcs,
                   turn_of(heads.v, heads.b * L + position % L, heads.now));
  }

  /// Returns whether the packet at position `a` precedes the one at `b` in requests for VC `vc` of output port `out`
  /// (beats() in arbitrate.hpp).
  FLITLAB_INLINE bool precedes(u32 a, u32 b, u32 out, u32 vc) const {
    if (wavefront) return (diagonal(a, out) + vc) % cells < (diagonal(b, out) + vc) % cells;
    const u32 flat_a = a / L, flat_b = b / L, lane = a % L;
    if (t.arbiter == ArbiterKind::kFixedPriority) return flat_a < flat_b;
    if (compares_ranks(t.arbiter)) {
      const u32 rank_a = rank(a), rank_b = rank(b);
      return rank_a != rank_b ? rank_a > rank_b : flat_a < flat_b;
    }
    if (t.arbiter == ArbiterKind::kMatrix && flat_a / S::vcs != flat_b / S::vcs)
      return lane_of(heads.k.output_matrix[out][flat_a / S::vcs], lane) >> flat_b / S::vcs & 1;
    return is_before<S>(flat_a, flat_b, lane_of(heads.k.pick_in[out][vc], lane));
  }

  /// Serves n requests (position | set of requested output VCs << 16) of the thread's ports. In each round, every
  /// packet gets the first requested VC for which no other packet precedes it. Calls grant(position, output port, VC)
  /// for each packet that gets one.
  template <class Grant>
  FLITLAB_INLINE void settle(typename C::Position* requests, u32 n, const Grant& grant) const {
    const u32 rounds = wavefront ? ~0u : t.vc_allocator == VcAllocator::kIslip ? t.iterations : 1;
    if constexpr (C::has_all_ports)
      settle_by_comparison(requests, n, rounds, grant);
    else
      settle_by_claims(requests, n, rounds, grant);
  }

 private:
  /// A packet that requests an output VC which another packet requests, too.
  struct Contender {
    u32 position, out;
    u32 requested;  ///< output VCs
    u32 vc;         ///< the last one that it tried to win
    u32 other;      ///< index of another contender for the same output port, or kNone
  };

  /// settle() for a thread that has all requests. Contenders are few, so comparing them takes up to 15 % less time in
  /// total than claims of all requested VCs (packets of one flit, 16 VCs).
  template <class Grant>
  FLITLAB_INLINE void settle_by_comparison(const u32* requests, u32 n, u32 rounds, const Grant& grant) const {
    constexpr u32 kMost = L * S::flats;
    Contender contenders[kMost];
    u32 newest[S::ports * L], winners[kMost];  // newest: [output port][lane] the last contender
    const auto newest_of = [&](const Contender& c) -> u32& { return newest[c.out * L + c.position % L]; };
    for (u32 i = 0; i < n; ++i) {
      const u32 position = requests[i] & 0xFFFF;
      contenders[i] = {position, out_of(position), requests[i] >> 16, 0, 0};
      newest_of(contenders[i]) = kNone;
    }
    for (u32 i = 0; i < n; ++i) contenders[i].other = std::exchange(newest_of(contenders[i]), i);
    const auto wins = [&](const Contender& c) {
      for (u32 i = newest_of(c); i != kNone; i = contenders[i].other)
        if (const Contender& other = contenders[i]; &other != &c && other.requested >> c.vc & 1)
          if (precedes(other.position, c.position, c.out, c.vc)) return false;
      return true;
    };
    for (u32 round = 0, granted = n; round < rounds && granted; ++round) {
      granted = 0;
      for (u32 i = 0; i < n; ++i) {
        Contender& c = contenders[i];
        for (u32 rest = c.requested; rest; rest = wavefront ? 0 : rest & ~(1u << c.vc)) {
          c.vc = choice(c.position, c.out, rest);
          if (!wins(c)) continue;
          winners[granted++] = i;
          break;
        }
      }
      for (u32 i = 0; i < granted; ++i) {
        Contender& c = contenders[winners[i]];
        grant(c.position, c.out, c.vc);
        for (u32 j = newest_of(c); j != kNone; j = contenders[j].other) contenders[j].requested &= ~(1u << c.vc);
        c.requested = 0;
      }
    }
  }

  /// Claims the output VCs that a packet requests, unless a packet that precedes it has claimed them. The packets may
  /// claim in any order.
  FLITLAB_INLINE void claim(u32 position, u32 requested) const {
    const u32 out = out_of(position), lane = position % L;
    for (u32 rest = requested; rest; rest &= rest - 1) {
      const u32 vc = lowest_bit(rest);
      C::update(Heads::element(heads.k.owner, Heads::place_of(out, vc, lane)), [&](E claim) {
        const bool better =
            !(claim & kClaimed<E>) || precedes(position, (claim & ~u32{kClaimed<E>}) * L + lane, out, vc);
        return better ? static_cast<E>(position / L | kClaimed<E>) : claim;
      });
    }
  }

  /// Grants a packet the first requested output VC that it has claimed; a wavefront grants it the first requested one
  /// or none. Withdraws its other claims. Returns whether it has got one.
  template <class Grant>
  FLITLAB_INLINE bool take(u32 position, u32 requested, const Grant& grant) const {
    const u32 out = out_of(position), lane = position % L;
    const auto owner = [&](u32 vc) -> E& { return Heads::element(heads.k.owner, Heads::place_of(out, vc, lane)); };
    const auto has_claimed = [&](u32 vc) { return C::peek(owner(vc)) == (position / L | kClaimed<E>); };
    for (u32 rest = requested; rest;) {
      const u32 vc = choice(position, out, rest);
      rest &= ~(1u << vc);
      const bool wins = has_claimed(vc);
      if (!wins && !wavefront) continue;
      for (; rest; rest &= rest - 1)
        if (has_claimed(lowest_bit(rest))) C::poke(owner(lowest_bit(rest)), E{0});
      if (wins) grant(position, out, vc);
      return wins;
    }
    return false;
  }

  /// settle() for threads that have the requests of one port each.
  template <class Grant>
  FLITLAB_INLINE void settle_by_claims(typename C::Position* requests, u32 n, u32 rounds, const Grant& grant) const {
    auto& votes = heads.shared_arrivals->votes;
    C::start_votes(votes);
    if (compares_ranks(t.arbiter)) C::group_barrier(t.ports);  // rank() reads packets of other ports
    for (u32 round = 0;; ++round) {
      C::each(n, [&](u32 i) { claim(requests[i] & 0xFFFF, requests[i] >> 16); });
      C::group_barrier(t.ports);
      n = C::filter(requests, n, requests, [&](u32 request, typename C::Position& kept) {
        kept = request;
        return !take(request & 0xFFFF, request >> 16, grant);
      });
      if (round + 1 == rounds || !C::any_in_group(votes, round, t.ports, n)) return;
      n = C::filter(requests, n, requests, [&](u32 request, typename C::Position& kept) {
        const u32 position = request & 0xFFFF, out = out_of(position);
        kept = request & ~(u32{lane_of(heads.k.taken[out], position % L)} << 16);
        return kept >> 16 != 0;
      });
    }
  }
};

}  // namespace flitlab::vc::lanes
