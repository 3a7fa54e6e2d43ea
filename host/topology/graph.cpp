#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/config/csv.hpp"
#include "host/config/topology_params.hpp"
#include "host/config/value.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

Topology make_graph(const TextSource& text, u32 concentration) {
  const std::string& path = text.path();
  struct Edge {
    u32 a, b;
    Channel channel;
  };
  std::vector<Edge> edges;
  bool own_channels = false;
  u32 routers = 0;
  read_csv(param::topology.file.path, text, [&](const std::vector<double>& fields, std::size_t line) {
    const std::string where = "topology.file: " + path + ":" + std::to_string(line) + ": ";
    if (fields.size() < 2 || fields.size() > 4)
      throw ConfigError(where +
                        "an edge is two router numbers, and optionally the delay and width of its channels: "
                        "a,b,delay,width.");
    for (double x : {fields[0], fields[1]})
      if (!(x >= 0 && x <= 65535) || x != std::floor(x))  // also rejects not-a-number
        throw ConfigError(where + "router numbers are integers from 0 to 65535.");
    Channel channel;
    if (fields.size() > 2) {
      const double delay = fields[2];
      if (!(delay >= 0 && delay <= kLongestDelay) || delay != std::floor(delay))
        throw ConfigError(where + "delay = " + shown(Value{delay}) + ": a delay is an integer from 1 to " +
                          std::to_string(kLongestDelay) + " cycles, or 0 for topology.channel_delay.");
      channel.delay = static_cast<u16>(delay);
    }
    if (fields.size() > 3 && fields[3] != 0) set_width(channel, fields[3], where + "width");
    own_channels |= channel.delay || channel.cycles;
    const u32 a = static_cast<u32>(fields[0]), b = static_cast<u32>(fields[1]);
    if (a == b) throw ConfigError(where + "router " + std::to_string(a) + " is joined to itself.");
    edges.push_back({a, b, channel});
    routers = std::max({routers, a + 1, b + 1});
  });
  if (edges.empty()) throw ConfigError("topology.file: " + path + " has no edges.");

  std::vector<u32> degree(routers, 0), component(routers);
  std::iota(component.begin(), component.end(), 0u);
  const auto root = [&](u32 r) {
    while (component[r] != r) r = component[r] = component[component[r]];
    return r;
  };
  for (const auto& [a, b, channel] : edges) {
    ++degree[a];
    ++degree[b];
    component[root(a)] = root(b);
  }
  for (u32 r = 0; r < routers; ++r)
    if (root(r) != root(0))
      throw ConfigError("topology.file: " + path + ": router " + std::to_string(r) +
                        (degree[r] ? " cannot be reached from router 0" : " has no edge") +
                        "; the graph must be connected.");

  Topology t;
  t.kind = "graph";
  t.shape = {routers};
  t.concentration = concentration;
  t.routers = routers;
  t.terminals = routers * concentration;
  t.network_ports = *std::max_element(degree.begin(), degree.end());
  t.ports = t.network_ports + concentration;
  if (t.ports > kMostGraphPorts)
    throw ConfigError("topology.file: " + path + ": a router has " + std::to_string(t.network_ports) +
                      " channels; at most " + std::to_string(kMostGraphPorts - concentration) + " are supported with " +
                      std::to_string(concentration) + " terminals.");
  t.peers.resize(std::size_t{routers} * t.ports);
  t.address.resize(routers);
  std::iota(t.address.begin(), t.address.end(), 0u);
  t.dim_shift = {0};
  t.dim_mask = {0xFFFFFFu};
  if (own_channels) t.own_channels.resize(std::size_t{routers} * t.network_ports);
  std::vector<u16> next(routers, 0);
  for (const auto& [a, b, channel] : edges) {
    const u16 pa = next[a]++, pb = next[b]++;
    if (own_channels) t.own_channels[a * t.network_ports + pa] = t.own_channels[b * t.network_ports + pb] = channel;
    t.peers[std::size_t{a} * t.ports + pa] = Peer{b, pb, 0};
    t.peers[std::size_t{b} * t.ports + pb] = Peer{a, pa, 0};
  }
  for (u32 r = 0; r < routers; ++r)
    for (u32 c = 0; c < concentration; ++c)
      t.peers[std::size_t{r} * t.ports + t.network_ports + c] = Peer{r * concentration + c, 0, 1};
  t.channels = 2 * edges.size();
  return t;
}

}  // namespace flitlab
