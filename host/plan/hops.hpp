#pragma once
/// Numbers of hops of routes, or sums of a cost of each hop, for mean_over_packets().
#include <functional>
#include <vector>

#include "host/plan/flows.hpp"
#include "host/topology/metrics.hpp"
#include "host/topology/topology.hpp"

namespace flitlab {

/// Calls hop(router, port, share) for every hop of a minimal route in a mesh or torus, in the order of dimensions, or
/// with `reverse` from the last dimension to the first. Half-way around an even ring both directions are minimal, and
/// each is the route of half of the packets: share = 1/2.
template <class Hop>
void for_each_hop(const Topology& t, u32 from, u32 to, Hop hop, bool reverse = false) {
  const u32 dims = static_cast<u32>(t.shape.size());
  for (u32 i = 0, at = from; i < dims; ++i) {
    const u32 d = reverse ? dims - 1 - i : i;
    const u32 k = t.shape[d], a = t.coordinate(at, d), b = t.coordinate(to, d);
    const u32 plus = (b + k - a) % k, hops = distance_along(a, b, k, t.wraps);
    const bool one_port = t.kind == "hypercube", tie = t.wraps && 2 * hops == k;
    u32 next = at;
    for (u32 way = 0; way < (tie ? 2 : 1); ++way) {
      const bool down = t.wraps ? plus != hops : b < a;
      next = at;
      const u32 port = one_port ? d : 2 * d + (tie ? way : u32{down});
      for (u32 n = 0; n < hops; ++n) {
        hop(next, port, tie ? 0.5 : 1.0);
        next = t.peer(next, port).item;
      }
    }
    at = next;
  }
}

/// Hops of shortest routes in a network with coordinates. `via_any`: each route goes through a random intermediate
/// router (Valiant). `costs`: cost of a hop in each dimension; empty: 1.
class GridHops final : public PairValue {
 public:
  explicit GridHops(const Topology& topology, bool via_any = false, std::vector<double> costs = {});
  double of(u32 source, u32 destination) const override;
  std::function<double(u32 source)> sum_over(const TerminalSet& set) const override;
  bool symmetric() const override { return true; }

 private:
  /// Returns the mean number of hops from a router to all routers.
  double to_any(u32 router) const;

  const Topology& topology_;
  bool via_any_;
  std::vector<double> costs_;
  /// [dims][coordinate] mean distance to all coordinates; only set with `via_any`.
  std::vector<std::vector<double>> to_all_;
};

/// Hops of the routes in a routing table. `port(router, destination router)`: output port of the route. `cost(router,
/// port)`: cost of a hop; null: 1.
class TableHops final : public PairValue {
 public:
  TableHops(const Topology& topology, std::function<u32(u32 router, u32 destination)> port,
            std::function<double(u32 router, u32 port)> cost = nullptr);
  double of(u32 source, u32 destination) const override;
  std::function<double(u32 source)> sum_over(const TerminalSet& set) const override;

 private:
  const Topology& topology_;
  std::function<u32(u32, u32)> port_;
  std::function<double(u32, u32)> cost_;
};

/// Hops of routes that go over a random intermediate router (Valiant) in a network with tables. `hops`:
/// [routers][routers] hops of the table's routes. `part_one(from, via)`: router where the second part of the route
/// begins.
class ViaHops final : public PairValue {
 public:
  ViaHops(const Topology& topology, const std::vector<u8>& hops, std::function<u32(u32 from, u32 via)> part_one)
      : topology_(topology), hops_(hops), part_one_(std::move(part_one)) {}
  double of(u32 source, u32 destination) const override;
  std::function<double(u32 source)> sum_over(const TerminalSet& set) const override;

 private:
  double hops(u32 from, u32 to) const { return hops_[std::size_t{from} * topology_.routers + to]; }
  /// Returns the mean over all intermediate routers of the hops to where the second part begins, plus second(router).
  double mean(u32 from, const std::function<double(u32 router)>& second) const;

  const Topology& topology_;
  const std::vector<u8>& hops_;
  std::function<u32(u32, u32)> part_one_;
};

}  // namespace flitlab
