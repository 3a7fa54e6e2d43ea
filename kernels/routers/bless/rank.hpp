#pragma once
/// Flit ranking and port prioritization (BLESS, FLIT-BLESS, oldest first).
#include "kernels/routers/bless/state.hpp"

namespace flitlab::bless {

/// A flit's age as a 128-bit number, lower for older flits: injection cycle of its packet, source, packet number, flit
/// number. This number never changes and is unique, so all routers rank any two flits alike.
struct Age {
  u64 high, low;
};
inline constexpr Age kYoungest{~u64{0}, ~u64{0}};

FLITLAB_HD inline Age age_of(const Flit& flit) {
  return {u64{flit.injected} << 32 | flit.src, u64{flit.id} << 32 | flit.via};
}

/// Returns whether `a` is older than `b` and therefore chooses first.
FLITLAB_HD inline bool older(const Age& a, const Age& b) {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}
FLITLAB_HD inline bool older(const Flit& a, const Flit& b) { return older(age_of(a), age_of(b)); }

/// Returns the input of the oldest flit among the inputs of `set`. flit_of(input) returns a flit.
template <class FlitOf>
FLITLAB_INLINE u32 oldest(u32 set, FlitOf&& flit_of) {
  u32 first = lowest_bit(set);
  for (u32 others = set & (set - 1); others; others &= others - 1)
    if (older(flit_of(lowest_bit(others)), flit_of(first))) first = lowest_bit(others);
  return first;
}

/// Returns the set of channels whose far end is nearer to the flit's destination. Half-way around an even ring both
/// channels of the dimension are productive. Coordinates are compared in place, without shifting them out of the packed
/// addresses.
template <class T>
FLITLAB_HD inline u32 productive_channels(const T& t, u32 here, u32 present) {
  u32 set = 0;
  for (u32 dim = 0; dim < t.dims; ++dim) {
    const u32 mask = t.dim_mask[dim] << t.dim_shift[dim], from = here & mask, to = present & mask;
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

/// Returns the direction that a packet prefers where both ways around a dimension are equally short, as one bit for
/// each dimension: 1 is the - direction.
FLITLAB_HD inline u32 preference(const Flit& flit) {
  return static_cast<u32>(mix64(u64{flit.src} << 32 | flit.id)) & ((1u << kMaxDims) - 1);
}

/// Returns the free channel that a flit takes: the productive one of the lowest dimension, and the preferred one if
/// both channels of that dimension are productive; preferred() returns its preference(). If no productive channel is
/// free, the flit is deflected to the first free channel from number `now` modulo `channels` on; the rotation keeps
/// deflections from favouring one direction. `free` must not be empty.
template <class Preferred>
FLITLAB_HD constexpr u32 choose_channel(u32 productive, u32 free, u32 channels, Cycle now, Preferred&& preferred) {
  const u32 good = productive & free;
  if (!good) return first_at_or_after(free, now % channels);
  const u32 channel = lowest_bit(good), dim = channel / 2;
  const bool both = (good >> 2 * dim & 3) == 3;
  return both && (preferred() >> dim & 1) ? channel + 1 : channel;
}

}  // namespace flitlab::bless
