#include "host/topology/links.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Throws ConfigError if a router cannot be reached from router 0.
void require_connected(const Links& g, const std::vector<u32>& degree, const std::string& where) {
  Parts parts(g.routers);
  for (const Link& link : g.links) parts.join(link.a, link.b);
  for (u32 r = 0; r < g.routers; ++r)
    if (parts.of(r) != parts.of(0))
      throw ConfigError(where + ": router " + std::to_string(r) +
                        (degree[r] ? " cannot be reached from router 0" : " has no edge") +
                        "; the graph must be connected.");
}

}  // namespace

std::string most_channels(u32 terminals) {
  return "at most " + std::to_string(kMostRouterPorts - terminals) + " are supported beside " +
         std::to_string(terminals) + (terminals == 1 ? " terminal" : " terminals");
}

Topology make_network(const Links& g, const std::string& where) {
  std::vector<u32> degree(g.routers, 0);
  for (const Link& link : g.links) ++degree[link.a], ++degree[link.b];
  require_connected(g, degree, where);

  Topology t;
  t.kind = g.kind;
  t.grid = false;
  t.shape = {g.routers};
  t.concentration = g.concentration;
  t.routers = g.routers;
  t.terminals = g.with_terminals * g.concentration;
  t.network_ports = *std::max_element(degree.begin(), degree.end());
  t.ports = t.network_ports + g.concentration;
  if (t.ports > kMostRouterPorts)
    throw ConfigError(where + ": router " +
                      std::to_string(std::max_element(degree.begin(), degree.end()) - degree.begin()) + " has " +
                      std::to_string(t.network_ports) + " channels; " + most_channels(g.concentration) +
                      ". Remove links of it, or divide it into several routers" +
                      (g.concentration > 1 ? ", or lower topology.concentration." : "."));
  t.peers.resize(std::size_t{t.routers} * t.ports);
  t.address.resize(t.routers);
  std::iota(t.address.begin(), t.address.end(), 0u);
  t.dim_shift = {0};
  t.dim_mask = {0xFFFFFFu};
  t.group = g.group;
  t.place = g.place;
  const std::size_t channels = std::size_t{t.routers} * t.network_ports;
  const auto is_own = [](const Link& link) { return link.channel.delay || link.channel.cycles; };
  if (std::any_of(g.links.begin(), g.links.end(), is_own)) t.own_channels.resize(channels);
  if (g.has_ranks) t.rank.resize(channels);
  std::vector<u16> next(t.routers, 0);
  for (const Link& link : g.links) {
    const u16 pa = next[link.a]++, pb = next[link.b]++;
    const std::size_t at_a = link.a * t.network_ports + pa, at_b = link.b * t.network_ports + pb;
    if (!t.own_channels.empty()) t.own_channels[at_a] = t.own_channels[at_b] = link.channel;
    if (g.has_ranks) t.rank[at_a] = link.rank, t.rank[at_b] = link.rank_back;
    t.peers[std::size_t{link.a} * t.ports + pa] = Peer{link.b, pb, 0};
    t.peers[std::size_t{link.b} * t.ports + pb] = Peer{link.a, pa, 0};
  }
  for (u32 terminal = 0; terminal < t.terminals; ++terminal)
    t.peers[std::size_t{t.terminal_router(terminal)} * t.ports + t.terminal_port(terminal)] = Peer{terminal, 0, 1};
  t.channels = 2 * g.links.size();
  return t;
}

}  // namespace flitlab
