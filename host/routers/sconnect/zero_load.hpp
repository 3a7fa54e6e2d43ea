#pragma once
/// Zero-load latency: routing cycles, clocks and hops of a message in an otherwise idle fabric.
#include <vector>

#include "host/plan/terminal_plan.hpp"
#include "host/routers/sconnect/fabric.hpp"
#include "host/run/result.hpp"

namespace flitlab {

/// Means over an experiment's messages, each in an idle fabric.
struct ZeroLoad {
  double cycles = kNotMeasured;          ///< creation to delivery of a message's first part, routing cycles
  double clocks = kNotMeasured;          ///< header into the first TIC to header out of the last
  double clocks_per_hop = kNotMeasured;  ///< clocks per channel between TICs
  double hops = kNotMeasured;            ///< channels between TICs, parallel ones included
};

/// Routing cycles (kNone: it does not arrive), clocks and hops of a message between two terminals in an idle fabric.
struct Journey {
  u32 cycles = kNone, clocks = 0, hops = 0;
};
Journey journey(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 from, u32 to);

/// Returns the means over all paths from each terminal to its destinations. kNotMeasured for more than 1024 terminals,
/// where following all pairs would take seconds.
ZeroLoad zero_load(const SconnectFabric& fabric, const std::vector<u16>& entry, const TerminalPlan& traffic);

}  // namespace flitlab
