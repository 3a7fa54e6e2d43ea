#pragma once
/// State of the distributed phase-locked loop (S-Connect, 2.5, 3.3). Phases and rates are integers of 2^-32 rad, so
/// that all compilers and devices agree; they are deviations from the nominal frequency. Phases go round at 2^32 rad:
/// only their differences are ever used, and those are small.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

using i64 = std::int64_t;

inline constexpr i64 kRadian = i64{1} << 32;

/// An oscillator. The TICs of a node or of a switch have one between them, and keep copies of it.
struct ClockState {
  FLITLAB_MEMBERS(ClockState,
    (u64, phase, "2^-32 rad", "deviation from the nominal phase"),
    (i64, free, "2^-32 rad per routing cycle", "deviation of the free-running frequency"),
    (i64, rate, "2^-32 rad per routing cycle", "deviation of the frequency, as pulled"),
    (i64, error, "2^-32 rad", "what the phase detector says"),
    (i64, sum, "2^-32 rad", "of this TIC's comparators"),
    (u32, slips, "words", "lost or repeated at this TIC's ports since cycle 0"),
    (u8, on, "", "1: this TIC's comparators pull the oscillator"),
    (u8, limit, "", "1: the rate stands at the end of the tuning range"),
    (u8, active, "", "channels that are in the sum"),
    (u8, sends, "", "ports whose transmitter is on, as bits: what they send carries the clock"))
};
static_assert(sizeof(ClockState) == 48);

enum class Stream : u8 { kNotYet, kRuns, kStopped };

/// The receive fifo of a channel: words come in at the far clock, and go out at the own.
struct Fifo {
  FLITLAB_MEMBERS(Fifo,
    (u64, offset, "2^-32 rad", "depth from half full, less the difference of the phases: the cable, and slips"),
    (i64, depth, "2^-32 rad", "from half full, at the last comparison"),
    (i64, lost, "2^-32 rad", "part of a word by which the fifo has gone on while full (+) or empty (-)"),
    (u32, overflows, "words", "lost"),
    (u32, underflows, "words", "repeated"),
    (Stream, stream, "", "Stream: whether words come"),
    (u8[7], pad))
};
static_assert(sizeof(Fifo) == 40);

/// With clocks only.
struct ClockFields {
  FLITLAB_FIELDS(ClockFields,
    (ClockState, state, t.clocks, "", "the oscillator", "clock"),
    (u64, mail, t.clocks * (t.slot_mask + 1) * kPorts, "",
      "[slot][port] twice the far phase, plus 1; of parallel ports: clock.hpp. 0: none", "clock_mail"),
    (Fifo, fifo, t.clocks * kSerial, "", "[channel] receive fifos"))
};

/// Parameters of all clocks; null pointers: none are emulated.
struct ClockTable {
  i64 gain = 0;        ///< pull per radian that the phase detector says, 2^-32 per routing cycle
  i64 knee = 0;        ///< depth from which the comparator's slope is the steeper one, 2^-32 rad
  i64 outer_gain = 0;  ///< the steeper slope, in 1/256; 256: the same
  i64 range = 0;       ///< depth at which the fifo is full or empty, 2^-32 rad
  i64 tuning = 0;      ///< largest pull, 2^-32 rad per routing cycle
  i64 word = 0;        ///< of a fifo: a clock, 2^-32 rad
  u8 sums = 0;         ///< the comparators' outputs are added up, not averaged
  u8 pad[7] = {};
  const i64* free = nullptr;    ///< [routers] free-running frequencies
  const i64* phase = nullptr;   ///< [routers] phases at cycle 0
  const i64* offset = nullptr;  ///< [routers][kSerial] of fifos at cycle 0
};

}  // namespace flitlab::sconnect
