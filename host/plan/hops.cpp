#include "host/plan/hops.hpp"

#include <memory>
#include <utility>

#include "host/topology/metrics.hpp"

namespace flitlab {

GridHops::GridHops(const Topology& t, bool via_any, std::vector<double> costs)
    : topology_(t), via_any_(via_any), costs_(std::move(costs)) {
  costs_.resize(t.shape.size(), 1.0);
  for (u32 k : t.shape) {
    if (!via_any) break;
    to_all_.push_back(distance_sums(std::vector<double>(k, 1.0 / k), t.wraps));
  }
}

double GridHops::to_any(u32 router) const {
  double hops = 0;
  for (u32 d = 0; d < topology_.shape.size(); ++d) hops += costs_[d] * to_all_[d][topology_.coordinate(router, d)];
  return hops;
}

double GridHops::of(u32 source, u32 destination) const {
  const Topology& t = topology_;
  const u32 from = t.terminal_router(source), to = t.terminal_router(destination);
  if (via_any_) return to_any(from) + to_any(to);
  double hops = 0;
  for (u32 d = 0; d < t.shape.size(); ++d)
    hops += costs_[d] * distance_along(t.coordinate(from, d), t.coordinate(to, d), t.shape[d], t.wraps);
  return hops;
}

std::function<double(u32)> GridHops::sum_over(const TerminalSet& set) const {
  const Topology& t = topology_;
  if (via_any_) {
    double from_any = 0;
    for (u32 destination : set) from_any += to_any(t.terminal_router(destination));
    const double count = static_cast<double>(set.size());
    return [this, from_any, count](u32 source) { return count * to_any(topology_.terminal_router(source)) + from_any; };
  }
  std::vector<std::vector<double>> sums;  // [dims][coordinate] sum of the distances to all members of the set
  for (u32 d = 0; d < t.shape.size(); ++d) {
    std::vector<double> members(t.shape[d]);
    for (u32 destination : set) ++members[t.coordinate(t.terminal_router(destination), d)];
    sums.push_back(distance_sums(members, t.wraps));
  }
  return [this, sums = std::move(sums)](u32 source) {
    double hops = 0;
    for (u32 d = 0; d < sums.size(); ++d)
      hops += costs_[d] * sums[d][topology_.coordinate(topology_.terminal_router(source), d)];
    return hops;
  };
}

TableHops::TableHops(const Topology& topology, std::function<u32(u32, u32)> port, std::function<double(u32, u32)> cost)
    : topology_(topology), port_(std::move(port)), cost_(std::move(cost)) {
  if (!cost_) cost_ = [](u32, u32) { return 1.0; };
}

double TableHops::of(u32 source, u32 destination) const {
  const u32 to = topology_.terminal_router(destination);
  double hops = 0;
  for (u32 r = topology_.terminal_router(source); r != to;) {
    const u32 port = port_(r, to);
    hops += cost_(r, port);
    r = topology_.peer(r, port).item;
  }
  return hops;
}

/// All routes to one router form a tree. So the hops from a router are the hops from its next router and the one to it.
std::function<double(u32)> TableHops::sum_over(const TerminalSet& set) const {
  const Topology& t = topology_;
  std::vector<u32> members(t.routers);
  for (u32 destination : set) ++members[t.terminal_router(destination)];
  const auto sums = std::make_shared<std::vector<double>>(t.routers);
  constexpr double kUnknown = -1;
  std::vector<double> hops(t.routers);
  std::vector<u32> route;
  for (u32 to = 0; to < t.routers; ++to) {
    if (!members[to]) continue;
    hops.assign(t.routers, kUnknown);
    hops[to] = 0;
    for (u32 from = 0; from < t.routers; ++from) {
      route.clear();
      u32 r = from;
      for (; hops[r] == kUnknown; r = t.peer(r, port_(r, to)).item) route.push_back(r);
      for (double known = hops[r]; !route.empty(); route.pop_back())
        hops[route.back()] = known += cost_(route.back(), port_(route.back(), to));
      (*sums)[from] += members[to] * hops[from];
    }
  }
  return [this, sums](u32 source) { return (*sums)[topology_.terminal_router(source)]; };
}

double ViaHops::mean(u32 from, const std::function<double(u32)>& second) const {
  const u32 vias = topology_.terminal_routers();
  double sum = 0;
  for (u32 via = 0; via < vias; ++via) {
    const u32 middle = part_one_(from, via);
    sum += hops(from, middle) + second(middle);
  }
  return sum / vias;
}

double ViaHops::of(u32 source, u32 destination) const {
  const u32 to = topology_.terminal_router(destination);
  return mean(topology_.terminal_router(source), [&](u32 middle) { return hops(middle, to); });
}

std::function<double(u32)> ViaHops::sum_over(const TerminalSet& set) const {
  std::vector<double> sums(topology_.routers);  // [router] hops to all members of the set
  for (u32 r = 0; r < topology_.routers; ++r)
    for (u32 destination : set) sums[r] += hops(r, topology_.terminal_router(destination));
  const auto of_router = std::make_shared<std::vector<double>>(topology_.routers);
  const double count = static_cast<double>(set.size());
  const u32 sources = topology_.terminal_routers(), vias = sources;
  for (u32 from = 0; from < sources; ++from) {
    double total = 0;
    for (u32 via = 0; via < vias; ++via) {
      const u32 middle = part_one_(from, via);
      total += count * hops(from, middle) + sums[middle];
    }
    (*of_router)[from] = total / vias;
  }
  return [this, of_router](u32 source) { return (*of_router)[topology_.terminal_router(source)]; };
}

}  // namespace flitlab
