#pragma once
/// Oscillators and cables of a fabric, as drawn or given, in the units of the emulated clocks.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "kernels/routers/sconnect/clock_state.hpp"

namespace flitlab {

/// Radians of the nominal clock in a routing cycle, per part in a million.
inline constexpr double kRadiansPerPpm = 6 * 2 * 3.14159265358979323846 * 1e-6;

struct SconnectClocks {
  std::vector<sconnect::i64> free;    ///< [tics] 2^-32 rad per routing cycle
  std::vector<sconnect::i64> phase;   ///< [tics] 2^-32 rad
  std::vector<sconnect::i64> offset;  ///< [tics][kSerial] 2^-32 rad
  sconnect::ClockTable table;         ///< points into these
};

/// Which oscillator each TIC has: the number of the first TIC that has the same. Those of a node or switch share one
/// (S-Connect, 3, Figure 10).
std::vector<u32> oscillators(const SconnectFabric& fabric);

/// No clocks unless clock.emulated. ConfigError for a file that names no TIC, or one twice.
void set_clocks(const Experiment& experiment, const SconnectFabric& fabric, SconnectClocks& clocks);

}  // namespace flitlab
