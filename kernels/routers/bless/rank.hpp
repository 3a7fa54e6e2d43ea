#pragma once
/// Whose turn it is, and where to: the ranking of flits and the preference of ports (BLESS, FLIT-BLESS, oldest first).
#include "kernels/routers/bless/state.hpp"

namespace flitlab::bless {

/// A flit's age as a number of 128 bits, lower if it is older: when its packet was injected; its source; the packet's
/// number; the flit's. The ages of any two flits differ, and they are the same at all routers: nothing of them changes
/// on the way.
struct Age {
  u64 high, low;
};
inline constexpr Age kYoungest{~u64{0}, ~u64{0}};

FLITLAB_HD inline Age age_of(const Flit& flit) {
  return {u64{flit.injected} << 32 | flit.src, u64{flit.id} << 32 | flit.via};
}

/// Whether `a` is served before `b`.
FLITLAB_HD inline bool older(const Age& a, const Age& b) {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}
FLITLAB_HD inline bool older(const Flit& a, const Flit& b) { return older(age_of(a), age_of(b)); }

/// Channels that bring a flit nearer to where it is addressed; both of a dimension half-way around an even ring.
/// Coordinates are compared where they are in the addresses.
template <class T>
FLITLAB_HD inline u32 productive_channels(const T& t, u32 here, u32 there) {
  u32 set = 0;
  for (u32 dim = 0; dim < t.dims; ++dim) {
    const u32 mask = t.dim_mask[dim] << t.dim_shift[dim], from = here & mask, to = there & mask;
    u32 plus = to > from, minus = to < from;
    if (t.wraps) {
      const u32 around = t.radix[dim] << t.dim_shift[dim], apart = plus | minus;
      const u32 up = to - from + (around & (0u - minus)), down = around - up;
      plus = apart & u32{up <= down};
      minus = apart & u32{down <= up};
    }
    set |= (plus | minus << 1) << 2 * dim;
  }
  return set;
}

/// Which way a packet prefers where both ways around a dimension are as short, a bit for each: 1 is the - direction.
FLITLAB_HD inline u32 preference(const Flit& flit) {
  return static_cast<u32>(mix64(u64{flit.src} << 32 | flit.id)) & ((1u << kMaxDims) - 1);
}

/// The channel that a flit takes of those that are free: of the productive ones that of the lowest dimension, and if
/// both ways around are as short, the one it prefers. If none of these is free, the first of the others, counted from a
/// channel that is the next one in every cycle. `free` must not be empty.
FLITLAB_HD inline u32 choose_channel(const Flit& flit, u32 productive, u32 free, u32 channels, Cycle now) {
  const u32 good = productive & free;
  if (!good) return first_at_or_after(free, now % channels);
  const u32 channel = lowest_bit(good), dim = channel / 2;
  const bool both = (good >> 2 * dim & 3) == 3;
  return both && (preference(flit) >> dim & 1) ? channel + 1 : channel;
}

}  // namespace flitlab::bless
