#pragma once
/// Reader of the file of faults of a METRO network (faults.file).
#include <vector>

#include "host/routers/metro/faults.hpp"

namespace flitlab {

/// Parts that do not work after all faults and repairs of a file: `routers[wide router]`; `wires` and `ports_off`, both
/// `[wide router][inputs + outputs]`. A wire is marked at both of its ends.
struct MetroDead {
  explicit MetroDead(const MetroNetwork& n) : routers(n.routers()), wires(n.wires.size()), ports_off(n.wires.size()) {}
  /// Returns the ports that are off or whose wire is dead.
  std::vector<bool> ports() const {
    std::vector<bool> all = wires;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || ports_off[i];
    return all;
  }
  std::vector<bool> routers, wires, ports_off;
};

/// Adds the faults in the experiment's file to `faults`, and the parts that do not work after the last fault to `dead`.
/// Throws ConfigError with the line number for a malformed line or a part that does not exist.
void read_metro_faults(const Experiment& experiment, const MetroNetwork& network, u32 slices, MetroFaults& faults,
                       MetroDead& dead);

}  // namespace flitlab
