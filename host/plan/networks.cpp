/// The topology of an experiment.
#include <algorithm>
#include <cmath>

#include "host/config/cross_checks.hpp"
#include "host/config/topology_params.hpp"
#include "host/config/value.hpp"
#include "host/plan/plan.hpp"
#include "host/topology/families.hpp"
#include "host/topology/galois.hpp"
#include "host/topology/links.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

using param::networks;

constexpr u32 kMostRouters = 16384;  ///< of networks with tables, which have an entry for every pair of routers

std::string given(const Experiment& e, const ParamRecord& p) { return std::string(p.path) + " = " + shown(e.at(p)); }

/// Size of a network.
struct Size {
  double routers;
  double channels;  ///< of a router to other routers, at most
};

std::string text_of(double whole) {
  return whole < 1e18 ? std::to_string(static_cast<u64>(whole)) : to_text(Value{whole});
}

/// Throws ConfigError if a network would have too many routers or terminals, or its routers too many ports. Called
/// before the links are listed, because there can be billions.
/// `fix`: the last sentence of the message.
void check_sizes(const Experiment& e, const ParamRecord& size, const Size& s,
                 const std::string& fix = "Use smaller numbers.") {
  const u32 terminals = e.u32_of(networks.concentration);
  if (s.routers > kMostRouters)
    throw ConfigError(given(e, size) + " makes a network of " + text_of(s.routers) + " routers; at most " +
                      std::to_string(kMostRouters) + " are supported without a grid. " + fix);
  if (s.channels + terminals > kMostRouterPorts)
    throw ConfigError(given(e, size) + ": a router has " + std::to_string(static_cast<u64>(s.channels)) +
                      " channels; " + most_channels(terminals) + ". " + fix);
}

GroupSizes groups_of(const Experiment& e) {
  const GroupSizes sizes{e.u32_of(networks.groups), e.u32_of(networks.group_routers),
                         e.u32_of(networks.global_channels), e.choice<Arrangement>(networks.arrangement)};
  if (const std::string why = misfit(sizes); !why.empty())
    throw ConfigError(given(e, networks.groups) + " does not fit: " + why);
  const bool megafly = e.str(networks.kind) == "megafly";
  check_sizes(
      e, networks.group_routers,
      {double(sizes.groups) * sizes.routers * (megafly ? 2 : 1), sizes.routers - (megafly ? 0.0 : 1.0) + sizes.global});
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

/// Returns a network over the finite field of topology.order elements. Throws ConfigError if it is too large.
/// `size_of`: Size of the network of an order. `make`: its links.
template <class SizeOf, class Make>
Links of_order(const Experiment& e, u32 least, SizeOf size_of, Make make) {
  const u32 q = order_of(e, networks.order, least);
  const auto fits = [&](u32 order) {
    const Size size = size_of(double(order));
    return is_prime_power(order) && size.routers <= kMostRouters &&
           size.channels + e.u32_of(networks.concentration) <= kMostRouterPorts;
  };
  u32 largest = q;
  while (largest >= least && !fits(largest)) --largest;
  check_sizes(
      e, networks.order, size_of(double(q)),
      largest < least ? "Use smaller numbers." : "The largest order that fits is " + std::to_string(largest) + ".");
  return make(q);
}

Links slim_fly_of(const Experiment& e) {
  // A router has q links to the other half of the network, the others within its half.
  const auto size = [](double q) {
    return Size{2 * q * q, q + std::floor(static_cast<u32>(q) % 4 == 3 ? (q + 1) / 2 : q / 2)};
  };
  return of_order(e, 3, size, slim_fly);
}

Links polarfly_of(const Experiment& e) {
  return of_order(e, 2, [](double q) { return Size{q * q + q + 1, q + 1}; }, polarfly);
}

Links polarstar_of(const Experiment& e) {
  const u32 supernode = order_of(e, networks.supernode, 5, true);
  const auto size = [&](double q) { return Size{(q * q + q + 1) * supernode, q + 1 + (supernode - 1) / 2.0}; };
  return of_order(e, 2, size, [&](u32 q) { return polarstar(q, supernode); });
}

Links cmesh_of(const Experiment& e) {
  const std::vector<u32> shape = e.ints(networks.shape);
  double routers = 1;
  for (u32 radix : shape) routers *= radix;
  check_sizes(e, networks.shape, {routers, 4.0 * static_cast<double>(shape.size())});
  const u32 express = e.u32_of(networks.express), longest = *std::max_element(shape.begin(), shape.end());
  if (express >= longest)
    throw ConfigError(given(e, networks.express) + " does not fit " + given(e, networks.shape) +
                      ": no routers of a row are that far apart, so there is no express channel. " +
                      (longest > 2 ? "Use at most " + std::to_string(longest - 1) : "Use 3 or more routers in a row") +
                      ", or topology.kind = \"mesh\".");
  return cmesh(shape, express);
}

Links jellyfish_of(const Experiment& e) {
  const u32 routers = e.u32_of(networks.routers), degree = e.u32_of(networks.degree);
  const auto misfit = [&](const std::string& why) {
    throw ConfigError(given(e, networks.degree) + " does not fit " + given(e, networks.routers) + ": " + why + ".");
  };
  if (degree >= routers)
    misfit("a router has at most one link to each other router. Use topology.degree = " + std::to_string(routers - 1) +
           ", or topology.routers = " + std::to_string(degree + 1));
  if (routers * degree % 2)
    misfit("routers x degree must be even, because a link joins two routers. Use topology.degree = " +
           std::to_string(degree - 1) + " or " + std::to_string(degree + 1) +
           ", or topology.routers = " + std::to_string(routers - 1) + " or " + std::to_string(routers + 1));
  check_sizes(e, networks.degree, {double(routers), double(degree)});
  return jellyfish(routers, degree, static_cast<u64>(e.i64(networks.seed)));
}

Links fat_tree_of(const Experiment& e) {
  const std::vector<u32> children = e.ints(networks.children), parents = e.ints(networks.parents);
  if (children.size() != parents.size()) {
    std::vector<u32> more_children = children, more_parents = parents;
    more_children.resize(parents.size(), children.back());
    more_parents.resize(children.size(), parents.back());
    throw ConfigError(given(e, networks.parents) + " does not fit " + given(e, networks.children) +
                      ": both lists have a number for each level above the first. Use topology.parents = " +
                      list_text(more_parents) + ", or topology.children = " + list_text(more_children) + ".");
  }
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
  check_sizes(e, networks.children, {routers, channels});
  return fat_tree(children, parents);
}

/// Returns the divisor of n that is nearest to x; of two, the smaller one.
u32 nearest_divisor(u32 n, u32 x) {
  for (u32 away = 0;; ++away) {
    if (x > away && n % (x - away) == 0) return x - away;
    if (n % (x + away) == 0) return x + away;
  }
}

/// Throws ConfigError if chips do not divide a network evenly, with the nearest shapes that fit.
void check_chips(const Experiment& e, const std::vector<u32>& chip, const std::vector<u32>& shape) {
  const std::string misfit = given(e, networks.chip_shape) + " does not fit " + given(e, networks.shape) + ": ";
  if (chip.size() != shape.size())
    throw ConfigError(misfit + "give " + std::to_string(shape.size()) +
                      (shape.size() == 1 ? " number" : " numbers, one for each dimension") + ".");
  std::vector<u32> of_chip, of_network;
  for (std::size_t d = 0; d < chip.size(); ++d) {
    of_chip.push_back(nearest_divisor(shape[d], chip[d]));
    of_network.push_back(std::max(1u, (shape[d] + chip[d] / 2) / chip[d]) * chip[d]);
  }
  if (of_chip != chip)
    throw ConfigError(misfit +
                      "in each dimension, the number of routers must be a multiple of a chip's. The nearest that "
                      "fit are topology.chip_shape = " +
                      list_text(of_chip) + " and topology.shape = " + list_text(of_network) + ".");
}

/// Gives the channels between chips their delay and width.
void set_chips(const Experiment& e, Topology& t) {
  const std::vector<u32> chip = e.ints(networks.chip_shape);
  check_chips(e, chip, t.shape);
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
  check_sizes(e, networks.shape, {routers, channels});
  Links links = hyperx(shape, copies);
  links.kind = kind;
  return links;
}

/// Returns the links of a network that is not a grid.
Links links_of(const Experiment& e, const std::string& kind) {
  if (kind == "full_mesh") {
    const u32 routers = e.u32_of(networks.routers);
    check_sizes(e, networks.routers, {double(routers), routers - 1.0});
    return full_mesh(routers);
  }
  if (kind == "fat_tree") return fat_tree_of(e);
  if (kind == "dragonfly") return dragonfly(groups_of(e));
  if (kind == "megafly") return megafly(groups_of(e));
  if (kind == "slim_fly") return slim_fly_of(e);
  if (kind == "polarfly") return polarfly_of(e);
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
