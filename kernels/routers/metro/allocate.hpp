#pragma once
/// Allocation of backward ports (METRO, 4, Stochastic Path Selection): the router chooses a random free port in the
/// requested direction, and keeps no state between choices. Requests of one cycle are served in the cyclic order of the
/// forward ports, beginning with a randomly chosen request.
#include "kernels/common/bits.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/state.hpp"
#include "kernels/routers/metro/streams.hpp"

namespace flitlab::metro {

/// Random inputs of a router in one cycle. Cascaded routers share them unless `shared_random` is 0.
struct RandomInputs {
  u64 seed;
  u32 item;
  Cycle now;

  /// Returns the draws of input n.
  FLITLAB_HD FLITLAB_ONE_COPY Random4 operator()(u32 n) const {
    return philox(seed, metro::stream::kChoice, item, u64{now} << 8 | n);
  }
};

inline constexpr u32 kOrderInput = 255;  ///< number of the pseudo-input from which the first request to serve is drawn

template <class V>
FLITLAB_INLINE RandomInputs random_inputs(const V& v, u32 index, Cycle now) {
  return {v.row->seed, v.t.shared_random ? index / v.t.slices : index, now};
}

/// Returns the n-th member of a set, from 0.
FLITLAB_HD inline u32 nth_member(u32 set, u32 n) {
  FLITLAB_ROLLED for (; n; --n) set &= set - 1;
  return lowest_bit(set);
}

/// Returns a backward port for the request of a forward port; kNone: the request is blocked.
template <class T>
FLITLAB_INLINE u32 choose_port(const T& t, const RouterControl& control, u32 forward, u32 direction,
                               const RandomInputs& random) {
  const u32 dilation = 1u << control.log_dilation;
  if (direction >> control.log_radix) return kNone;  // scan has changed the dilation since the header arrived
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
