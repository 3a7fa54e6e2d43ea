#pragma once
/// What a message needs that is alone in a fabric.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "host/run/result.hpp"

namespace flitlab {

struct ZeroLoad {
  double cycles = kNotMeasured;          ///< creation to delivery, routing cycles, mean over all pairs of hosts' ports
  double clocks = kNotMeasured;          ///< header in to header out
  double clocks_per_hop = kNotMeasured;  ///< the same for each channel between TICs
};

/// Routing cycles of a single message between two terminals, by the rules of an idle TIC; kNone: it does not arrive.
/// `clocks`, `hops`: likewise.
struct Journey {
  u32 cycles = kNone, clocks = 0, hops = 0;
};
Journey journey(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 from, u32 to);

ZeroLoad zero_load(const SconnectFabric& fabric, const std::vector<u16>& entry);

}  // namespace flitlab
