#pragma once
/// Zero-load latency: routing cycles, clocks and hops of a message in an otherwise idle fabric.
#include <vector>

#include "host/plan/not_measured.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Means over an experiment's messages, each in an idle fabric.
struct ZeroLoad {
  double cycles = kNotMeasured;  ///< routing cycles from the creation of a message to the delivery of its first part
  /// Clocks from the header's arrival at the first TIC to its departure from the last TIC.
  double clocks = kNotMeasured;
  double clocks_per_hop = kNotMeasured;  ///< clocks for each channel between TICs
  double hops = kNotMeasured;            ///< number of channels between TICs, including parallel ones
};

/// A message between two terminals in an idle fabric: its routing cycles (kNone: it does not arrive), clocks and hops.
struct Journey {
  u32 cycles = kNone, clocks = 0, hops = 0;
};
Journey journey(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 from, u32 to);

/// Returns the means over all paths from each terminal to its destinations. Returns kNotMeasured for more than 1024
/// terminals, because following all pairs would take seconds.
ZeroLoad zero_load(const SconnectFabric& fabric, const std::vector<u16>& entry, const TerminalPlan& traffic);

}  // namespace flitlab
