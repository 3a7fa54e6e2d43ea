#pragma once
/// Routing tables of a fabric, and the check that they are free of deadlock (S-Connect, 2.4, 3.1).
#include <string>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class Experiment;

/// Routing tables and their properties.
struct SconnectTables {
  std::vector<u16> entry;  ///< [tics][nodes] sconnect::Options; 0: the destination cannot be reached
  bool tree = false;       ///< all messages use the spanning tree: up on virtual channel 0, down on 1
  /// Hops between TICs, parallel ports included, on the shortest paths that the tables allow: mean over all pairs of
  /// nodes, or over those to a sample of 1024 to 2048 destinations in larger fabrics.
  double mean_hops = 0;
  double stretch = 1;  ///< mean_hops / the same on the graph's shortest paths
  double busiest = 0;  ///< load of the busiest serial channel / mean, under uniform traffic (loads.hpp)
  double kept = 1;     ///< fraction of pairs for which the tables allow a shortest path
  double alternates =
      0;  ///< options of a message on a shortest allowed path: mean over destinations, TICs and virtual channels
};

/// Returns the tables that `routing.tables` selects. ConfigError for a bad routing.file.
SconnectTables make_sconnect_tables(const Experiment& experiment, const SconnectFabric& fabric);

/// Returns the first fault of tables as a text, or "". Faults: a destination that cannot be reached, an endless path,
/// or a cyclic dependency between queues.
std::string sconnect_table_fault(const SconnectFabric& fabric, const std::vector<u16>& entry);

}  // namespace flitlab
