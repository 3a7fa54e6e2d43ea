#pragma once
/// Faults of a METRO network and their cycles.
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/metro/network.hpp"

namespace flitlab {

/// One fault of a part of the network, or the repair of the part.
struct MetroFault {
  enum class What { kDeadRouter, kWire, kMisallocation, kPort, kTap };
  u64 cycle = 0;
  What what = What::kDeadRouter;
  bool endpoint = false;  ///< the part is the wire of an endpoint; false: the part is a router or the wire of a router
  u32 item = 0;           ///< number of the router (each slice has one) or of the endpoint
  u32 port = 0;           ///< index of the port in the state; for an endpoint with slices, index of link and slice
  metro::WireState wire{};
  u32 value = 0;  ///< router: 1 dead; port: 1 on; misallocation: threshold of the random draw; TAP: number of the test
                  ///< access port
};

struct MetroFaults {
  std::vector<MetroFault> list;  ///< sorted by cycle
  bool wires = false;            ///< whether the list has faults of wires
};

/// Returns the faults of an experiment: faults from its file and random faults. Throws ConfigError for a part that
/// does not exist, and if all faults together leave two endpoints without a path.
MetroFaults make_metro_faults(const Experiment& experiment, const MetroNetwork& network, u32 slices);

/// Returns whether every endpoint reaches every other endpoint by at least one path without dead parts.
/// `dead_routers[wide router]`; `dead_ports[wide router][inputs + outputs]`, where both ends of a dead link are marked.
bool metro_connected(const MetroNetwork& network, const std::vector<bool>& dead_routers,
                     const std::vector<bool>& dead_ports);

}  // namespace flitlab
