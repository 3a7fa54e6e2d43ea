#pragma once
/// State of a TIC's clock: an oscillator that follows those of its neighbours (S-Connect, 2.5, 3.3). Phases and rates
/// are integers of 2^-32 rad, so that all compilers and devices agree; they are deviations from the nominal frequency.
#include "kernels/common/layout.hpp"

namespace flitlab::sconnect {

using i64 = std::int64_t;

inline constexpr i64 kRadian = i64{1} << 32;

struct ClockState {
  i64 phase;   ///< deviation from the nominal phase, 2^-32 rad
  i64 free;    ///< deviation of the free-running frequency, 2^-32 rad per routing cycle
  i64 rate;    ///< deviation of the frequency, as pulled
  i64 error;   ///< average of what the active channels' comparators say, 2^-32 rad
  u32 slips;   ///< slots lost or repeated since cycle 0
  u8 on;       ///< the loop is closed; 0: the oscillator runs freely
  u8 limit;    ///< the rate stands at the end of the tuning range
  u8 slipped;  ///< ports that slipped in this cycle, as bits
  u8 sends;    ///< ports whose transmitter is on: what they send carries the clock
};
static_assert(sizeof(ClockState) == 40);

struct ClockFields {
  Field<ClockState> state;  ///< [1]
  Field<i64> mail;          ///< [S][6] phases that arrive, plus 1 where it would be 0; 0: none
  Field<i64> offset;        ///< [6] what is added to the far phase to get the depth of the fifo: the cable, and slips
};

/// Parameters of all clocks; null pointers: none are emulated.
struct ClockTable {
  i64 gain = 0;        ///< pull per radian of the error, 2^-32 per routing cycle
  i64 knee = 0;        ///< deviation from which the comparator's slope is the steeper one, 2^-32 rad
  i64 outer_gain = 0;  ///< the steeper slope, in 1/256; 256: the same
  i64 range = 0;       ///< deviation at which the fifo is full or empty, 2^-32 rad
  i64 tuning = 0;      ///< largest pull, 2^-32 rad per routing cycle
  i64 slot = 0;        ///< a slip moves the fifo by this, 2^-32 rad
  u8 sums = 0;         ///< the comparators' outputs are added up, not averaged
  u8 pad[7] = {};
  const i64* free = nullptr;    ///< [routers] free-running frequencies
  const i64* phase = nullptr;   ///< [routers] phases at cycle 0
  const i64* offset = nullptr;  ///< [routers][6]
};

}  // namespace flitlab::sconnect
