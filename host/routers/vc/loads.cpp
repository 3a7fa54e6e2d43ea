/// Loads of the channels under the routes of the virtual-channel router, and the ideal throughput.
#include <algorithm>

#include "host/plan/channel_loads.hpp"
#include "host/plan/hops.hpp"
#include "host/plan/not_measured.hpp"
#include "host/routers/vc/plan.hpp"
#include "host/routing/ranks.hpp"
#include "kernels/routers/vc/hyperx_routes.hpp"
#include "kernels/routers/vc/turns.hpp"

namespace flitlab {
namespace {

using Matrix = std::vector<double>;  ///< [routers][routers] flits/cycle

/// Returns the demand in each of the two parts of routes over a random intermediate router: any of the first `vias`.
std::pair<Matrix, Matrix> parts_over_any(const Matrix& demand, u32 routers, u32 vias) {
  Matrix to_via(demand.size()), from_via(demand.size());
  std::vector<double> sent(routers), received(routers);
  for (u32 from = 0; from < routers; ++from)
    for (u32 to = 0; to < routers; ++to) {
      sent[from] += demand[std::size_t{from} * routers + to] / vias;
      received[to] += demand[std::size_t{from} * routers + to] / vias;
    }
  for (u32 via = 0; via < vias; ++via)
    for (u32 router = 0; router < routers; ++router) {
      to_via[std::size_t{router} * routers + via] = sent[router];
      from_via[std::size_t{via} * routers + router] = received[router];
    }
  return {std::move(to_via), std::move(from_via)};
}

/// Calls visit(from, to, flits) for each pair of routers with traffic.
template <class Visit>
void for_each_pair(const Matrix& demand, u32 routers, Visit visit) {
  for (u32 from = 0; from < routers; ++from)
    for (u32 to = 0; to < routers; ++to)
      if (const double flits = demand[std::size_t{from} * routers + to]; flits != 0 && from != to)
        visit(from, to, flits);
}

/// Calls visit(router) for all routers in the box of the shortest routes of a mesh between two routers.
template <class Visit>
void for_each_in_box(const Topology& t, u32 from, u32 to, Visit visit) {
  std::vector<u32> routers{0};
  for (u32 d = 0, stride = 1; d < t.shape.size(); stride *= t.shape[d++]) {
    const u32 a = t.coordinate(from, d), b = t.coordinate(to, d), low = std::min(a, b), high = std::max(a, b);
    std::vector<u32> wider;
    for (u32 router : routers)
      for (u32 at = low; at <= high; ++at) wider.push_back(router + at * stride);
    routers = std::move(wider);
  }
  for (u32 router : routers) visit(router, 1.0 / static_cast<double>(routers.size()));
}

/// Adds the loads of oblivious routes in a network with coordinates. Returns false if routes adapt to loads, or if
/// there are too many.
bool add_grid_loads(ChannelLoads& loads, const Topology& topology, const vc::VcTable& t, const Matrix& demand) {
  const auto add_route = [&](u32 from, u32 to, double flits, bool reverse = false) {
    for_each_hop(
        topology, from, to, [&](u32 router, u32 port, double share) { loads.add(router, port, share * flits); },
        reverse);
  };
  switch (t.algorithm) {
    case vc::Algorithm::kMinimalAdaptive:
      if (t.selection == vc::Selection::kMostCredits) return false;
      [[fallthrough]];  // packets take only the port of their lowest dimension
    case vc::Algorithm::kDimensionOrder: for_each_pair(demand, t.routers, add_route); return true;
    case vc::Algorithm::kO1Turn:
      for_each_pair(demand, t.routers, [&](u32 from, u32 to, double flits) {
        add_route(from, to, flits / 2);
        add_route(from, to, flits / 2, true);
      });
      return true;
    case vc::Algorithm::kRomm: {
      // Each pair may have as many intermediate routers as there are routers.
      constexpr std::size_t kMostRoutes = 20'000'000;
      const auto pairs = demand.size() - static_cast<std::size_t>(std::count(demand.begin(), demand.end(), 0.0));
      if (pairs * t.routers > kMostRoutes) return false;
      for_each_pair(demand, t.routers, [&](u32 from, u32 to, double flits) {
        for_each_in_box(topology, from, to, [&](u32 via, double share) {
          add_route(from, via, share * flits);
          add_route(via, to, share * flits);
        });
      });
      return true;
    }
    case vc::Algorithm::kValiant: {
      const auto [to_via, from_via] = parts_over_any(demand, t.routers, t.terminal_routers);
      for (const Matrix& part : {to_via, from_via}) for_each_pair(part, t.routers, add_route);
      return true;
    }
    default: return false;
  }
}

/// Adds the loads of traffic between routers on routes that may take any of ports(router, destination router).
void add_routes(ChannelLoads& loads, u32 routers, const Matrix& demand, const PortsToward& ports) {
  std::vector<double> from(routers);
  for (u32 to = 0; to < routers; ++to) {
    for (u32 r = 0; r < routers; ++r) from[r] = r == to ? 0 : demand[std::size_t{r} * routers + to];
    loads.add_toward(to, from, [&](u32 router) { return ports(router, to); });
  }
}

/// Adds the loads of routes over a random router of another group (Routing: intermediate = "group").
void add_loads_over_groups(ChannelLoads& loads, const Topology& topology, const vc::VcTable& t, const Matrix& demand,
                           const PortsToward& ports) {
  const u32 n = t.routers;
  Matrix second(demand.size()), ends(n);
  for (u32 from = 0; from < n; ++from) {
    double sent = 0;
    for (u32 to = 0; to < n; ++to) sent += demand[std::size_t{from} * n + to];
    if (sent == 0) continue;
    ends.assign(n, 0);  // part of the packets whose second part begins at a router
    for (u32 via = 0; via < t.terminal_routers; ++via) {
      u32 r = from;
      while (topology.group[r] != topology.group[via]) {
        const u64 set = ports(r, via);  // of several ports, all lead to the same router
        for (u64 rest = set; rest; rest &= rest - 1)
          loads.add(r, lowest_bit(rest), sent / t.terminal_routers / bit_count64(set));
        r = topology.peer(r, lowest_bit(set)).item;
      }
      ends[r] += 1.0 / t.terminal_routers;
    }
    for (u32 middle = 0; middle < n; ++middle)
      for (u32 to = 0; ends[middle] != 0 && to < n; ++to)
        second[std::size_t{middle} * n + to] += ends[middle] * demand[std::size_t{from} * n + to];
  }
  add_routes(loads, n, second, ports);
}

/// Adds the loads of fat-tree routes whose way up follows from the destination terminal.
void add_loads_by_destination(ChannelLoads& loads, const Topology& topology, const vc::VcTable& t,
                              const Demand& demand) {
  struct NoOutputs {};  // these routes do not depend on them
  const NoOutputs none;
  std::vector<double> from(t.routers);
  for (u32 terminal = 0; terminal < t.terminals; ++terminal) {
    const u32 to = topology.terminal_router(terminal);
    for (u32 r = 0; r < t.routers; ++r) from[r] = r == to ? 0 : demand.to_terminal(r, terminal);
    Packet packet{};
    packet.dst = to;
    packet.dst_port = static_cast<u8>(topology.terminal_port(terminal));
    loads.add_toward(to, from, [&](u32 router) {
      const u64 ports = t.shortest[std::size_t{router} * t.routers + to];
      const vc::TableRoutes<vc::VcTable, NoOutputs> routes{t, packet, none, router, 0, 0};
      return ports & (ports - 1) ? u64{1} << routes.up_by_destination(ports) : ports;
    });
  }
}

/// Adds the loads of oblivious routes from tables. Returns false if routes adapt to loads.
bool add_table_loads(ChannelLoads& loads, const Topology& topology, const vc::VcTable& t, const RouteTable& table,
                     const Demand& demand, const Matrix& between) {
  const PortsToward by_table = [&](u32 router, u32 to) { return ports_toward(topology, table, router, to); };
  switch (t.algorithm) {
    case vc::Algorithm::kTable:
    case vc::Algorithm::kUpDown: add_routes(loads, t.routers, between, by_table); return true;
    case vc::Algorithm::kMinimal:
      if (t.shortest)
        add_loads_by_destination(loads, topology, t, demand);
      else
        add_routes(loads, t.routers, between, by_table);
      return true;
    case vc::Algorithm::kNearestCommonAncestor:
      add_routes(loads, t.routers, between,
                 [&](u32 router, u32 to) { return t.shortest[std::size_t{router} * t.routers + to]; });
      return true;
    case vc::Algorithm::kValiant: {
      if (t.intermediate == vc::Intermediate::kGroup && t.group) {
        add_loads_over_groups(loads, topology, t, between, by_table);
        return true;
      }
      const auto [to_via, from_via] = parts_over_any(between, t.routers, t.terminal_routers);
      for (const Matrix& part : {to_via, from_via}) add_routes(loads, t.routers, part, by_table);
      return true;
    }
    default: return false;
  }
}

}  // namespace

double VcPlan::saturation_load_bound() const {
  const vc::VcTable& t = table_;
  const bool open =
      t.mode == TrafficMode::kClasses || (t.mode == TrafficMode::kOpen && t.traffic.injection != Injection::kAllAtOnce);
  if (!open || !Demand::fits(topology_)) return kNotMeasured;
  std::vector<Demand::Part> parts;
  for (const TerminalPlan* plan : traffic_.classes()) parts.push_back({plan->table, plan->mean_flits, plan->share});
  const Demand demand(parts, topology_);
  if (demand.mean_load() == 0) return kNotMeasured;
  const Width width = [&](u32 router, u32 port) {
    if (!t.channel) return 1.0;
    const vc::PortChannel& c = vc::channel_of(t, router, port);
    return static_cast<double>(c.flits) / c.cycles;
  };
  const Matrix between = demand.between_routers();
  ChannelLoads loads(topology_);
  const bool oblivious = t.by_tables ? add_table_loads(loads, topology_, t, routes_.table, demand, between)
                                     : add_grid_loads(loads, topology_, t, between);
  const double busiest = oblivious ? loads.busiest(width) : least_busiest(topology_, between, width);
  // With classes of packets the parts of a load of 1 add up, whichever terminals send them.
  const double load = t.mode == TrafficMode::kClasses ? 1 : demand.mean_load();
  return load / std::max(busiest, demand.busiest_terminal());
}

}  // namespace flitlab
