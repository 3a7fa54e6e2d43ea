#pragma once
/// What a message needs that is alone in a fabric.
#include <vector>

#include "host/plan/terminal_plan.hpp"
#include "host/routers/sconnect/fabric.hpp"
#include "host/run/result.hpp"

namespace flitlab {

/// Means over the messages of an experiment, each alone in the fabric.
struct ZeroLoad {
  double cycles = kNotMeasured;          ///< creation to delivery of a message's first part, routing cycles
  double clocks = kNotMeasured;          ///< header in to header out
  double clocks_per_hop = kNotMeasured;  ///< the same for each channel between TICs
  double hops = kNotMeasured;            ///< channels between TICs, parallel ones included
};

/// Routing cycles of a single message between two terminals, by the rules of an idle TIC; kNone: it does not arrive.
/// `clocks`, `hops`: likewise.
struct Journey {
  u32 cycles = kNone, clocks = 0, hops = 0;
};
Journey journey(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 from, u32 to);

/// Follows the ways of the tables, from each terminal to each of its destinations. Not measured if a fabric has more
/// than 1024 terminals, since the walks between all pairs would take seconds.
ZeroLoad zero_load(const SconnectFabric& fabric, const std::vector<u16>& entry, const TerminalPlan& traffic);

}  // namespace flitlab
