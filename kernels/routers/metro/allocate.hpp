#pragma once
/// Who gets which backward port (METRO, 4, Stochastic Path Selection): a random one of those that are free and lead in
/// the direction asked for, without any memory. Requests of one cycle are served from a random one of them on.
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/state.hpp"
#include "kernels/routers/metro/streams.hpp"

namespace flitlab::metro {

/// The random inputs of a router in a cycle. Those of cascaded routers are shared.
struct RandomInputs {
  u64 seed;
  u32 item;
  Cycle now;

  /// Draws of input n.
  FLITLAB_HD Random4 operator()(u32 n) const { return philox(seed, metro::stream::kChoice, item, u64{now} << 8 | n); }
};

inline constexpr u32 kOrderInput = 255;  ///< beside the inputs: where serving starts

template <class V>
FLITLAB_INLINE RandomInputs random_inputs(const V& v, u32 index, Cycle now) {
  return {v.row->seed, v.t.shared_random ? index / v.t.slices : index, now};
}

/// The n-th member of a set.
FLITLAB_HD inline u32 nth_member(u32 set, u32 n) {
  FLITLAB_ROLLED for (; n; --n) set &= set - 1;
  return lowest_bit(set);
}

/// Backward port for a request of a forward port; kNone: blocked.
template <class T>
FLITLAB_INLINE u32 choose_port(const T& t, const RouterControl& control, u32 forward, u32 direction,
                               const RandomInputs& random) {
  const u32 dilation = 1u << control.log_dilation;
  if (direction >> control.log_radix) return kNone;  // the dilation has been changed meanwhile
  const u32 group = static_cast<u32>(((u64{1} << dilation) - 1) << direction * dilation);
  u32 free = group & control.backward_on & ~control.used;
  if (control.misallocate) {
    const Random4 r = random(128 + forward);
    const u32 ports = 1u << (control.log_radix + control.log_dilation);
    const u32 all = static_cast<u32>((u64{1} << ports) - 1);
    if (r.word[0] < control.misallocate) free = all & control.backward_on & ~control.used & ~group;
  }
  const u32 count = bit_count(free);
  if (count == 0) return kNone;
  return count == 1 ? lowest_bit(free) : nth_member(free, below(random(forward % t.random_inputs).word[0], count));
}

}  // namespace flitlab::metro
