#pragma once
/// The file that says what breaks in a METRO network, and when.
#include <vector>

#include "host/routers/metro/faults.hpp"

namespace flitlab {

/// What does not work when all has happened: wide routers, wires (by both their ends), ports that are off.
struct MetroDead {
  explicit MetroDead(const MetroNetwork& n) : routers(n.routers()), wires(n.wires.size()), ports_off(n.wires.size()) {}
  std::vector<bool> ports() const {
    std::vector<bool> all = wires;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || ports_off[i];
    return all;
  }
  std::vector<bool> routers, wires, ports_off;
};

/// Adds what the experiment's file of faults says to `faults`, and to `dead` what is left of it at the end. Throws
/// ConfigError with the line for one that names nothing.
void read_metro_faults(const Experiment& experiment, const MetroNetwork& network, u32 slices, MetroFaults& faults,
                       MetroDead& dead);

}  // namespace flitlab
