#pragma once
/// Distances in a network.
#include <algorithm>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Returns the router-to-router channels on a shortest path from `from` to every router.
std::vector<u32> hops_from(const Topology& topology, u32 from);

/// Returns the hops between two coordinates of a dimension of radix `k`.
inline u32 distance_along(u32 a, u32 b, u32 k, bool wraps) {
  const u32 direct = a < b ? b - a : a - b;
  return wraps ? std::min(direct, k - direct) : direct;
}

/// Returns, for every coordinate a of a dimension, the sum over all b of weight[b] x hops from a to b, in linear time.
std::vector<double> distance_sums(const std::vector<double>& weight, bool wraps);

/// Distances of the topology: shortest paths between the routers, independent of traffic and routing.
struct DistanceMetrics {
  u32 diameter = 0;
  double mean_hops = 0;  ///< over all pairs of routers, pairs of a router with itself included
};

DistanceMetrics distance_metrics(const Topology& topology);

}  // namespace flitlab
