#pragma once
/// The distributed phase-locked loop (S-Connect, 2.5, 3.3), a step in each routing cycle. A receiver's fifo is filled
/// at the far clock and emptied at its own, so its depth says how far the two phases are apart; a TIC pulls its
/// oscillator by the average of the depths of its active channels, more than in proportion where they are far from half
/// full (the converter with two resistors). A fifo that is full or empty stays so, and each time it would go further a
/// slot is lost.
#include "kernels/routers/sconnect/state.hpp"

namespace flitlab::sconnect {

FLITLAB_HD constexpr i64 limited(i64 x, i64 most) { return x > most ? most : x < -most ? -most : x; }

/// x times y / 2^32, both in that unit, rounded toward minus infinity. |x| < 2^47, |y| < 2^47.
FLITLAB_HD constexpr i64 scaled(i64 x, i64 y) {
  const i64 high = x >> 16, low = x & 0xFFFF;  // x = high 2^16 + low
  return (high * (y >> 16)) + (high * (y & 0xFFFF) >> 16) + (low * (y >> 16) >> 16) + (low * (y & 0xFFFF) >> 32);
}

/// What a comparator says of a fifo whose depth is x from half full.
FLITLAB_HD constexpr i64 compared(const ClockTable& c, i64 x) {
  const i64 d = limited(x, c.range), size = d < 0 ? -d : d;
  const i64 said = size <= c.knee ? size : c.knee + (size - c.knee) * c.outer_gain / 256;
  return d < 0 ? -said : said;
}

template <class V, int W>
struct Clock {
  const V& v;
  Item<W> item;
  u32 index;
  Cycle now;
  ClockState& clock;

  /// Sum of the comparators' outputs over active channels, and their number. Slips are noted.
  FLITLAB_INLINE i64 compare(u32& active) const {
    const auto& t = v.t;
    i64 sum = 0;
    active = 0;
    clock.slipped = 0;
    for (u32 p = 0; p < kPorts; ++p) {
      i64& mail = item.at(t.fields.clock.mail, (now & t.slot_mask) * kPorts + p);
      if (!mail) continue;
      i64& offset = item.at(t.fields.clock.offset, p);
      const i64 x = (mail >> 1) + offset - clock.phase;
      mail = 0;
      if (x > t.clock.range || x < -t.clock.range) {
        offset += x > 0 ? -t.clock.slot : t.clock.slot;
        clock.slipped |= static_cast<u8>(1u << p);
        ++clock.slips;
        count(*v.shard, Total::kSlips);
      }
      sum += compared(t.clock, x);
      ++active;
    }
    return sum;
  }

  FLITLAB_INLINE void work() const {
    const auto& t = v.t;
    u32 active = 0;
    const i64 sum = compare(active);
    clock.error = t.clock.sums || !active ? sum : sum / static_cast<i64>(active);
    const i64 wanted = clock.on ? scaled(t.clock.gain, clock.error) : 0, pull = limited(wanted, t.clock.tuning);
    clock.limit = pull != wanted;
    clock.rate = clock.free + pull;
    clock.phase += clock.rate;
    for (u32 p = 0; p < kPorts; ++p) {
      const Link& link = t.links[index * kPorts + p];
      if (link.kind != LinkKind::kSerial || !(clock.sends >> p & 1)) continue;
      v.tics[link.far].at(t.fields.clock.mail, ((now + link.delay) & t.slot_mask) * kPorts + link.port) =
          clock.phase * 2 + 1;
    }
  }
};

}  // namespace flitlab::sconnect
