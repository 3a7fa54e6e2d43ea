#include "host/topology/metrics.hpp"

#include <algorithm>
#include <numeric>

namespace flitlab {

std::vector<u32> hops_from(const Topology& t, u32 from) {
  std::vector<u32> hops(t.routers, kNone), queue{from};
  hops[from] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const u32 r = queue[head];
    for (u32 p = 0; p < t.network_ports; ++p) {
      const u32 next = t.peer(r, p).item;
      if (next == kNone || hops[next] != kNone) continue;
      hops[next] = hops[r] + 1;
      queue.push_back(next);
    }
  }
  return hops;
}

std::vector<double> distance_sums(const std::vector<double>& weight, bool wraps) {
  // below[m]: sum of weight[i] for i < m. moment[m]: sum of i x weight[i] for i < m. Coordinates go round the ring
  // twice.
  const std::size_t k = weight.size();
  std::vector<double> below(2 * k + 1), moment(2 * k + 1), sums(k);
  for (std::size_t m = 0; m < 2 * k; ++m) {
    const double w = weight[m < k ? m : m - k];
    below[m + 1] = below[m] + w;
    moment[m + 1] = moment[m] + static_cast<double>(m) * w;
  }
  for (std::size_t a = 0; a < k; ++a) {
    const double at = static_cast<double>(a);
    if (!wraps) {
      sums[a] = at * below[a] - moment[a] + moment[k] - moment[a] - at * (below[k] - below[a]);
      continue;
    }
    // From coordinate `middle` on, the other direction is shorter.
    const std::size_t middle = a + k / 2 + 1, end = a + k;
    sums[a] = moment[middle] - moment[a] - at * (below[middle] - below[a]) +
              (at + static_cast<double>(k)) * (below[end] - below[middle]) - (moment[end] - moment[middle]);
  }
  return sums;
}

DistanceMetrics distance_metrics(const Topology& t) {
  DistanceMetrics metrics;
  if (!t.grid) {
    u64 sum = 0;
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 hops : hops_from(t, r)) {
        sum += hops;
        metrics.diameter = std::max(metrics.diameter, hops);
      }
    metrics.mean_hops = static_cast<double>(sum) / (static_cast<double>(t.routers) * t.routers);
    return metrics;
  }
  for (u32 k : t.shape) {  // the distances in all dimensions are added
    const std::vector<double> sums = distance_sums(std::vector<double>(k, 1.0), t.wraps);
    metrics.mean_hops += std::accumulate(sums.begin(), sums.end(), 0.0) / (static_cast<double>(k) * k);
    metrics.diameter += t.wraps ? k / 2 : k - 1;
  }
  return metrics;
}

}  // namespace flitlab
