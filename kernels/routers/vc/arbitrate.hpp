#pragma once
/// Arbiters of the virtual-channel router (Dally & Towles chapter 18): round robin, matrix (least recently served),
/// fixed priority, and arbiters that compare ranks: the age of a packet, its hops, the priority of its class, or a
/// random number. Each arbiter chooses from a set of requesters, given as bits. Its state changes only for grants that
/// are used.
#include "kernels/routers/vc/speedup.hpp"
#include "kernels/routers/vc/streams.hpp"

namespace flitlab::vc {

/// A round of a router's arbiters.
struct Turn {
  Cycle now;
  u64 draw;  ///< random arbiter: random bits of this router and round
};
/// `round`: number of the round. Without router.internal_speedup, each cycle has one round, of the same number.
template <class V>
FLITLAB_INLINE Turn turn_of(const V& v, u32 index, Cycle now, u32 round) {
  if (v.t.arbiter != ArbiterKind::kRandom) return {now, 0};
  const Random4 r = philox(v.row->seed, stream::kArbiter, index, round);
  return {now, u64{r.word[0]} << 32 | r.word[1]};
}
template <class V>
FLITLAB_INLINE Turn turn_of(const V& v, u32 index, Cycle now) {
  return turn_of(v, index, now, now);
}

/// Returns the rank of input VC `flat` (port * vcs + VC) and the packet at its front; the highest rank wins.
template <class T>
FLITLAB_INLINE u32 rank_of(const T& t, const Packet& packet, u32 flat, const Turn& turn) {
  if (t.arbiter == ArbiterKind::kRandom) return static_cast<u32>(mix64(turn.draw + flat) >> 32);
  if (t.arbiter == ArbiterKind::kMostHopsFirst) return packet.hops;
  const u32 age = turn.now - packet.created;
  if (t.arbiter != ArbiterKind::kHighestPriorityFirst) return age;
  constexpr u32 kOldest = (1u << 28) - 1;  // packets of one priority are compared by age
  return u32{t.traffic.priority[packet.message_class]} << 28 | (age < kOldest ? age : kOldest);
}
template <class T, int W>
FLITLAB_INLINE u32 front_rank(const T& t, const Item<W>& router, u32 flat, const Turn& turn) {
  const InputVc& in = router.at(t.router_fields.input, flat);
  return rank_of(t, router.at(t.router_fields.ring, flat * t.ring + in.first), flat, turn);
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

/// Returns the VC with which crossbar input `input` requests, a member of `set`, which must not be empty.
template <class T, int W>
FLITLAB_INLINE u32 pick_vc(const T& t, const Item<W>& router, u32 input, u32 set, const Turn& turn) {
  const u32 port = port_of(t, input);
  if (compares_ranks(t.arbiter)) {
    u32 best = lowest_bit(set), highest = 0;
    for (u32 rest = set; rest; rest &= rest - 1) {
      const u32 rank = front_rank(t, router, port * t.vcs + lowest_bit(rest), turn);
      if (rank > highest) highest = rank, best = lowest_bit(rest);
    }
    return best;
  }
  switch (t.arbiter) {
    case ArbiterKind::kMatrix: return matrix_winner(router, t.router_fields.input_matrix, port * t.vcs, set);
    case ArbiterKind::kFixedPriority: return lowest_bit(set);
    default: return first_at_or_after(set, router.at(t.router_fields.port, input).pick_vc);
  }
}

/// Returns the crossbar input, a member of `set`, that wins crossbar output `out`. `vc_of[i]`: VC with which input i
/// requests.
template <class T, int W>
FLITLAB_INLINE u32 pick_input(const T& t, const Item<W>& router, u32 out, PortSet set, const u8* vc_of,
                              const Turn& turn) {
  if (compares_ranks(t.arbiter)) {
    u32 best = lowest_bit(set), highest = 0;
    for (PortSet rest = set; rest; rest &= rest - 1) {
      const u32 i = lowest_bit(rest), rank = front_rank(t, router, port_of(t, i) * t.vcs + vc_of[i], turn);
      if (rank > highest) highest = rank, best = i;
    }
    return best;
  }
  switch (t.arbiter) {
    case ArbiterKind::kMatrix:  // at most kMaxMatrixPorts inputs
      return matrix_winner(router, t.router_fields.output_matrix, out * t.ports * t.crossbar_factor,
                           static_cast<u32>(set));
    case ArbiterKind::kFixedPriority: return lowest_bit(set);
    default: return first_at_or_after64(set, router.at(t.router_fields.port, out).pick_input);
  }
}

/// Returns the first diagonal of a wavefront allocator in a round. It is pseudo-random, because a diagonal that
/// advances by one per cycle could keep in step with packets of fixed length and starve some inputs.
FLITLAB_HD inline u32 first_diagonal(u32 round, u32 diagonals) { return static_cast<u32>(mix64(round) % diagonals); }

/// Returns the round-robin pointer of an arbiter over `n` requesters after a grant.
template <class T>
FLITLAB_INLINE u32 pointer_after(const T& t, u32 winner, u32 n) {
  return t.arbiter == ArbiterKind::kRoundRobinByTwo ? (winner + 2) % n : winner + 1;
}

/// Updates the arbiters after VC `vc` at crossbar input `in` has won crossbar output `out`.
template <class T, int W>
FLITLAB_INLINE void update_arbiters(const T& t, const Item<W>& router, u32 in, u32 vc, u32 out) {
  PortState& input = router.at(t.router_fields.port, in);
  if (t.switch_allocator != SwitchAllocator::kInputFirst)
    input.pick_output = static_cast<u8>(pointer_after(t, out, t.ports * t.output_speedup));
  if (t.arbiter == ArbiterKind::kMatrix) {
    const u32 inputs = t.ports * t.crossbar_factor;
    matrix_update(router, t.router_fields.input_matrix, port_of(t, in) * t.vcs, t.vcs, vc);
    matrix_update(router, t.router_fields.output_matrix, out * inputs, inputs, in);
    return;
  }
  input.pick_vc = static_cast<u8>(pointer_after(t, vc, t.vcs));
  router.at(t.router_fields.port, out).pick_input = static_cast<u8>(pointer_after(t, in, t.ports * t.input_speedup));
}

/// Returns the position of requester `i` of `n` in the cyclic order that begins at a pointer.
FLITLAB_HD inline u32 turns_until(u32 i, u32 pointer, u32 n) { return i >= pointer ? i - pointer : i + n - pointer; }

/// Returns whether input VC `a` beats input VC `b` when both bid for an output VC. `out_flat`: port * vcs + VC of it.
template <class T, int W>
FLITLAB_INLINE bool beats(const T& t, const Item<W>& router, const OutputVc& out, u32 out_port, u32 a, u32 b,
                          const Turn& turn, u32 out_flat = 0) {
  const u32 n = t.ports * t.vcs;
  if (compares_ranks(t.arbiter)) {
    const u32 rank_a = front_rank(t, router, a, turn), rank_b = front_rank(t, router, b, turn);
    return rank_a != rank_b ? rank_a > rank_b : a < b;
  }
  switch (t.arbiter) {
    case ArbiterKind::kFixedPriority: return a < b;
    case ArbiterKind::kMatrix: {
      // The output port's matrix ranks input ports; VCs of one input port take turns.
      const u32 pa = a / t.vcs, pb = b / t.vcs;
      if (pa != pb)
        return (router.at(t.router_fields.output_matrix, out_port * t.ports * t.crossbar_factor + pa) >> pb) & 1;
      [[fallthrough]];
    }
    default: {
      if (!t.vc_arbiter_by_port) return turns_until(a, out.pick, n) < turns_until(b, out.pick, n);
      const u32 pa = a / t.vcs, pb = b / t.vcs;
      if (pa != pb) return turns_until(pa, out.pick, t.ports) < turns_until(pb, out.pick, t.ports);
      const u32 pick = router.at(t.router_fields.pick_of_port, out_flat * t.ports + pa);
      return turns_until(a % t.vcs, pick, t.vcs) < turns_until(b % t.vcs, pick, t.vcs);
    }
  }
}

}  // namespace flitlab::vc
