#pragma once
/// Routing tables of a fabric, and the proof that messages in it never wait in a circle (S-Connect, 2.4, 3.1).
#include <string>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class Experiment;

struct SconnectTables {
  std::vector<u16> entry;  ///< [tics][nodes] sconnect::Options; 0: the destination cannot be reached
  bool tree = false;       ///< the two-phase assignment over a spanning tree was used
  /// Hops from TIC to TIC, parallel ports included, between two nodes: the mean over all pairs, or those to a sample of
  /// 1024 to 2048 destinations if there are more, by the shortest ways that tables allow.
  double mean_hops = 0;
  double stretch = 1;  ///< mean_hops, divided by the same of the graph's shortest ways
  double busiest = 0;  ///< channel under uniform traffic, over the mean of all serial ones (loads.hpp)
  double kept = 1;     ///< pairs of which the tables keep a shortest way, part of all
  double alternates =
      0;  ///< options of a message on such a way: mean over destinations, TICs, and how it has come there
};

/// Tables by routing.tables ("shortest", "tree", "file").
SconnectTables make_sconnect_tables(const Experiment& experiment, const SconnectFabric& fabric);

/// What is wrong with tables, or "": a destination that cannot be reached (both named), a way that never ends, or
/// resources (a TIC's buffers of a virtual channel) that can wait for one another in a circle, which is shown.
std::string sconnect_table_fault(const SconnectFabric& fabric, const std::vector<u16>& entry);

}  // namespace flitlab
