/// The topology of an experiment.
#include <cmath>

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

std::string given(const Experiment& e, const ParamRecord& p) { return std::string(p.path) + " = " + shown(e.at(p)); }

GroupSizes groups_of(const Experiment& e) {
  const GroupSizes sizes{e.u32_of(networks.groups), e.u32_of(networks.group_routers),
                         e.u32_of(networks.global_channels), e.choice<Arrangement>(networks.arrangement)};
  if (const std::string why = misfit(sizes); !why.empty())
    throw ConfigError(given(e, networks.groups) + " does not fit: " + why);
  return sizes;
}

u32 order_of(const Experiment& e, u32 least) {
  const u32 q = e.u32_of(networks.order);
  if (is_prime_power(q) && q >= least) return q;
  u32 below = q, above = std::max(q, least);
  while (below >= least && !is_prime_power(below)) --below;
  while (!is_prime_power(above)) ++above;
  throw ConfigError(given(e, networks.order) +
                    " does not fit: the order of a finite field is a prime power, here at least " +
                    std::to_string(least) + ". Use " + (below >= least ? std::to_string(below) + " or " : "") +
                    std::to_string(above) + ".");
}

Links jellyfish_of(const Experiment& e) {
  const u32 routers = e.u32_of(networks.routers), degree = e.u32_of(networks.degree);
  if (degree >= routers || routers * degree % 2)
    throw ConfigError(given(e, networks.degree) + " does not fit " + given(e, networks.routers) +
                      ": it must be less than the number of routers, and routers x degree must be even.");
  return jellyfish(routers, degree, static_cast<u64>(e.i64(networks.seed)));
}

Links fat_tree_of(const Experiment& e) {
  const std::vector<u32> children = e.ints(networks.children), parents = e.ints(networks.parents);
  if (children.size() != parents.size() || children.empty())
    throw ConfigError(given(e, networks.parents) + " does not fit " + given(e, networks.children) +
                      ": both lists have a number for each level above the first.");
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

/// Returns the links of a network that is not a grid.
Links links_of(const Experiment& e, const std::string& kind) {
  if (kind == "full_mesh") return full_mesh(e.u32_of(networks.routers));
  if (kind == "fat_tree") return fat_tree_of(e);
  if (kind == "dragonfly") return dragonfly(groups_of(e));
  if (kind == "megafly") return megafly(groups_of(e));
  if (kind == "slim_fly") return slim_fly(order_of(e, 3));
  if (kind == "polarfly") return polarfly(order_of(e, 2));
  if (kind == "jellyfish") return jellyfish_of(e);
  Links links = hyperx(e.ints(networks.shape), e.u32_of(networks.copies));
  links.kind = kind;
  return links;
}

}  // namespace

Topology make_topology(const Experiment& e) {
  const std::string& kind = e.str(param::topology.kind);
  const u32 concentration = e.u32_of(param::topology.concentration);
  if (kind == "graph") return make_graph(e.text(param::topology.file), concentration);
  if (kind == "hypercube") return make_hypercube(e.u32_of(param::topology.dimensions), concentration);
  if (kind == "mesh") return make_mesh(e.ints(param::topology.shape), concentration);
  if (kind == "chiplet_mesh" || kind == "chiplet_torus") {
    const std::vector<u32> shape = e.ints(networks.shape);
    Topology t = kind == "chiplet_mesh" ? make_mesh(shape, concentration) : make_torus(shape, concentration);
    t.kind = kind;
    set_chips(e, t);
    return t;
  }
  if (!is_graph(e)) return make_torus(e.ints(param::topology.shape), concentration);
  Links links = links_of(e, kind);
  links.concentration = concentration;
  return make_network(links, quoted(e, param::topology.kind));
}

}  // namespace flitlab
