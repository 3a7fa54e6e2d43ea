#pragma once
/// Rounds of allocation. With internal speedup a cycle can have several, and route computation, VC allocation and
/// switch allocation of d cycles (from 1 on) take d - 1 cycles and one round. Rounds are numbered from the first cycle
/// on (32 bits).
#include "kernels/common/types.hpp"

namespace flitlab::vc {

/// Returns the number of the first round in cycle `now` (32 bits). Without internal speedup, each cycle has one round,
/// of the same number.
template <class T>
FLITLAB_INLINE u32 rounds_before(const T& t, Cycle now) {
  if (t.round_cycles == 1) return now * t.rounds;
  return static_cast<u32>(u64{now} * t.rounds / t.round_cycles);
}

/// Returns the round that follows a pipeline stage of `delay` cycles, which begins in a round of cycle `now`: the stage
/// takes `delay` - 1 cycles and one round. Without internal speedup, a round is a cycle.
template <class T>
FLITLAB_INLINE u32 round_after(const T& t, Cycle now, u32 round, u32 delay) {
  if (t.rounds == t.round_cycles || delay < 2) return round + delay;
  return rounds_before(t, now + delay - 1) + 1;
}

/// Returns the first late round of cycle `now`: flits that win the switch in it, or in a later round of the cycle,
/// leave one cycle later than other flits, because switch allocation ends with the last round of a cycle. Returns
/// `end`, the first round of the next cycle, if there is none.
template <class T>
FLITLAB_INLINE u32 first_late_round(const T& t, Cycle now, u32 end) {
  if (t.rounds == t.round_cycles) return end;
  if (t.switch_delay == 1) return end - 1;
  const Cycle last = now + t.switch_delay - 1;
  return rounds_before(t, last + 1) - rounds_before(t, last) > 1 ? end : rounds_before(t, now);
}

}  // namespace flitlab::vc
