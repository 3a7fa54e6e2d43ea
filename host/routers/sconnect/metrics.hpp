#pragma once
/// Distances and bisection of a fabric (S-Connect, 4.2, Figure 18).
#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

struct SconnectMetrics {
  u32 diameter = 0;          ///< most serial channels between two nodes, on shortest paths
  double mean_channels = 0;  ///< serial channels between two nodes, mean over all pairs
  double mean_hops = 0;      ///< the same with channels between parallel ports
  /// Serial channels (of two directions each) between two halves of the nodes; the halves differ by at most one node.
  u32 bisection = 0;
  bool bisection_exact = false;  ///< true: computed by a formula; false: an upper bound found by a search
};

/// Returns distances and bisection of a fabric.
SconnectMetrics sconnect_metrics(const SconnectFabric& fabric);

/// Returns the least bisection found by the Fiduccia-Mattheyses heuristic, from several random divisions. Switches are
/// not counted in the sizes of the halves.
u32 searched_bisection(const SconnectFabric& fabric);

}  // namespace flitlab
