#pragma once
/// VC allocation by any allocator and arbiter in lane state, on a CPU, for packets that request the same output VC. The
/// rules are the same as for scalar state (vc_allocation.hpp, arbitrate.hpp).
#include <utility>

#include "kernels/routers/vc/arbitrate.hpp"
#include "kernels/routers/vc/lanes/state.hpp"

namespace flitlab::vc::lanes {

/// Returns whether bidder `a` precedes `b` in the round-robin order over all input VCs from `first` on.
template <class S>
FLITLAB_INLINE bool is_before(u32 a, u32 b, u32 first) {
  const auto distance = [first](u32 flat) { return flat >= first ? flat - first : flat + S::flats - first; };
  return distance(a) < distance(b);
}

template <class C, class S, class Heads>
struct VcMatching {
  static constexpr u32 L = C::lanes;
  const Heads& heads;
  const VcTable& t;
  const bool wavefront;
  const u32 cells;           ///< input VCs or output VCs of a router: rows or columns of the request matrix
  const u32 first_cell = 0;  ///< wavefront: the first diagonal of this cycle

  FLITLAB_INLINE explicit VcMatching(const Heads& h)
      : heads(h),
        t(h.v.t),
        wavefront(t.vc_allocator == Allocator::kWavefront),
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

  /// A packet that requests an output VC which another packet requests, too.
  struct Contender {
    u32 position, out;
    u32 requested;  ///< output VCs
    u32 vc;         ///< the last one that it tried to win
    u32 other;      ///< index of another contender for the same output port, or kNone
  };

  /// Returns the age of the packet at the front of an input VC.
  FLITLAB_INLINE u32 age(u32 position) const { return heads.now - heads.rings().front(position).created; }

  /// Returns whether contender `a` precedes `b` in requests for VC `vc` of their output port (beats() in
  /// arbitrate.hpp).
  FLITLAB_INLINE bool precedes(const Contender& a, const Contender& b, u32 vc) const {
    if (wavefront) return (diagonal(a.position, a.out) + vc) % cells < (diagonal(b.position, b.out) + vc) % cells;
    const u32 flat_a = a.position / L, flat_b = b.position / L, lane = a.position % L;
    if (t.arbiter == ArbiterKind::kOldestFirst) {
      const u32 age_a = age(a.position), age_b = age(b.position);
      return age_a != age_b ? age_a > age_b : flat_a < flat_b;
    }
    if (t.arbiter == ArbiterKind::kMatrix && flat_a / S::vcs != flat_b / S::vcs)
      return lane_of(heads.k.output_matrix[a.out][flat_a / S::vcs], lane) >> flat_b / S::vcs & 1;
    return is_before<S>(flat_a, flat_b, lane_of(heads.k.pick_in[a.out][vc], lane));
  }

  /// Serves n requests (position | set of requested output VCs << 16). In each round, every packet finds the first
  /// requested VC that it wins; then grant(position, output port, VC) is called for them.
  template <class Grant>
  FLITLAB_INLINE void settle(const u32* requests, u32 n, const Grant& grant) const {
    constexpr u32 kMost = L * S::flats;
    Contender contenders[kMost];
    u32 newest[S::ports * L], winners[kMost];  // newest: [output port][lane] the last contender
    const auto newest_of = [&](const Contender& c) -> u32& { return newest[c.out * L + c.position % L]; };
    for (u32 i = 0; i < n; ++i) {
      const u32 position = requests[i] & 0xFFFF;
      contenders[i] = {position, lowest_bit(u32{Heads::element(heads.k.out_port, position)}), requests[i] >> 16, 0, 0};
      newest_of(contenders[i]) = kNone;
    }
    for (u32 i = 0; i < n; ++i) contenders[i].other = std::exchange(newest_of(contenders[i]), i);
    const auto wins = [&](const Contender& c) {
      for (u32 i = newest_of(c); i != kNone; i = contenders[i].other)
        if (const Contender& other = contenders[i]; &other != &c && other.requested >> c.vc & 1)
          if (precedes(other, c, c.vc)) return false;
      return true;
    };
    const u32 rounds = wavefront ? ~0u : t.vc_allocator == Allocator::kIslip ? t.iterations : 1;
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
};

}  // namespace flitlab::vc::lanes
