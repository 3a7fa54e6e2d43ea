#pragma once
/// Distances in a network.
#include <algorithm>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// Returns for every router the number of router-to-router channels on a shortest path from router `from`.
std::vector<u32> hops_from(const Topology& topology, u32 from);

/// Returns the hops between coordinates `a` and `b` in a dimension of radix `k`. `wraps`: the dimension is a ring.
inline u32 distance_along(u32 a, u32 b, u32 k, bool wraps) {
  const u32 direct = a < b ? b - a : a - b;
  return wraps ? std::min(direct, k - direct) : direct;
}

/// Returns for every coordinate a of a dimension the sum over all coordinates b of weight[b] x (hops from a to b).
/// Takes linear time.
std::vector<double> distance_sums(const std::vector<double>& weight, bool wraps);

/// Distances of a topology on shortest paths between routers. They do not depend on traffic and routing.
struct DistanceMetrics {
  u32 diameter = 0;
  double mean_hops = 0;  ///< mean over all pairs of routers, including pairs of a router with itself
};

DistanceMetrics distance_metrics(const Topology& topology);

}  // namespace flitlab
