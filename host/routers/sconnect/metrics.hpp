#pragma once
/// Distances and bisection of a fabric (S-Connect, 4.2, Figure 18).
#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

struct SconnectMetrics {
  u32 diameter = 0;          ///< largest number of serial channels on a shortest path between two nodes
  double mean_channels = 0;  ///< mean number of serial channels between two nodes, over all pairs
  double mean_hops = 0;      ///< mean number of channels between two nodes, serial and parallel
  /// Smallest number of serial channels (of two directions each) between two halves of the nodes. The numbers of nodes
  /// in the halves differ by at most one.
  u32 bisection = 0;
  bool bisection_exact = false;  ///< true: computed by a formula; false: an upper bound found by a search
};

/// Returns distances and bisection of a fabric.
SconnectMetrics sconnect_metrics(const SconnectFabric& fabric);

/// Returns the smallest bisection that the Fiduccia-Mattheyses heuristic finds from several random divisions. Switches
/// do not count in the sizes of the halves.
u32 searched_bisection(const SconnectFabric& fabric);

}  // namespace flitlab
