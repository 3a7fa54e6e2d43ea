#pragma once
/// Numbers of hops of routes, or sums of a cost of each hop, for mean_over_packets().
#include <functional>
#include <vector>

#include "host/plan/flows.hpp"
#include "host/topology/topology.hpp"

namespace flitlab {

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
