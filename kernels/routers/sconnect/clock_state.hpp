#pragma once
/// State of the distributed phase-locked loop (S-Connect, 2.5, 3.3). Phases and rates are deviations
/// from the nominal clock, as integers in 2^-32 rad, so that all compilers and devices agree. Phases wrap around at
/// 2^32 rad; only their differences, which are small, are used.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

using i64 = std::int64_t;

inline constexpr i64 kRadian = i64{1} << 32;

/// An oscillator. The TICs of a node or switch share one; each TIC keeps a copy of the oscillator's state.
struct ClockState {
  FLITLAB_MEMBERS(ClockState,
    (u64, phase, "2^-32 rad", "deviation from the nominal phase"),
    (i64, free, "2^-32 rad per routing cycle", "deviation of the free-running frequency"),
    (i64, rate, "2^-32 rad per routing cycle", "deviation of the current frequency"),
    (i64, error, "2^-32 rad", "output of the phase detector"),
    (i64, sum, "2^-32 rad", "sum of this TIC's comparator outputs"),
    (u32, slips, "words", "words lost or repeated at this TIC's ports since cycle 0"),
    (u8, on, "", "1: this TIC's comparators pull the oscillator"),
    (u8, limit, "", "1: the rate is at an end of the tuning range"),
    (u8, active, "", "channels that contribute to the sum"),
    (u8, sends, "", "ports whose data stream is on, as bits; it carries the clock"))
};
static_assert(sizeof(ClockState) == 48);

enum class Stream : u8 { kNotYet, kRuns, kStopped };

/// The receive FIFO of a channel: the far clock writes words, the local clock reads them.
struct Fifo {
  FLITLAB_MEMBERS(Fifo,
    (u64, offset, "2^-32 rad", "depth from half full - phase difference: cable delay and slips"),
    (i64, depth, "2^-32 rad", "depth from half full at the last comparison"),
    (i64, lost, "2^-32 rad", "fraction of a word lost while full (+) or repeated while empty (-)"),
    (u32, overflows, "words", "words lost"),
    (u32, underflows, "words", "words repeated"),
    (Stream, stream, "", "Stream: whether words arrive"),
    (u8[7], pad))
};
static_assert(sizeof(Fifo) == 40);

/// Fields of a TIC that exist only with `clock.emulated`.
struct ClockFields {
  FLITLAB_FIELDS(ClockFields,
    (ClockState, state, t.clocks, "", "the oscillator", "clock"),
    (u64, mail, t.clocks * (t.slot_mask + 1) * kPorts, "",
      "[slot][port] 2 * far phase + 1; of parallel ports: comparator outputs (clock.hpp). 0: empty", "clock_mail"),
    (Fifo, fifo, t.clocks * kSerial, "", "[channel] receive FIFOs"))
};

/// Parameters of all clocks; the pointers are null without `clock.emulated`.
struct ClockTable {
  i64 gain = 0;        ///< pull per radian of phase detector output, 2^-32 per routing cycle
  i64 knee = 0;        ///< depth from half full beyond which the comparator is steeper, 2^-32 rad
  i64 outer_gain = 0;  ///< slope beyond the knee, in 1/256
  i64 range = 0;       ///< depth from half full at which the FIFO is full or empty, 2^-32 rad
  i64 tuning = 0;      ///< largest pull, 2^-32 rad per routing cycle
  i64 word = 0;        ///< phase of one FIFO word, i.e. one clock, 2^-32 rad
  u8 sums = 0;         ///< 1: comparator outputs are added; 0: averaged
  u8 pad[7] = {};
  const i64* free = nullptr;    ///< [routers] free-running frequencies
  const i64* phase = nullptr;   ///< [routers] phases at cycle 0
  const i64* offset = nullptr;  ///< [routers][kSerial] Fifo::offset at cycle 0
};

}  // namespace flitlab::sconnect
