#include "host/routing/tables.hpp"

#include <algorithm>
#include <cmath>

#include "host/config/csv.hpp"
#include "host/routing/dependency.hpp"
#include "host/run/memory.hpp"
#include "host/topology/metrics.hpp"
#include "host/topology/params.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

/// Channels (router * network_ports + port) from source to destination; empty if the table loops.
std::vector<u32> path_channels(const Topology& t, const RouteTable& table, u32 source, u32 destination) {
  std::vector<u32> channels;
  for (u32 r = source; r != destination; r = t.peer(r, channels.back() % t.network_ports).item) {
    if (channels.size() > t.routers) return {};
    channels.push_back(r * t.network_ports + table.port[std::size_t{r} * t.routers + destination]);
  }
  return channels;
}

std::string show_cycle(const Topology& t, const std::vector<u32>& cycle) {
  std::string text;
  for (u32 channel : cycle)
    text += (text.empty() ? "" : " -> ") + std::string("[") + std::to_string(channel / t.network_ports) + "->" +
            std::to_string(t.peers[std::size_t{channel / t.network_ports} * t.ports + channel % t.network_ports].item) +
            "]";
  return text;
}

/// Adds a path's dependencies to a layer if that closes no cycle; returns the cycle otherwise.
std::vector<u32> try_path(DependencyGraph& layer, const std::vector<u32>& channels) {
  std::vector<std::pair<u32, u32>> added;
  for (std::size_t i = 0; i + 1 < channels.size(); ++i) {
    const u32 from = channels[i], to = channels[i + 1];
    if (layer.has(from, to)) continue;
    if (std::vector<u32> back = layer.path(to, from); !back.empty()) {
      for (const auto& [a, b] : added) layer.remove(a, b);
      back.push_back(to);
      return back;
    }
    layer.add(from, to);
    added.emplace_back(from, to);
  }
  return {};
}

/// Tables have an entry for every pair, and the search for layers follows every path.
void check_size(const Topology& t) {
  constexpr u32 kMost = 16384;
  if (t.routers > kMost)
    throw ConfigError("topology.file: the graph has " + std::to_string(t.routers) +
                      " routers, and table routing takes at "
                      "most " +
                      std::to_string(kMost) + ". Use a mesh, torus or hypercube for larger networks.");
  require_memory(param::topology.file.path, u64{2} * t.routers * t.routers,
                 "Routing tables have an entry for every pair.");
}

/// Puts every path into the first layer that stays acyclic.
void assign_layers(const Topology& t, RouteTable& table, u32 max_layers) {
  const u32 channels = t.routers * t.network_ports;
  std::vector<DependencyGraph> layers(1, DependencyGraph(channels));
  table.layer.assign(std::size_t{t.routers} * t.routers, 0);
  for (u32 s = 0; s < t.routers; ++s)
    for (u32 d = 0; d < t.routers; ++d) {
      const std::vector<u32> path = path_channels(t, table, s, d);
      u32 layer = 0;
      for (std::vector<u32> cycle; !(cycle = try_path(layers[layer], path)).empty(); ++layer) {
        if (layer + 1 < layers.size()) continue;
        if (layers.size() == max_layers)
          throw ConfigError("router.vcs: the routes of this graph need more than " + std::to_string(max_layers) +
                            " virtual-channel layers to be free of deadlock; the path from router " +
                            std::to_string(s) + " to " + std::to_string(d) + " would close the cycle " +
                            show_cycle(t, cycle) + ". Raise router.vcs.");
        layers.emplace_back(channels);
      }
      table.layer[std::size_t{s} * t.routers + d] = static_cast<u8>(layer);
    }
  table.layers = static_cast<u32>(layers.size());
}

}  // namespace

RouteTable shortest_path_table(const Topology& t, u32 max_layers) {
  check_size(t);
  RouteTable table;
  table.port.assign(std::size_t{t.routers} * t.routers, 0);
  std::vector<u32> use(std::size_t{t.routers} * t.network_ports, 0);
  for (u32 d = 0; d < t.routers; ++d) {
    const std::vector<u32> hops = hops_from(t, d);
    for (u32 r = 0; r < t.routers; ++r) {
      if (r == d) continue;
      u32 best = kNone;
      for (u32 p = 0; p < t.network_ports; ++p) {
        const u32 next = t.peer(r, p).item;
        if (next == kNone || hops[next] + 1 != hops[r]) continue;
        if (best == kNone || use[r * t.network_ports + p] < use[r * t.network_ports + best]) best = p;
      }
      ++use[r * t.network_ports + best];
      table.port[std::size_t{r} * t.routers + d] = static_cast<u8>(best);
    }
  }
  assign_layers(t, table, max_layers);
  return table;
}

RouteTable read_table(std::string_view key, const TextSource& text, const Topology& t, u32 max_layers) {
  const std::string& path = text.path();
  check_size(t);
  RouteTable table;
  const std::size_t pairs = std::size_t{t.routers} * t.routers;
  table.port.assign(pairs, 0xFF);
  table.layer.assign(pairs, 0);
  bool with_layers = false;
  read_csv(key, text, [&](const std::vector<double>& f, std::size_t line) {
    const std::string where = std::string(key) + ": " + path + ":" + std::to_string(line) + ": ";
    if (f.size() != 3 && f.size() != 4) throw ConfigError(where + "a line is router,destination,port[,layer].");
    for (double x : f)
      if (x < 0 || x != std::floor(x)) throw ConfigError(where + "all fields are non-negative integers.");
    if (f[0] >= t.routers || f[1] >= t.routers)
      throw ConfigError(where + "routers are numbered 0 to " + std::to_string(t.routers - 1) + ".");
    const u32 r = static_cast<u32>(f[0]), d = static_cast<u32>(f[1]);
    if (r == d) return;
    if (f[2] >= t.network_ports || t.peer(r, static_cast<u32>(f[2])).item == kNone)
      throw ConfigError(where + "router " + std::to_string(r) + " has no channel at port " +
                        std::to_string(static_cast<u32>(f[2])) + ".");
    table.port[std::size_t{r} * t.routers + d] = static_cast<u8>(f[2]);
    if (f.size() == 4) {
      if (f[3] >= max_layers)
        throw ConfigError(where + "layer " + std::to_string(static_cast<u32>(f[3])) + " needs more than the " +
                          std::to_string(max_layers) + " virtual channels of router.vcs.");
      with_layers = true;
      table.layer[std::size_t{r} * t.routers + d] = static_cast<u8>(f[3]);
      table.layers = std::max(table.layers, static_cast<u32>(f[3]) + 1);
    }
  });
  for (u32 s = 0; s < t.routers; ++s)
    for (u32 d = 0; d < t.routers; ++d)
      if (s != d && table.port[std::size_t{s} * t.routers + d] == 0xFF)
        throw ConfigError(std::string(key) + ": " + path + ": router " + std::to_string(s) +
                          " has no entry for destination " + std::to_string(d) + ", which is unreachable from it.");
  for (u32 s = 0; s < t.routers; ++s)
    for (u32 d = 0; d < t.routers; ++d)
      if (s != d && path_channels(t, table, s, d).empty())
        throw ConfigError(std::string(key) + ": " + path + ": packets from router " + std::to_string(s) + " to " +
                          std::to_string(d) + " go around in a loop and never arrive.");
  if (!with_layers) {
    assign_layers(t, table, max_layers);
    return table;
  }
  std::vector<DependencyGraph> layers(table.layers, DependencyGraph(t.routers * t.network_ports));
  for (u32 s = 0; s < t.routers; ++s)
    for (u32 d = 0; d < t.routers; ++d) {
      const std::vector<u32> channels = path_channels(t, table, s, d);
      for (std::size_t i = 0; i + 1 < channels.size(); ++i)
        layers[table.layer[std::size_t{s} * t.routers + d]].add(channels[i], channels[i + 1]);
    }
  for (u32 layer = 0; layer < table.layers; ++layer)
    if (const std::vector<u32> cycle = layers[layer].cycle(); !cycle.empty())
      throw ConfigError(std::string(key) + ": " + path + ": layer " + std::to_string(layer) +
                        " can deadlock: its channels wait for one another in the cycle " + show_cycle(t, cycle) +
                        ". Put some of these paths into another layer, or leave the layers out.");
  return table;
}

}  // namespace flitlab
