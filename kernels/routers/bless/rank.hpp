#pragma once
/// Whose turn it is, and where to: the ranking of flits and the preference of ports (BLESS, FLIT-BLESS, oldest first).
#include "kernels/routers/bless/state.hpp"

namespace flitlab::bless {

/// Whether `a` is served before `b`: the flit whose packet was injected earlier; of equals the lower source, packet
/// number, flit number. A total order that is the same at all routers: nothing of it changes on the way.
FLITLAB_HD inline bool older(const Flit& a, const Flit& b) {
  if (a.injected != b.injected) return static_cast<i32>(a.injected - b.injected) < 0;
  if (a.src != b.src) return a.src < b.src;
  return a.id != b.id ? a.id < b.id : a.via < b.via;
}

/// Channels that bring a flit nearer to where it is addressed; both of a dimension half-way around an even ring.
template <class T>
FLITLAB_HD inline u32 productive_channels(const T& t, u32 here, u32 there) {
  u32 set = 0;
  for (u32 dim = 0; dim < t.dims; ++dim) {
    const u32 from = here >> t.dim_shift[dim] & t.dim_mask[dim], to = there >> t.dim_shift[dim] & t.dim_mask[dim];
    if (from == to) continue;
    bool plus = to > from, minus = !plus;
    if (t.wraps) {
      const u32 up = plus ? to - from : to + t.radix[dim] - from, down = t.radix[dim] - up;
      plus = up <= down;
      minus = down <= up;
    }
    set |= (u32{plus} | u32{minus} << 1) << 2 * dim;
  }
  return set;
}

/// The channel that a flit takes of those that are free: of the productive ones that of the lowest dimension, and if
/// both ways around are as short, the one that a bit of a hash of the packet's name says. If none of these is free, the
/// first of the others, counted from a channel that is the next one in every cycle. `free` must not be empty.
FLITLAB_HD inline u32 choose_channel(const Flit& flit, u32 productive, u32 free, u32 channels, Cycle now) {
  const u32 good = productive & free;
  if (!good) return first_at_or_after(free, now % channels);
  const u32 channel = lowest_bit(good), dim = channel / 2;
  const bool both = (good >> 2 * dim & 3) == 3;
  return both && (mix64(u64{flit.src} << 32 | flit.id) >> dim & 1) ? channel + 1 : channel;
}

}  // namespace flitlab::bless
