#pragma once
/// State of the distributed phase-locked loop (S-Connect, 2.5, 3.3). Phases and rates are integers of 2^-32 rad, so
/// that all compilers and devices agree; they are deviations from the nominal frequency. Phases go round at 2^32 rad:
/// only their differences are ever used, and those are small.
#include "kernels/common/layout.hpp"
#include "kernels/routers/sconnect/link.hpp"

namespace flitlab::sconnect {

using i64 = std::int64_t;

inline constexpr i64 kRadian = i64{1} << 32;

/// An oscillator. The TICs of a node or of a switch have one between them, and keep copies of it.
struct ClockState {
  u64 phase;  ///< deviation from the nominal phase, 2^-32 rad
  i64 free;   ///< deviation of the free-running frequency, 2^-32 rad per routing cycle
  i64 rate;   ///< deviation of the frequency, as pulled
  i64 error;  ///< what the phase detector says, 2^-32 rad
  i64 sum;    ///< of this TIC's comparators, 2^-32 rad
  u32 slips;  ///< words lost or repeated at this TIC's ports since cycle 0
  u8 on;      ///< this TIC's comparators pull the oscillator
  u8 limit;   ///< the rate stands at the end of the tuning range
  u8 active;  ///< channels that are in the sum
  u8 sends;   ///< ports whose transmitter is on, as bits: what they send carries the clock
};
static_assert(sizeof(ClockState) == 48);

enum class Stream : u8 { kNotYet, kRuns, kStopped };

/// The receive fifo of a channel: words come in at the far clock, and go out at the own.
struct Fifo {
  u64 offset;      ///< depth from half full, less the difference of the phases, 2^-32 rad: the cable, and slips
  i64 depth;       ///< from half full, at the last comparison, 2^-32 rad
  i64 lost;        ///< part of a word by which the fifo has gone on while full (+) or empty (-), 2^-32 rad
  u32 overflows;   ///< words lost
  u32 underflows;  ///< words repeated
  Stream stream;
  u8 pad[7];
};
static_assert(sizeof(Fifo) == 40);

struct ClockFields {
  Field<ClockState> state;  ///< [1]
  Field<u64> mail;          ///< [S][kPorts] twice the far phase, plus 1; of parallel ports: clock.hpp. 0: none
  Field<Fifo> fifo;         ///< [kSerial]
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
