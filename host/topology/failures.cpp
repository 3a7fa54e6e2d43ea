#include <algorithm>

#include "host/topology/links.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"

namespace flitlab {
namespace {

/// Removes a link between two routers.
void remove(std::vector<Link>& links, u32 a, u32 b, const std::string& where) {
  const auto joins = [](const Link& link, u32 x, u32 y) { return link.a == x && link.b == y; };
  const auto found = std::find_if(links.begin(), links.end(),
                                  [&](const Link& link) { return joins(link, a, b) || joins(link, b, a); });
  if (found != links.end()) {
    links.erase(found);
    return;
  }
  std::string others;
  for (const Link& link : links)
    if (link.a == a || link.b == a)
      others += (others.empty() ? "" : ", ") + std::to_string(link.a == a ? link.b : link.a);
  throw ConfigError(where + ": routers " + std::to_string(a) + " and " + std::to_string(b) + " have no " +
                    "link, or it is listed too often. Router " + std::to_string(a) +
                    (others.empty() ? " has no other links." : " has links to " + others + "."));
}

/// Removes routers with their links and terminals. The other routers keep their order.
void remove_routers(Links& list, std::vector<u32> failed, const std::string& where) {
  std::sort(failed.begin(), failed.end());
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (failed[i] >= list.routers)
      throw ConfigError(where + ": router " + std::to_string(failed[i]) +
                        " does not exist; routers are numbered 0 to " + std::to_string(list.routers - 1) + ".");
    if (i && failed[i] == failed[i - 1])
      throw ConfigError(where + " lists router " + std::to_string(failed[i]) + " twice. Remove one of them.");
  }
  const auto has_failed = [&](u32 router) { return std::binary_search(failed.begin(), failed.end(), router); };
  const auto new_number = [&](u32 router) {
    return router - static_cast<u32>(std::lower_bound(failed.begin(), failed.end(), router) - failed.begin());
  };
  std::vector<Link> rest;
  for (Link link : list.links) {
    if (has_failed(link.a) || has_failed(link.b)) continue;
    link.a = new_number(link.a);
    link.b = new_number(link.b);
    rest.push_back(link);
  }
  list.links = std::move(rest);
  for (std::size_t i = failed.size(); i-- > 0;) {
    if (!list.group.empty()) list.group.erase(list.group.begin() + failed[i]);
    if (!list.place.empty()) list.place.erase(list.place.begin() + failed[i]);
  }
  list.with_terminals = new_number(list.with_terminals);
  list.routers -= static_cast<u32>(failed.size());
  if (!list.with_terminals)
    throw ConfigError(where + ": no router with terminals is left. Remove some numbers from the list.");
}

}  // namespace

Links links_of(const Topology& t) {
  Links list{.kind = t.kind,
             .routers = t.routers,
             .with_terminals = t.terminal_routers(),
             .concentration = t.concentration,
             .group = t.group,
             .place = t.place,
             .has_ranks = !t.rank.empty()};
  list.has_ranks |= t.has_coordinates();
  // In a grid, ranks rise along each dimension in either direction, and from dimension to dimension, so that shortest
  // routes cross dimensions in order, and change their class of virtual channels at wrap-around channels.
  std::vector<u32> first_of_dim{0};
  for (u32 d = 0; t.has_coordinates() && d < t.shape.size(); ++d) first_of_dim.push_back(first_of_dim[d] + t.shape[d]);
  const auto rank = [&](u32 router, u32 port) -> u16 {
    if (!t.rank.empty()) return t.rank[std::size_t{router} * t.network_ports + port];
    if (!t.has_coordinates()) return 0;
    const u32 d = t.dimension_of(port), at = t.coordinate(router, d);
    // In a dimension of radix 2 both ports lead to the same router, and parallel channels have the same rank.
    const bool minus = t.shape[d] > 2 && port % 2;
    return static_cast<u16>(first_of_dim[d] + (minus ? t.shape[d] - 1 - at : at));
  };
  for (u32 r = 0; r < t.routers; ++r) {
    for (u32 p = 0; p < t.network_ports; ++p) {
      const Peer& peer = t.peer(r, p);
      if (peer.item == kNone || peer.item < r || (peer.item == r && peer.port < p)) continue;
      list.links.push_back({r, peer.item, t.channel(r, p), rank(r, p), rank(peer.item, peer.port)});
    }
    if (!t.has_coordinates()) continue;
    std::string place;
    for (u32 d = 0; d < t.shape.size(); ++d) place += (d ? "," : "") + std::to_string(t.coordinate(r, d));
    list.place.push_back(place);
  }
  return list;
}

Topology without_failed(const Topology& topology, const Failures& failures, const std::string& where) {
  Links list = links_of(topology);
  list.kind = "graph";  // rules for grids and trees no longer hold
  if (failures.pairs.size() % 2)
    throw ConfigError(where + " has " + std::to_string(failures.pairs.size()) +
                      " numbers: give two routers for each failed link.");
  for (std::size_t i = 0; i < failures.pairs.size(); i += 2) {
    const u32 a = failures.pairs[i], b = failures.pairs[i + 1];
    for (u32 router : {a, b})
      if (router >= list.routers)
        throw ConfigError(where + ": router " + std::to_string(router) + " does not exist; routers are numbered 0 to " +
                          std::to_string(list.routers - 1) + ".");
    remove(list.links, a, b, where);
  }
  remove_routers(list, failures.routers, "topology.failed_routers");
  if (!failures.at_random) return make_network(list, where);
  // Links fail in a random order, except links without which a router could not be reached: the links that a spanning
  // tree takes if it goes through them in the opposite order (Kruskal).
  std::vector<std::pair<u64, u32>> order;
  for (u32 i = 0; i < list.links.size(); ++i) {
    const Random4 random = philox(failures.seed, stream::kTopology, kNone, i);
    order.emplace_back(u64{random.word[0]} << 32 | random.word[1], i);
  }
  std::sort(order.begin(), order.end());
  Parts parts(list.routers);
  std::vector<u32> can_fail;  // in the order in which they fail
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    if (!parts.join(list.links[at->second].a, list.links[at->second].b)) can_fail.push_back(at->second);
  std::reverse(can_fail.begin(), can_fail.end());
  if (can_fail.size() < failures.at_random)
    throw ConfigError("topology.random_failures = " + std::to_string(failures.at_random) + " is too many: only " +
                      std::to_string(can_fail.size()) +
                      " links of this network can fail while routers reach one another.");
  std::vector<bool> failed(list.links.size());
  for (u32 i = 0; i < failures.at_random; ++i) failed[can_fail[i]] = true;
  std::vector<Link> rest;
  for (u32 i = 0; i < list.links.size(); ++i)
    if (!failed[i]) rest.push_back(list.links[i]);
  list.links = std::move(rest);
  return make_network(list, where);
}

}  // namespace flitlab
