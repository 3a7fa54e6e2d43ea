#pragma once
/// Arbiters of the virtual-channel router (Dally & Towles chapter 18): round robin, matrix (least recently served) and
/// oldest packet first. Each arbiter chooses from a set of requesters, given as bits. Its state changes only for grants
/// that are used.
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Returns the age of the front packet of an input VC: cycles since its creation.
template <class T, int W>
FLITLAB_INLINE u32 front_age(const T& t, const Item<W>& router, u32 flat, Cycle now) {
  const InputVc& in = router.at(t.router_fields.input, flat);
  return now - router.at(t.router_fields.ring, flat * t.ring + in.first).created;
}

/// Matrix arbiter: returns the member of `set` that beats all other members. Row i of the matrix is the set of indices
/// that i beats.
template <int W>
FLITLAB_INLINE u32 matrix_winner(const Item<W>& router, Field<u32> matrix, u32 row0, u32 set) {
  for (u32 rest = set; rest; rest &= rest - 1) {
    const u32 i = lowest_bit(rest);
    if (!(set & ~router.at(matrix, row0 + i) & ~(1u << i))) return i;
  }
  return lowest_bit(set);
}

/// Gives the winner of a grant the lowest priority in the matrix.
template <int W>
FLITLAB_INLINE void matrix_update(const Item<W>& router, Field<u32> matrix, u32 row0, u32 n, u32 winner) {
  for (u32 i = 0; i < n; ++i) router.at(matrix, row0 + i) |= 1u << winner;
  router.at(matrix, row0 + winner) = 0;
}

/// Returns the VC with which input port `port` requests, a member of `set`, which must not be empty.
template <class T, int W>
FLITLAB_INLINE u32 pick_vc(const T& t, const Item<W>& router, u32 port, u32 set, Cycle now) {
  switch (t.arbiter) {
    case ArbiterKind::kMatrix: return matrix_winner(router, t.router_fields.input_matrix, port * t.vcs, set);
    case ArbiterKind::kOldestFirst: {
      u32 best = lowest_bit(set), age = 0;
      for (u32 rest = set; rest; rest &= rest - 1) {
        const u32 candidate_age = front_age(t, router, port * t.vcs + lowest_bit(rest), now);
        if (candidate_age > age) age = candidate_age, best = lowest_bit(rest);
      }
      return best;
    }
    default: return first_at_or_after(set, router.at(t.router_fields.port, port).pick_vc);
  }
}

/// Returns the input port, a member of `set`, that wins output port `out`. `vc_of[i]`: VC with which input i requests.
template <class T, int W>
FLITLAB_INLINE u32 pick_input(const T& t, const Item<W>& router, u32 out, PortSet set, const u8* vc_of, Cycle now) {
  switch (t.arbiter) {
    case ArbiterKind::kMatrix:  // at most kMaxMatrixPorts ports
      return matrix_winner(router, t.router_fields.output_matrix, out * t.ports, static_cast<u32>(set));
    case ArbiterKind::kOldestFirst: {
      u32 best = lowest_bit(set), age = 0;
      for (PortSet rest = set; rest; rest &= rest - 1) {
        const u32 i = lowest_bit(rest);
        const u32 candidate_age = front_age(t, router, i * t.vcs + vc_of[i], now);
        if (candidate_age > age) age = candidate_age, best = i;
      }
      return best;
    }
    default: return first_at_or_after64(set, router.at(t.router_fields.port, out).pick_input);
  }
}

/// Returns the first diagonal of a wavefront allocator in a cycle. It is pseudo-random, because a diagonal that
/// advances by one per cycle could keep in step with packets of fixed length and starve some inputs.
FLITLAB_HD inline u32 first_diagonal(Cycle now, u32 diagonals) { return static_cast<u32>(mix64(now) % diagonals); }

/// Updates the arbiters after VC `vc` of input `in` has won output `out`.
template <class T, int W>
FLITLAB_INLINE void update_arbiters(const T& t, const Item<W>& router, u32 in, u32 vc, u32 out) {
  PortState& input = router.at(t.router_fields.port, in);
  if (t.switch_allocator != Allocator::kInputFirst) input.pick_output = static_cast<u8>(out + 1);
  if (t.arbiter == ArbiterKind::kMatrix) {
    matrix_update(router, t.router_fields.input_matrix, in * t.vcs, t.vcs, vc);
    matrix_update(router, t.router_fields.output_matrix, out * t.ports, t.ports, in);
    return;
  }
  input.pick_vc = static_cast<u8>(vc + 1);
  router.at(t.router_fields.port, out).pick_input = static_cast<u8>(in + 1);
}

/// Returns whether input VC `a` beats input VC `b` when both bid for an output VC.
template <class T, int W>
FLITLAB_INLINE bool beats(const T& t, const Item<W>& router, const OutputVc& out, u32 out_port, u32 a, u32 b,
                          Cycle now) {
  const u32 n = t.ports * t.vcs;
  switch (t.arbiter) {
    case ArbiterKind::kOldestFirst: {
      const u32 age_a = front_age(t, router, a, now), age_b = front_age(t, router, b, now);
      return age_a != age_b ? age_a > age_b : a < b;
    }
    case ArbiterKind::kMatrix: {
      // The output port's matrix ranks input ports; VCs of one input port take turns.
      const u32 pa = a / t.vcs, pb = b / t.vcs;
      if (pa != pb) return (router.at(t.router_fields.output_matrix, out_port * t.ports + pa) >> pb) & 1;
      [[fallthrough]];
    }
    default: {
      const u32 da = a >= out.pick ? a - out.pick : a + n - out.pick;
      const u32 db = b >= out.pick ? b - out.pick : b + n - out.pick;
      return da < db;
    }
  }
}

}  // namespace flitlab::vc
