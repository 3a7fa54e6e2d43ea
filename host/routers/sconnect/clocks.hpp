#pragma once
/// Oscillators and cables of a fabric, drawn or read from clock.file, in the units of the emulated clocks.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "kernels/routers/sconnect/clock_state.hpp"

namespace flitlab {

/// Radians by which a clock drifts in one routing cycle if its frequency deviates by 1 ppm.
inline constexpr double kRadiansPerPpm = 6 * 2 * 3.14159265358979323846 * 1e-6;

/// Initial state of the clocks.
struct SconnectClocks {
  /// [tics] deviation of the free-running oscillator's frequency, 2^-32 rad per routing cycle.
  std::vector<sconnect::i64> free;
  std::vector<sconnect::i64> phase;  ///< [tics] phase at cycle 0, 2^-32 rad
  /// [tics][kSerial] offset of the channel's FIFO that follows from its cable's delay, 2^-32 rad.
  std::vector<sconnect::i64> offset;
  sconnect::ClockTable table;  ///< parameters of the clocks; points into the vectors above
};

/// Returns for each TIC the oscillator that it uses, named by the lowest number of a TIC that uses the same one. The
/// TICs of a node or switch share an oscillator (S-Connect, 3, Figure 10).
std::vector<u32> oscillators(const SconnectFabric& fabric);

/// Sets the clocks if clock.emulated is true. ConfigError if a line of clock.file is malformed, names an unknown TIC,
/// or names an oscillator for the second time.
void set_clocks(const Experiment& experiment, const SconnectFabric& fabric, SconnectClocks& clocks);

}  // namespace flitlab
