#pragma once
/// What breaks in a METRO network, and when.
#include <vector>

#include "host/config/experiment.hpp"
#include "host/routers/metro/network.hpp"

namespace flitlab {

/// One fault, or its repair.
struct MetroFault {
  enum class What { kDeadRouter, kWire, kMisallocation, kPort, kTap };
  u64 cycle = 0;
  What what = What::kDeadRouter;
  bool endpoint = false;  ///< of an endpoint's wire; else of a router
  u32 item = 0;           ///< router (each of cascaded ones), or endpoint
  u32 port = 0;           ///< flat, as in the state
  metro::WireState wire{};
  u32 value = 0;  ///< router or port: what it becomes; TAP: its number
};

struct MetroFaults {
  std::vector<MetroFault> list;  ///< by cycle
  bool wires = false;            ///< some of them are of wires
};

/// Faults of an experiment, from its file and drawn. Throws ConfigError for one that names nothing, or if two
/// endpoints are left without a way when all has happened.
MetroFaults make_metro_faults(const Experiment& experiment, const MetroNetwork& network, u32 slices);

/// Whether every endpoint still reaches every other one over at least one way, with some wide routers and some links
/// dead; a link is named by its router's port ([routers][inputs + outputs], of both ends).
bool metro_connected(const MetroNetwork& network, const std::vector<bool>& dead_routers,
                     const std::vector<bool>& dead_ports);

}  // namespace flitlab
