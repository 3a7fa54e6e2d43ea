#include "host/routers/vc/routes.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/config/memory.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/vc/table.hpp"
#include "host/routing/ranks.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/vc/hyperx_routes.hpp"
#include "kernels/routers/vc/params.hpp"

namespace flitlab::vc {

using flitlab::param::networks;

namespace {

/// Returns whether the user gives the routes.
bool has_table_file(const Experiment& e) {
  return e.has(param::routing.table_file) && !e.str(param::routing.table_file).empty();
}

/// Returns shortest routes whose classes are layers, or the routes of a table file.
Routes layered_routes(const Experiment& e, const Topology& topology, u32 vcs) {
  Routes routes;
  const ParamRecord& file = param::routing.table_file;
  if (has_table_file(e)) {
    routes.table = read_table(file.path, e.text(file), topology, vcs);
  } else {
    try {
      routes.table = shortest_path_table(topology, vcs);
    } catch (const TooFewLayers& why) {
      routes.table = up_down_table(topology);
      routes.table.layer.assign(routes.table.port.size(), 0);
      routes.warnings.push_back(std::string(why.what()) +
                                " With so few, packets take up*/down* routes, which need one layer and can be longer; "
                                "routing.algorithm = \"minimal\" is another way to shortest routes.");
    }
  }
  routes.classes = routes.table.layers;
  return routes;
}

/// Returns the ranks of the channels that enter, by the port where they enter.
std::vector<u16> entering(const Topology& t, const Ranks& ranks) {
  std::vector<u16> entering(ranks.size());
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.network_ports; ++p)
      if (const Peer& peer = t.peer(r, p); peer.item != kNone)
        entering[std::size_t{r} * t.network_ports + p] = ranks[std::size_t{peer.item} * t.network_ports + peer.port];
  return entering;
}

/// Returns the ports of a HyperX router in each dimension. All routers number their ports alike.
std::vector<PortSet> ports_of_dimensions(const Topology& topology) {
  std::vector<PortSet> ports;
  for (u32 p = 0; p < topology.network_ports; ++p) {
    const u32 dim = topology.rank[p];
    if (dim >= ports.size()) ports.resize(dim + 1);
    ports[dim] |= PortSet{1} << p;
  }
  return ports;
}

/// Sets what the routing algorithms of HyperX networks need in addition to shortest routes.
void set_deroutes(Routes& routes, const Experiment& e, const Topology& topology, const VcTable& t) {
  routes.hops = hops_of(topology, routes.table);
  routes.dim_ports = ports_of_dimensions(topology);
  if (routes.dim_ports.size() > kMaxHyperxDims)
    throw ConfigError("topology.shape: DAL, DimWAR and OmniWAR support at most " + std::to_string(kMaxHyperxDims) +
                      " dimensions. Use fewer, or routing.algorithm = \"ugal_l\".");
  const u32 dims = *std::max_element(routes.hops.begin(), routes.hops.end()), vcs = fewest_vcs_of_class(e);
  // OmniWAR uses all VCs that there are, at least one for each hop of a shortest route.
  routes.classes = t.algorithm == Algorithm::kDimWar ? 2
                   : t.algorithm == Algorithm::kDal  ? 2 * dims
                                                     : std::max(dims, vcs);
}

/// Returns whether packets choose among all shortest routes: in fat trees.
bool chooses_of_shortest(const Topology& topology, const VcTable& t) {
  return t.algorithm == Algorithm::kAdaptive || t.algorithm == Algorithm::kNearestCommonAncestor ||
         (t.algorithm == Algorithm::kMinimal && topology.kind == "fat_tree");
}

/// Returns routes whose classes follow from ranks of channels.
Routes ranked_routes(const Experiment& e, const Topology& topology, const VcTable& t) {
  Routes routes;
  const std::size_t pairs = std::size_t{t.routers} * t.routers;
  require_memory(size_text(e), pairs * 18, "Routing tables have an entry for every pair of routers.");
  const bool tree = t.algorithm == Algorithm::kUpDown || t.algorithm == Algorithm::kMinimalAdaptive;
  routes.rank = tree || topology.rank.empty() ? tree_ranks(topology) : topology.rank;
  routes.rank_in = entering(topology, routes.rank);
  std::vector<u64> shortest;
  const ParamRecord& file = param::routing.table_file;
  if (has_table_file(e))
    shortest = read_port_sets(file.path, e.text(file), topology);
  else if (t.algorithm != Algorithm::kUpDown)
    shortest = shortest_ports(topology);
  routes.table = tree ? up_down_table(topology) : shortest_table(topology, routes.rank, shortest);
  if (deroutes(t.algorithm)) {
    set_deroutes(routes, e, topology, t);
  } else if (goes_via(t)) {
    routes.hops = hops_of(topology, routes.table);
    routes.classes =
        classes_via(topology, routes.rank, routes.table, t.intermediate == Intermediate::kGroup && t.group);
    // A packet that changes to the longer route after its first hop may have changed its class there.
    if (t.algorithm == Algorithm::kPar) ++routes.classes;
  } else if (t.algorithm == Algorithm::kMinimalAdaptive) {
    routes.classes = 2;
  } else {
    const bool any = chooses_of_shortest(topology, t);
    routes.classes = classes_of_routes(topology, routes.rank, [&](u32 router, u32 to) {
      return any ? shortest[std::size_t{router} * t.routers + to] : ports_toward(topology, routes.table, router, to);
    });
  }
  if (chooses_of_shortest(topology, t) || t.algorithm == Algorithm::kMinimalAdaptive || deroutes(t.algorithm))
    routes.shortest = std::move(shortest);
  return routes;
}

}  // namespace

void set_tree(VcTable& t, const Experiment& e) {
  if (!e.has(networks.children)) return;
  u32 stride = 1, level = 0;
  t.tree_stride[level++] = stride;
  stride = t.concentration;
  for (u32 children : e.ints(networks.children)) {
    if (level < kMaxTreeLevels) t.tree_stride[level++] = stride;
    stride *= children;
  }
}

Routes make_routes(const Experiment& e, const Topology& topology, const VcTable& t) {
  const u32 vcs = fewest_vcs_of_class(e);
  Routes routes = t.algorithm == Algorithm::kTable ? layered_routes(e, topology, vcs) : ranked_routes(e, topology, t);
  if (routes.classes > vcs) {
    check_class_ranges(e, routes.classes);
    throw ConfigError("router.vcs = " + std::to_string(t.vcs) + " is too few: " + quoted(e, param::routing.algorithm) +
                      " on this " + topology.kind + message_classes_text(e) + " needs at least " +
                      std::to_string(routes.classes * t.message_classes) + " to avoid deadlock. " +
                      (routes.classes * t.message_classes <= kMaxVcs ? "Raise router.vcs, or use" : "Use") +
                      " routing.algorithm = \"up_down\", which needs " + std::to_string(t.message_classes) + ".");
  }
  if (routes.shortest.empty() && has_parallel_ports(routes.table))
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 p = 0; p < t.network_ports; ++p) routes.parallel.push_back(topology.parallel_ports(r, p));
  return routes;
}

void set_routes(VcTable& t, const Routes& routes) {
  const auto set = [](auto*& array, const auto& values) { array = values.empty() ? nullptr : values.data(); };
  set(t.next_port, routes.table.port);
  set(t.layer, routes.table.layer);
  set(t.parallel, routes.parallel);
  set(t.shortest, routes.shortest);
  set(t.rank, routes.rank);
  set(t.rank_in, routes.rank_in);
  set(t.hops, routes.hops);
  std::copy(routes.dim_ports.begin(), routes.dim_ports.end(), t.dim_ports);
  t.hop_classes = routes.classes;
  t.adapts = t.parallel || deroutes(t.algorithm) || t.algorithm == Algorithm::kMinimalAdaptive ||
             (t.algorithm == Algorithm::kAdaptive && t.selection != Selection::kTwoRandom);
}

}  // namespace flitlab::vc
