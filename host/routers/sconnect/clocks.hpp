#pragma once
/// Oscillators and cables of a fabric, drawn or read from clock.file, in the units of the emulated clocks.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "kernels/routers/sconnect/clock_state.hpp"

namespace flitlab {

/// Radians per routing cycle in a frequency deviation of 1 ppm.
inline constexpr double kRadiansPerPpm = 6 * 2 * 3.14159265358979323846 * 1e-6;

/// Initial state of the clocks.
struct SconnectClocks {
  std::vector<sconnect::i64> free;    ///< [tics] free-running frequency deviations, 2^-32 rad per routing cycle
  std::vector<sconnect::i64> phase;   ///< [tics] phases at cycle 0, 2^-32 rad
  std::vector<sconnect::i64> offset;  ///< [tics][kSerial] FIFO offsets from cable delays, 2^-32 rad
  sconnect::ClockTable table;         ///< parameters; points into the vectors
};

/// Returns the oscillator of each TIC: the lowest number of a TIC that shares it. TICs of a node or switch share one
/// (S-Connect, 3, Figure 10).
std::vector<u32> oscillators(const SconnectFabric& fabric);

/// Sets the clocks if clock.emulated is true. ConfigError for a bad line of clock.file, an unknown TIC, or an
/// oscillator with two lines.
void set_clocks(const Experiment& experiment, const SconnectFabric& fabric, SconnectClocks& clocks);

}  // namespace flitlab
