#pragma once
/// Routing tables of a fabric, and the check that they are free of deadlock (S-Connect, 2.4, 3.1).
#include <string>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class Experiment;

/// Routing tables and their properties.
struct SconnectTables {
  std::vector<u16> entry;  ///< [tics][nodes] sconnect::Options: the output ports and virtual channels for each
                           ///< destination node; 0: the destination cannot be reached
  bool tree = false;       ///< all messages use the spanning tree: up on virtual channel 0, down on 1
  /// Hops between TICs, including hops over parallel ports, on the shortest paths that the tables allow. Mean over all
  /// pairs of nodes; in larger fabrics over all sources and a sample of 1024 to 2048 destinations.
  double mean_hops = 0;
  double stretch = 1;  ///< mean_hops divided by the mean hops of the graph's shortest paths
  /// Load of the busiest serial channel divided by the mean load, under uniform traffic (loads.hpp).
  double busiest = 0;
  double kept = 1;  ///< fraction of pairs of nodes for which the tables allow a shortest path
  double alternates =
      0;  ///< mean number of options (ports and virtual channels) that a message can choose from at a TIC of its path
};

/// Returns the tables by the method that `routing.tables` names. ConfigError for a bad routing.file.
SconnectTables make_sconnect_tables(const Experiment& experiment, const SconnectFabric& fabric);

/// Returns a text that describes the first fault of the tables, or "". Faults: a destination that cannot be reached, an
/// endless path, or a cyclic dependency between queues.
std::string sconnect_table_fault(const SconnectFabric& fabric, const std::vector<u16>& entry);

}  // namespace flitlab
