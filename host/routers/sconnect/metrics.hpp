#pragma once
/// Distances and bisection of a fabric (S-Connect, 4.2, Figure 18).
#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

struct SconnectMetrics {
  u32 diameter = 0;          ///< serial channels between two nodes, at most
  double mean_channels = 0;  ///< mean over all pairs of different nodes
  double mean_hops = 0;      ///< hops from TIC to TIC, parallel ports included
  /// Serial channels (of two directions each) between halves of the nodes that differ by at most one.
  u32 bisection = 0;
  bool bisection_exact = false;  ///< by formula; else the least that a search has found, an upper bound
};

SconnectMetrics sconnect_metrics(const SconnectFabric& fabric);

/// The search: moves of single nodes and switches from half to half, best first (Fiduccia and Mattheyses), from several
/// random beginnings. Switches count for nothing and may stand on either side.
u32 searched_bisection(const SconnectFabric& fabric);

}  // namespace flitlab
