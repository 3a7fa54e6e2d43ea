#pragma once
/// Distances in a network.
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Router-to-router channels on a shortest path from `from` to every router.
std::vector<u32> hops_from(const Topology& topology, u32 from);

struct DistanceMetrics {
  u32 diameter = 0;
  double mean_hops = 0;  ///< under uniform traffic in which a terminal may send to itself
};

DistanceMetrics distance_metrics(const Topology& topology);

}  // namespace flitlab
