/// The topology of an experiment.
#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "host/config/topology_params.hpp"
#include "host/config/value.hpp"
#include "host/plan/plan.hpp"
#include "host/topology/families.hpp"
#include "host/topology/galois.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

using param::networks;

constexpr u32 kMostRouters = 16384;  ///< of networks with tables, which have an entry for every pair of routers

std::string given(const Experiment& e, const ParamRecord& p) { return std::string(p.path) + " = " + shown(e.at(p)); }

/// Throws ConfigError if a network would have too many routers or terminals, or its routers too many ports. Called
/// before the links are listed, because there can be billions.
void check_sizes(const Experiment& e, const ParamRecord& size, double routers, double channels) {
  const u32 terminals = e.u32_of(networks.concentration);
  if (routers > kMostRouters)
    throw ConfigError(given(e, size) + " makes a network of " + to_text(Value{routers}) + " routers; at most " +
                      std::to_string(kMostRouters) + " are supported without a grid. Use smaller numbers.");
  if (channels + terminals > kMostGraphPorts)
    throw ConfigError(given(e, size) + ": a router has " + std::to_string(static_cast<u64>(channels)) +
                      " channels; at most " + std::to_string(kMostGraphPorts - terminals) + " are supported with " +
                      std::to_string(terminals) + " terminals. Use smaller numbers.");
}

GroupSizes groups_of(const Experiment& e) {
  const GroupSizes sizes{e.u32_of(networks.groups), e.u32_of(networks.group_routers),
                         e.u32_of(networks.global_channels), e.choice<Arrangement>(networks.arrangement)};
  if (const std::string why = misfit(sizes); !why.empty())
    throw ConfigError(given(e, networks.groups) + " does not fit: " + why);
  const bool megafly = e.str(networks.kind) == "megafly";
  check_sizes(e, networks.group_routers, double(sizes.groups) * sizes.routers * (megafly ? 2 : 1),
              sizes.routers - (megafly ? 0.0 : 1.0) + sizes.global);
  return sizes;
}

/// Returns a parameter that is the order of a finite field. `of_form`: all orders are 4w + 1.
u32 order_of(const Experiment& e, const ParamRecord& p, u32 least, bool of_form = false) {
  const u32 q = e.u32_of(p);
  const auto fits = [&](u32 n) { return n >= least && is_prime_power(n) && (!of_form || n % 4 == 1); };
  if (fits(q)) return q;
  u32 below = q, above = std::max(q, least);
  while (below >= least && !fits(below)) --below;
  while (!fits(above)) ++above;
  throw ConfigError(given(e, p) + " does not fit: the order of a finite field is a prime power" +
                    (of_form ? " 4w + 1" : "") + ", here at least " + std::to_string(least) + ". Use " +
                    (below >= least ? std::to_string(below) + " or " : "") + std::to_string(above) + ".");
}

Links polarstar_of(const Experiment& e) {
  const u32 q = order_of(e, networks.order, 2), supernode = order_of(e, networks.supernode, 5, true);
  check_sizes(e, networks.order, (double(q) * q + q + 1) * supernode, q + 1.0 + (supernode - 1) / 2.0);
  return polarstar(q, supernode);
}

Links cmesh_of(const Experiment& e) {
  const std::vector<u32> shape = e.ints(networks.shape);
  double routers = 1;
  for (u32 radix : shape) routers *= radix;
  check_sizes(e, networks.shape, routers, 4.0 * static_cast<double>(shape.size()));
  return cmesh(shape, e.u32_of(networks.express));
}

Links jellyfish_of(const Experiment& e) {
  const u32 routers = e.u32_of(networks.routers), degree = e.u32_of(networks.degree);
  if (degree >= routers || routers * degree % 2)
    throw ConfigError(given(e, networks.degree) + " does not fit " + given(e, networks.routers) +
                      ": it must be less than the number of routers, and routers x degree must be even.");
  check_sizes(e, networks.degree, routers, degree);
  return jellyfish(routers, degree, static_cast<u64>(e.i64(networks.seed)));
}

Links fat_tree_of(const Experiment& e) {
  const std::vector<u32> children = e.ints(networks.children), parents = e.ints(networks.parents);
  if (children.size() != parents.size() || children.empty())
    throw ConfigError(given(e, networks.parents) + " does not fit " + given(e, networks.children) +
                      ": both lists have a number for each level above the first.");
  double routers = 0, channels = 0;
  for (std::size_t level = 0; level <= children.size(); ++level) {
    double of_level = 1;
    for (std::size_t j = 0; j < children.size(); ++j) of_level *= j < level ? parents[j] : children[j];
    routers += of_level;
    const double down = level ? children[level - 1] : 0, up = level < parents.size() ? parents[level] : 0;
    channels = std::max(channels, down + up);
  }
  constexpr std::size_t kMost = 8;
  if (children.size() > kMost)
    throw ConfigError(given(e, networks.children) + " makes " + std::to_string(children.size() + 1) +
                      " levels of routers; at most " + std::to_string(kMost + 1) + " are supported.");
  check_sizes(e, networks.children, routers, channels);
  return fat_tree(children, parents);
}

/// Gives the channels between chips their delay and width.
void set_chips(const Experiment& e, Topology& t) {
  const std::vector<u32> chip = e.ints(networks.chip_shape);
  bool fits = chip.size() == t.shape.size();
  for (std::size_t d = 0; fits && d < chip.size(); ++d) fits = t.shape[d] % chip[d] == 0;
  if (!fits)
    throw ConfigError(given(e, networks.chip_shape) + " does not fit " + given(e, networks.shape) +
                      ": give a number for each dimension, of which the number of routers is a multiple.");
  Channel between;
  between.delay = static_cast<u16>(e.u32_of(networks.chip_delay));
  set_width(between, e.f64(networks.chip_width), std::string(networks.chip_width.path));
  t.own_channels.resize(std::size_t{t.routers} * t.network_ports);
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.network_ports; ++p) {
      const u32 d = t.dimension_of(p), next = t.peer(r, p).item;
      if (next == kNone) continue;
      const u32 from = t.coordinate(r, d), to = t.coordinate(next, d);
      const bool wraps = (p % 2 == 0) != (to > from);
      if (wraps || from / chip[d] != to / chip[d]) t.own_channels[std::size_t{r} * t.network_ports + p] = between;
    }
}

Links hyperx_of(const Experiment& e, const std::string& kind) {
  const std::vector<u32> shape = e.ints(networks.shape);
  const u32 copies = e.u32_of(networks.copies);
  double routers = 1, channels = 0;
  for (u32 radix : shape) {
    routers *= radix;
    channels += double(radix - 1) * copies;
  }
  check_sizes(e, networks.shape, routers, channels);
  Links links = hyperx(shape, copies);
  links.kind = kind;
  return links;
}

/// Returns the links of a network that is not a grid.
Links links_of(const Experiment& e, const std::string& kind) {
  if (kind == "full_mesh") {
    check_sizes(e, networks.routers, e.u32_of(networks.routers), e.u32_of(networks.routers) - 1.0);
    return full_mesh(e.u32_of(networks.routers));
  }
  if (kind == "fat_tree") return fat_tree_of(e);
  if (kind == "dragonfly") return dragonfly(groups_of(e));
  if (kind == "megafly") return megafly(groups_of(e));
  if (kind == "slim_fly") return slim_fly(order_of(e, networks.order, 3));
  if (kind == "polarfly") return polarfly(order_of(e, networks.order, 2));
  if (kind == "polarstar") return polarstar_of(e);
  if (kind == "cmesh") return cmesh_of(e);
  if (kind == "jellyfish") return jellyfish_of(e);
  return hyperx_of(e, kind);
}

Topology graph_of(const Experiment& e) {
  // Other models with graphs have neither parameter.
  const u32 given_routers = e.has(networks.terminal_routers) ? e.u32_of(networks.terminal_routers) : 0;
  Topology t = make_graph(e.text(networks.file), e.u32_of(networks.concentration), given_routers);
  if (!e.has(networks.places) || e.is_single(networks.places)) return t;
  const std::vector<double> places = e.numbers(networks.places);
  if (places.size() != 2 * std::size_t{t.routers})
    throw ConfigError("topology.places has " + std::to_string(places.size()) +
                      " numbers: give x and y of each of the " + std::to_string(t.routers) + " routers.");
  for (u32 r = 0; r < t.routers; ++r)
    t.place.push_back("at " + shown(Value{places[2 * r]}) + "," + shown(Value{places[2 * r + 1]}));
  return t;
}

/// Returns the network without failures.
Topology whole_topology(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  const u32 concentration = e.u32_of(param::topology.concentration);
  if (kind == "graph") return graph_of(e);
  if (kind == "hypercube") return make_hypercube(e.u32_of(param::topology.dimensions), concentration);
  if (kind == "mesh") return make_mesh(e.ints(param::topology.shape), concentration);
  if (kind == "chiplet_mesh" || kind == "chiplet_torus") {
    const std::vector<u32> shape = e.ints(networks.shape);
    Topology t = kind == "chiplet_mesh" ? make_mesh(shape, concentration) : make_torus(shape, concentration);
    t.kind = kind;
    set_chips(e, t);
    return t;
  }
  if (is_grid(e)) return make_torus(e.ints(param::topology.shape), concentration);
  Links links = links_of(e, kind);
  links.concentration = concentration;
  return make_network(links, quoted(e, param::topology.kind));
}

}  // namespace

Topology make_topology(const Experiment& e) {
  Topology topology = whole_topology(e);
  if (!has_failures(e)) return topology;
  const Failures failures{e.ints(networks.failed_links), e.u32_of(networks.random_failures),
                          e.has(networks.failure_seed) ? static_cast<u64>(e.i64(networks.failure_seed)) : 0,
                          e.ints(networks.failed_routers)};
  if (topology.routers > kMostRouters)
    throw ConfigError(size_text(e) + " makes a network of " + std::to_string(topology.routers) +
                      " routers; networks with failed links or routers have at most " + std::to_string(kMostRouters) +
                      ".");
  return without_failed(
      topology, failures,
      given(e, failures.pairs.empty() && !failures.routers.empty() ? networks.failed_routers : networks.failed_links));
}

}  // namespace flitlab
