#include "host/plan/channel_loads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "kernels/common/bits.hpp"

namespace flitlab {
namespace {

constexpr double kEqual = 1e-9;  ///< relative difference up to which two prices of routes are equal

/// Prices of the cheapest routes to one router, and the channels that lie on them.
class CheapestRoutes {
 public:
  CheapestRoutes(const Topology& topology, const std::vector<double>& price) : t_(topology), price_(price) {
    into_.resize(t_.routers);
    for (u32 r = 0; r < t_.routers; ++r)
      for (u32 p = 0; p < t_.network_ports; ++p)
        if (const u32 next = t_.peer(r, p).item; next != kNone) into_[next].push_back({r, p});
  }

  /// Finds the routes to a router (Dijkstra).
  void find(u32 to) {
    cost_.assign(t_.routers, std::numeric_limits<double>::infinity());
    nearest_first_.clear();
    std::vector<bool> done(t_.routers);
    using Entry = std::pair<double, u32>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    cost_[to] = 0;
    queue.push({0, to});
    while (!queue.empty()) {
      const auto [cost, router] = queue.top();
      queue.pop();
      if (done[router]) continue;
      done[router] = true;
      nearest_first_.push_back(router);
      for (const auto& [before, port] : into_[router]) {
        const double with_hop = cost + price_of(before, port);
        if (with_hop >= cost_[before]) continue;
        cost_[before] = with_hop;
        queue.push({with_hop, before});
      }
    }
  }

  double cost(u32 router) const { return cost_[router]; }
  const std::vector<u32>& nearest_first() const { return nearest_first_; }
  /// Returns the ports of a router at which a cheapest route continues, as bits.
  u64 ports(u32 router) const {
    u64 set = 0;
    for (u32 p = 0; p < t_.network_ports; ++p)
      if (const u32 next = t_.peer(router, p).item; next != kNone)
        set |= u64{cost_[next] + price_of(router, p) <= cost_[router] * (1 + kEqual)} << p;
    return set;
  }

 private:
  double price_of(u32 router, u32 port) const { return price_[std::size_t{router} * t_.network_ports + port]; }

  const Topology& t_;
  const std::vector<double>& price_;
  std::vector<std::vector<std::pair<u32, u32>>> into_;  ///< [routers] channels (router, port) into the router
  std::vector<double> cost_;                            ///< [routers]
  std::vector<u32> nearest_first_;
};

/// Divides the traffic to one router at each router evenly among ports. `order`: routers, none before one to which it
/// sends.
template <class Ports>
void divide(const Topology& t, ChannelLoads& loads, const std::vector<u32>& order, std::vector<double> here, u32 to,
            const Ports& ports) {
  for (u32 router : order) {
    if (router == to || here[router] == 0) continue;
    const u64 set = ports(router);
    const double each = here[router] / bit_count64(set);
    for (u64 rest = set; rest; rest &= rest - 1) {
      const u32 port = lowest_bit(rest);
      loads.add(router, port, each);
      here[t.peer(router, port).item] += each;
    }
  }
}

/// Returns the load of the channels that leave a set of routers, or the load of the channels that enter it if that is
/// larger, as a part of their width.
double load_of_cut(const Topology& t, const std::vector<u32>& set, const std::vector<double>& demand,
                   const Width& width) {
  std::vector<bool> inside(t.routers);
  for (u32 r : set) inside[r] = true;
  double sent = 0, received = 0, leaving = 0, entering = 0;
  for (u32 r : set) {
    for (u32 other = 0; other < t.routers; ++other)
      if (!inside[other]) {
        sent += demand[std::size_t{r} * t.routers + other];
        received += demand[std::size_t{other} * t.routers + r];
      }
    for (u32 p = 0; p < t.network_ports; ++p)
      if (const Peer& peer = t.peer(r, p); peer.item != kNone && !inside[peer.item]) {
        leaving += width(r, p);
        entering += width(peer.item, peer.port);
      }
  }
  return std::max(leaving ? sent / leaving : 0, entering ? received / entering : 0);
}

/// Calls visit(routers) for sets of routers with few channels to the others.
template <class Visit>
void for_each_cut(const Topology& t, Visit visit) {
  std::vector<u32> set;
  const auto visit_if = [&](auto is_member) {
    set.clear();
    for (u32 r = 0; r < t.routers; ++r)
      if (is_member(r)) set.push_back(r);
    visit(set);
  };
  for (u32 r = 0; r < t.routers; ++r) visit(set = {r});
  const u32 groups = t.group.empty() ? 0u : *std::max_element(t.group.begin(), t.group.end()) + 1u;
  for (u32 g = 0; g < groups; ++g) visit_if([&](u32 r) { return t.group[r] == g; });
  constexpr u32 kMostParts = 16;  // of a ring, from any coordinate to any other
  for (u32 d = 0; t.has_coordinates() && d < t.shape.size(); ++d)
    for (u32 low = 0; low < (t.shape[d] <= kMostParts ? t.shape[d] : 1); ++low)
      for (u32 high = low; high < t.shape[d]; ++high)
        visit_if([&](u32 r) { return low <= t.coordinate(r, d) && t.coordinate(r, d) <= high; });
}

}  // namespace

Demand::Demand(const std::vector<Part>& parts, const Topology& topology)
    : topology_(topology), flits_(std::size_t{topology.routers} * topology.terminals) {
  std::vector<double> arriving(topology.terminals), leaving(topology.terminals);
  for (const Part& part : parts) {
    const Destinations destinations(part.traffic);
    for (u32 source = 0; source < topology.terminals; ++source) {
      // A rate of its own is in packets per cycle.
      const double load = part.share * destinations.rate(source) * (part.traffic.rates ? part.mean_flits : 1);
      if (load == 0) continue;
      leaving[source] += load;
      double* row = &flits_[std::size_t{topology.terminal_router(source)} * topology.terminals];
      const auto add = [&](u32 destination, double share) {
        row[destination] += load * share;
        arriving[destination] += load * share;
      };
      destinations.visit(source, add, [&](u32 set, double share) {
        for (u32 destination : destinations.sets()[set]) add(destination, share);
      });
    }
  }
  u32 senders = 0;
  for (double flits : leaving) {
    senders += flits > 0;
    mean_load_ += flits;
    busiest_terminal_ = std::max(busiest_terminal_, flits);
  }
  for (double flits : arriving) busiest_terminal_ = std::max(busiest_terminal_, flits);
  if (senders) mean_load_ /= senders;
}

std::vector<double> Demand::between_routers() const {
  std::vector<double> demand(std::size_t{topology_.routers} * topology_.routers);
  for (u32 source = 0; source < topology_.routers; ++source)
    for (u32 terminal = 0; terminal < topology_.terminals; ++terminal)
      demand[std::size_t{source} * topology_.routers + topology_.terminal_router(terminal)] +=
          to_terminal(source, terminal);
  return demand;
}

void ChannelLoads::add_toward(u32 to, const std::vector<double>& from, const std::function<u64(u32 router)>& ports) {
  constexpr u32 kUnknown = kNone;
  std::vector<u32> hops(topology_.routers, kUnknown), route;
  hops[to] = 0;
  for (u32 source = 0; source < topology_.routers; ++source) {
    if (from[source] == 0) continue;
    // All ports lead equally close, so that a router's hops follow from any of them. But they lead to different
    // routers, and each of these needs its hops, too.
    route.assign(1, source);
    while (!route.empty()) {
      const u32 router = route.back();
      u32 behind = 0;
      bool known = hops[router] != kUnknown;
      for (u64 set = known ? 0 : ports(router); set; set &= set - 1) {
        const u32 next = topology_.peer(router, lowest_bit(set)).item;
        if (hops[next] == kUnknown) route.push_back(next);
        behind = hops[next];
      }
      if (route.back() != router) continue;
      route.pop_back();
      if (!known) hops[router] = behind + 1;
    }
  }
  std::vector<u32> order;
  for (u32 router = 0; router < topology_.routers; ++router)
    if (hops[router] != kUnknown) order.push_back(router);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return hops[a] > hops[b]; });
  divide(topology_, *this, order, from, to, ports);
}

double ChannelLoads::busiest(const Width& width) const {
  double most = 0;
  for (u32 r = 0; r < topology_.routers; ++r)
    for (u32 p = 0; p < topology_.network_ports; ++p)
      if (const double load = of(r, p); load > 0) most = std::max(most, load / width(r, p));
  return most;
}

double least_busiest(const Topology& t, const std::vector<double>& demand, const Width& width) {
  const std::size_t channels = std::size_t{t.routers} * t.network_ports;
  std::vector<double> price(channels), widths(channels);
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.network_ports; ++p)
      if (t.peer(r, p).item != kNone) {
        const std::size_t c = std::size_t{r} * t.network_ports + p;
        widths[c] = width(r, p);
        price[c] = 1 / widths[c];
      }
  constexpr double kWork = 1e7;  // visits of channels: about a second
  const int steps =
      std::clamp(static_cast<int>(kWork / (static_cast<double>(t.routers) * static_cast<double>(channels))), 1, 400);
  double bound = 0;
  for_each_cut(t, [&](const std::vector<u32>& set) { bound = std::max(bound, load_of_cut(t, set, demand, width)); });
  std::vector<double> total(channels), from(t.routers);
  for (int step = 1; step <= steps; ++step) {
    CheapestRoutes routes(t, price);
    ChannelLoads loads(t);
    double costs = 0;
    for (u32 to = 0; to < t.routers; ++to) {
      double any = 0;
      for (u32 r = 0; r < t.routers; ++r) any += from[r] = r == to ? 0 : demand[std::size_t{r} * t.routers + to];
      if (any == 0) continue;
      routes.find(to);
      for (u32 r = 0; r < t.routers; ++r)
        if (from[r] != 0) costs += from[r] * routes.cost(r);
      const std::vector<u32> farthest_first(routes.nearest_first().rbegin(), routes.nearest_first().rend());
      divide(t, loads, farthest_first, from, to, [&](u32 router) { return routes.ports(router); });
    }
    const double earned = std::inner_product(price.begin(), price.end(), widths.begin(), 0.0);
    bound = std::max(bound, costs / earned);
    const double busiest = loads.busiest(width);
    if (busiest == 0) return 0;
    double known = 0;  // load of the busiest channel if traffic divides evenly among the routes of all steps so far
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 p = 0; p < t.network_ports; ++p) {
        const std::size_t c = std::size_t{r} * t.network_ports + p;
        if (!widths[c]) continue;
        total[c] += loads.of(r, p);
        known = std::max(known, total[c] / widths[c] / step);
        price[c] *= std::exp(0.5 / std::sqrt(step) * loads.of(r, p) / widths[c] / busiest);
      }
    if (known <= bound * 1.01) break;
  }
  return bound;
}

}  // namespace flitlab
