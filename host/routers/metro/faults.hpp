#pragma once
/// Faults of a METRO network and their cycles.
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/metro/network.hpp"

namespace flitlab {

/// One fault, or its repair.
struct MetroFault {
  enum class What { kDeadRouter, kWire, kMisallocation, kPort, kTap };
  u64 cycle = 0;
  What what = What::kDeadRouter;
  bool endpoint = false;  ///< the part is an endpoint's wire; false: a router or its wire
  u32 item = 0;           ///< router (slice) or endpoint
  u32 port = 0;           ///< index of the port (and slice of an endpoint's link), as in the state
  metro::WireState wire{};
  u32 value = 0;  ///< router: 1 dead; port: 1 on; misallocation: threshold of the draw; TAP: its number
};

struct MetroFaults {
  std::vector<MetroFault> list;  ///< sorted by cycle
  bool wires = false;            ///< the list has faults of wires
};

/// Returns the faults of an experiment, from its file and drawn. Throws ConfigError for a part that does not exist, and
/// if all faults together leave two endpoints without a path.
MetroFaults make_metro_faults(const Experiment& experiment, const MetroNetwork& network, u32 slices);

/// Returns whether every endpoint reaches every other one by at least one path without dead parts.
/// `dead_routers[wide router]`; `dead_ports[wide router][inputs + outputs]`, both ends of a dead link.
bool metro_connected(const MetroNetwork& network, const std::vector<bool>& dead_routers,
                     const std::vector<bool>& dead_ports);

}  // namespace flitlab
