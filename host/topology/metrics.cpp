#include "host/topology/metrics.hpp"

#include <algorithm>

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

DistanceMetrics distance_metrics(const Topology& t) {
  DistanceMetrics metrics;
  if (t.kind == "graph") {
    u64 sum = 0;
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 hops : hops_from(t, r)) {
        sum += hops;
        metrics.diameter = std::max(metrics.diameter, hops);
      }
    metrics.mean_hops = static_cast<double>(sum) / (static_cast<double>(t.routers) * t.routers);
    return metrics;
  }
  for (u32 k : t.shape) {  // dimensions add up, and each is a short sum
    u64 sum = 0;
    u32 longest = 0;
    for (u32 a = 0; a < k; ++a)
      for (u32 b = 0; b < k; ++b) {
        const u32 direct = a < b ? b - a : a - b, hops = t.wraps ? std::min(direct, k - direct) : direct;
        sum += hops;
        longest = std::max(longest, hops);
      }
    metrics.mean_hops += static_cast<double>(sum) / (static_cast<double>(k) * k);
    metrics.diameter += longest;
  }
  return metrics;
}

}  // namespace flitlab
