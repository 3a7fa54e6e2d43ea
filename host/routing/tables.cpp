#include "host/routing/tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "host/config/csv.hpp"
#include "host/config/memory.hpp"
#include "host/config/topology_params.hpp"
#include "host/routing/dependency.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/bits.hpp"

namespace flitlab {
namespace {

/// A hop of a path: a router, and its output channels that packets may take.
struct Hop {
  u32 router;
  u64 ports;  ///< output ports; bit p is port p
};

/// Returns the hops of the path from source to destination; empty if the table leads packets round a loop.
std::vector<Hop> path_hops(const Topology& t, const RouteTable& table, u32 source, u32 destination) {
  std::vector<Hop> hops;
  for (u32 r = source; r != destination; r = t.peer(r, lowest_bit(hops.back().ports)).item) {
    if (hops.size() > t.routers) return {};
    hops.push_back({r, ports_toward(t, table, r, destination)});
  }
  return hops;
}

/// Calls `f(from, to)` for every pair of channels such that a packet on the path can hold channel `from` while it waits
/// for channel `to`: every channel of a hop with every channel of the next hop. Channels are numbered router *
/// network_ports + port. If `f` returns false, stops and returns false.
template <class F>
bool for_each_dependency(const Topology& t, const std::vector<Hop>& hops, F f) {
  for (std::size_t i = 0; i + 1 < hops.size(); ++i)
    for (u64 from = hops[i].ports; from; from &= from - 1)
      for (u64 to = hops[i + 1].ports; to; to &= to - 1)
        if (!f(hops[i].router * t.network_ports + lowest_bit(from),
               hops[i + 1].router * t.network_ports + lowest_bit(to)))
          return false;
  return true;
}

std::string show_cycle(const Topology& t, const std::vector<u32>& cycle) {
  std::string text;
  for (u32 channel : cycle)
    text += (text.empty() ? "" : " -> ") + std::string("[") + std::to_string(channel / t.network_ports) + "->" +
            std::to_string(t.peers[std::size_t{channel / t.network_ports} * t.ports + channel % t.network_ports].item) +
            "]";
  return text;
}

/// Adds a path's dependencies to a layer unless they close a cycle. Returns that cycle, or an empty list if the path
/// was added.
std::vector<u32> try_path(const Topology& t, DependencyGraph& layer, const std::vector<Hop>& hops) {
  std::vector<std::pair<u32, u32>> added;
  std::vector<u32> back;
  for_each_dependency(t, hops, [&](u32 from, u32 to) {
    if (layer.has(from, to)) return true;
    back = layer.path(to, from);
    if (!back.empty()) {
      back.push_back(to);
      return false;
    }
    layer.add(from, to);
    added.emplace_back(from, to);
    return true;
  });
  if (!back.empty())
    for (const auto& [a, b] : added) layer.remove(a, b);
  return back;
}

/// Throws ConfigError if the graph is too large: the table has an entry for every pair of routers, and layers are
/// assigned path by path.
void check_size(const Topology& t) {
  constexpr u32 kMost = 16384;
  if (t.routers > kMost)
    throw ConfigError("topology.file: the graph has " + std::to_string(t.routers) +
                      " routers; routing tables support at most " + std::to_string(kMost) +
                      ". Use a mesh, torus or hypercube for larger networks.");
  const u64 channels = u64{t.routers} * t.network_ports;
  // Memory of a layer, bytes.
  const u64 dependencies = channels * (sizeof(std::vector<u32>) + 2 * sizeof(u32) * t.network_ports);
  require_memory(param::topology.file.path, u64{2} * t.routers * t.routers + 2 * dependencies,
                 "Routing tables have an entry for every pair.");
}

/// Returns a message. needed: "5", or "more than 16".
std::string too_few_layers(const std::string& needed, u32 layers, const std::string& cycle) {
  return "router.vcs: the routes of this graph need " + needed +
         " virtual-channel layers to be free of deadlock, and there " +
         (layers == 1 ? "is 1" : "are " + std::to_string(layers)) + "; " + cycle + ". Raise router.vcs.";
}

/// Assigns every path to the first layer (virtual-channel class) whose channel dependencies stay acyclic with it.
void assign_layers(const Topology& t, RouteTable& table, u32 max_layers) {
  constexpr u32 kMostLayers = 16;  // largest router.vcs
  // With too few layers, the assignment goes on to find how many there must be. In larger networks the message lacks
  // this number, because the assignment takes seconds for 256 routers and minutes for 512, for routes that are not
  // used.
  constexpr u32 kCounted = 128;
  const u32 channels = t.routers * t.network_ports;
  std::string cycle_of_first;  // the first path that needs more layers than there are
  std::vector<DependencyGraph> layers(1, DependencyGraph(channels));
  table.layer.assign(std::size_t{t.routers} * t.routers, 0);
  for (u32 s = 0; s < t.terminal_routers(); ++s)
    for (u32 d = 0; d < t.terminal_routers(); ++d) {
      const std::vector<Hop> path = path_hops(t, table, s, d);
      u32 layer = 0;
      for (std::vector<u32> cycle; !(cycle = try_path(t, layers[layer], path)).empty(); ++layer) {
        if (layer + 1 < layers.size()) continue;
        if (layers.size() == max_layers)
          cycle_of_first = "the path from router " + std::to_string(s) + " to " + std::to_string(d) +
                           " would close the cycle " + show_cycle(t, cycle);
        if (layers.size() >= max_layers && (t.routers > kCounted || layers.size() >= kMostLayers))
          throw TooFewLayers(too_few_layers("more than " + std::to_string(layers.size()), max_layers, cycle_of_first));
        layers.emplace_back(channels);
      }
      table.layer[std::size_t{s} * t.routers + d] = static_cast<u8>(layer);
    }
  table.layers = static_cast<u32>(layers.size());
  if (table.layers > max_layers)
    throw TooFewLayers(too_few_layers(std::to_string(table.layers), max_layers, cycle_of_first));
}

/// A line of a user's table for a (router, destination) pair for which an earlier line exists.
struct PortLine {
  u32 destination, port;
  std::size_t line;
};

/// Combines all lines of a router for the same destination into one entry. Together the lines must name all channels of
/// the router to the same next router.
void join_lines(const std::string& file, const Topology& t, RouteTable& table, u32 router,
                const std::vector<PortLine>& lines) {
  std::map<u32, u64> named;  // output ports named by the lines, by destination (bits)
  u8* const row = &table.port[std::size_t{router} * t.routers];
  for (const auto& [d, port, line] : lines) {
    const std::string where = file + ":" + std::to_string(line) + ": router " + std::to_string(router) +
                              " has a line for destination " + std::to_string(d) + " with port " +
                              std::to_string(row[d]) + ", ";
    if (t.peer(router, port).item != t.peer(router, row[d]).item)
      throw ConfigError(where + "and port " + std::to_string(port) + " leads to another router. Remove one line.");
    u64& ports = named.try_emplace(d, u64{1} << row[d]).first->second;
    ports |= u64{1} << port;
  }
  for (const auto& [d, ports] : named) {
    if (bit_count64(ports) == 1) continue;
    if (ports != t.parallel_ports(router, row[d]))
      throw ConfigError(file + ": the lines of router " + std::to_string(router) + " and destination " +
                        std::to_string(d) + " name " + std::to_string(bit_count64(ports)) + " of " +
                        std::to_string(bit_count64(t.parallel_ports(router, row[d]))) +
                        " channels to the next router. Name one of them, or all.");
    row[d] |= kAnyParallel;
  }
}

/// A line of a user's file: router,destination,port[,layer]. The layer -1 shares all virtual channels.
struct Entry {
  u32 router, destination, port;
  u32 layer;    ///< kNone: none is given
  bool shared;  ///< the layer is -1
  std::string where;
  std::size_t line;
};

/// Calls visit(entry) for every line of a user's table, except lines from a router to itself. Throws ConfigError for a
/// line that does not fit the network. `with_layers`: whether lines may have layers.
template <class Visit>
void for_each_entry(std::string_view key, const TextSource& text, const Topology& t, bool with_layers, Visit visit) {
  read_csv(key, text, [&](const std::vector<double>& f, std::size_t line) {
    const std::string where = std::string(key) + ": " + text.path() + ":" + std::to_string(line) + ": ";
    if (f.size() != 3 && !(with_layers && f.size() == 4))
      throw ConfigError(where + "a line is router,destination,port" + (with_layers ? "[,layer]." : "."));
    const bool shared = f.size() == 4 && f[3] == -1;
    for (std::size_t i = 0; i < f.size(); ++i)
      if ((f[i] < 0 && !(i == 3 && shared)) || f[i] != std::floor(f[i]))
        throw ConfigError(where + "all fields are non-negative integers" + (with_layers ? ", or a layer -1." : "."));
    if (f[0] >= t.routers || f[1] >= t.routers)
      throw ConfigError(where + "routers are numbered 0 to " + std::to_string(t.routers - 1) + ".");
    const u32 r = static_cast<u32>(f[0]), d = static_cast<u32>(f[1]);
    if (r == d) return;
    if (f[2] >= t.network_ports || t.peer(r, static_cast<u32>(f[2])).item == kNone)
      throw ConfigError(where + "router " + std::to_string(r) + " has no channel at port " +
                        std::to_string(static_cast<u32>(f[2])) + ".");
    const u32 layer = f.size() == 4 && !shared ? static_cast<u32>(std::min(f[3], 4294967294.0)) : kNone;
    visit(Entry{r, d, static_cast<u32>(f[2]), layer, shared, where, line});
  });
}

/// Returns a message: a user's table has no route for a pair of routers.
std::string no_line(u32 router, u32 destination) {
  const std::string pair = std::to_string(router) + "," + std::to_string(destination);
  return "the table has no line for router " + std::to_string(router) + " and destination " +
         std::to_string(destination) + ". Add one, " + pair + ",PORT.";
}

/// Returns a loop of routers that packets to `destination` may follow; empty if there is none. `ports`: as in
/// shortest_ports().
std::vector<u32> loop_toward(const Topology& t, const std::vector<u64>& ports, u32 destination) {
  enum : u8 { kUnknown, kOnRoute, kArrives };
  std::vector<u8> state(t.routers, kUnknown);
  state[destination] = kArrives;
  for (u32 from = 0; from < t.routers; ++from) {
    if (state[from] != kUnknown) continue;
    std::vector<std::pair<u32, u64>> route{{from, ports[std::size_t{from} * t.routers + destination]}};
    state[from] = kOnRoute;
    while (!route.empty()) {
      auto& [router, left] = route.back();
      if (!left) {
        state[router] = kArrives;
        route.pop_back();
        continue;
      }
      const u32 next = t.peer(router, lowest_bit(left)).item;
      left &= left - 1;
      if (state[next] == kOnRoute) {
        std::vector<u32> loop;
        for (auto hop = std::find_if(route.begin(), route.end(), [next](const auto& h) { return h.first == next; });
             hop != route.end(); ++hop)
          loop.push_back(hop->first);
        loop.push_back(next);
        return loop;
      }
      if (state[next] == kUnknown) {
        state[next] = kOnRoute;
        route.emplace_back(next, ports[std::size_t{next} * t.routers + destination]);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<u64> read_port_sets(std::string_view key, const TextSource& text, const Topology& t) {
  check_size(t);
  std::vector<u64> ports(std::size_t{t.routers} * t.routers, 0);
  for_each_entry(key, text, t, false, [&](const Entry& entry) {
    ports[std::size_t{entry.router} * t.routers + entry.destination] |= u64{1} << entry.port;
  });
  const std::string where = std::string(key) + ": " + text.path() + ": ";
  for (u32 d = 0; d < t.terminal_routers(); ++d) {
    for (u32 r = 0; r < t.routers; ++r)
      if (r != d && !ports[std::size_t{r} * t.routers + d]) throw ConfigError(where + no_line(r, d));
    const std::vector<u32> loop = loop_toward(t, ports, d);
    if (loop.empty()) continue;
    std::string text_of_loop;
    for (u32 router : loop) text_of_loop += (text_of_loop.empty() ? "" : " -> ") + std::to_string(router);
    throw ConfigError(where + "packets to router " + std::to_string(d) + " may go around in the loop " + text_of_loop +
                      " and never arrive. Leave out one of these hops.");
  }
  return ports;
}

u64 ports_toward(const Topology& t, const RouteTable& table, u32 router, u32 destination) {
  const u8 entry = table.port[std::size_t{router} * t.routers + destination];
  const u32 port = entry & ~u32{kAnyParallel};
  return entry & kAnyParallel ? t.parallel_ports(router, port) : u64{1} << port;
}

bool has_parallel_ports(const RouteTable& table) {
  return std::any_of(table.port.begin(), table.port.end(), [](u8 entry) { return entry & kAnyParallel; });
}

RouteTable shortest_path_table(const Topology& t, u32 max_layers) {
  check_size(t);
  RouteTable table;
  table.port.assign(std::size_t{t.routers} * t.routers, 0);
  // Number of destinations routed over each channel; for parallel channels, counted at the channel with the lowest
  // port.
  std::vector<u32> use(std::size_t{t.routers} * t.network_ports, 0);
  std::vector<u64> parallel(use.size(), 0);
  for (u32 r = 0; r < t.routers; ++r)
    for (u32 p = 0; p < t.network_ports; ++p)
      if (t.peer(r, p).item != kNone) parallel[r * t.network_ports + p] = t.parallel_ports(r, p);
  for (u32 d = 0; d < t.routers; ++d) {
    const std::vector<u32> hops = hops_from(t, d);
    for (u32 r = 0; r < t.routers; ++r) {
      if (r == d) continue;
      u32 best = kNone;
      for (u32 p = 0; p < t.network_ports; ++p) {
        const u32 next = t.peer(r, p).item;
        if (next == kNone || hops[next] + 1 != hops[r]) continue;
        const u32 here = r * t.network_ports + p, there = r * t.network_ports + best;
        if (lowest_bit(parallel[here]) != p) continue;
        if (best == kNone || use[here] * bit_count64(parallel[there]) < use[there] * bit_count64(parallel[here]))
          best = p;
      }
      ++use[r * t.network_ports + best];
      const bool several = bit_count64(parallel[r * t.network_ports + best]) > 1;
      table.port[std::size_t{r} * t.routers + d] = static_cast<u8>(best | (several ? kAnyParallel : 0u));
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
  std::size_t lines = 0, shared = 0;
  std::vector<std::vector<PortLine>> more(t.routers);  // [router] second and later lines for the same pair
  for_each_entry(key, text, t, true, [&](const Entry& line) {
    const std::size_t pair = std::size_t{line.router} * t.routers + line.destination;
    if (table.port[pair] == 0xFF)
      table.port[pair] = static_cast<u8>(line.port);
    else
      more[line.router].push_back({line.destination, line.port, line.line});
    ++lines;
    shared += line.shared;
    if (line.layer == kNone) return;
    if (line.layer >= max_layers)
      throw ConfigError(line.where + "layer " + std::to_string(line.layer) + " needs more than the " +
                        std::to_string(max_layers) + " virtual channels of router.vcs.");
    with_layers = true;
    table.layer[pair] = static_cast<u8>(line.layer);
    table.layers = std::max(table.layers, line.layer + 1);
  });
  if (shared && shared < lines)
    throw ConfigError(std::string(key) + ": " + path + ": " + std::to_string(shared) + " of " + std::to_string(lines) +
                      " lines have the layer -1, which shares all virtual channels. Give it in all lines, or in none.");
  for (u32 s = 0; s < t.routers; ++s)
    for (u32 d = 0; d < t.terminal_routers(); ++d)
      if (s != d && table.port[std::size_t{s} * t.routers + d] == 0xFF)
        throw ConfigError(std::string(key) + ": " + path + ": " + no_line(s, d));
  // Entries for the router itself, and for routers without terminals, are not used.
  std::replace(table.port.begin(), table.port.end(), u8{0xFF}, u8{0});
  for (u32 r = 0; r < t.routers; ++r) join_lines(std::string(key) + ": " + path, t, table, r, more[r]);
  for (u32 s = 0; s < t.routers; ++s)
    for (u32 d = 0; d < t.terminal_routers(); ++d)
      if (s != d && path_hops(t, table, s, d).empty())
        throw ConfigError(std::string(key) + ": " + path + ": packets from router " + std::to_string(s) + " to " +
                          std::to_string(d) + " go around in a loop and never arrive.");
  if (!with_layers) {
    if (!shared) assign_layers(t, table, max_layers);
    return table;
  }
  std::vector<DependencyGraph> layers(table.layers, DependencyGraph(t.routers * t.network_ports));
  for (u32 s = 0; s < t.terminal_routers(); ++s)
    for (u32 d = 0; d < t.terminal_routers(); ++d) {
      DependencyGraph& layer = layers[table.layer[std::size_t{s} * t.routers + d]];
      for_each_dependency(t, path_hops(t, table, s, d), [&](u32 from, u32 to) {
        layer.add(from, to);
        return true;
      });
    }
  for (u32 layer = 0; layer < table.layers; ++layer)
    if (const std::vector<u32> cycle = layers[layer].cycle(); !cycle.empty())
      throw ConfigError(std::string(key) + ": " + path + ": layer " + std::to_string(layer) +
                        " can deadlock: its channels wait for one another in the cycle " + show_cycle(t, cycle) +
                        ". Put some of these paths into another layer, or leave the layers out.");
  return table;
}

}  // namespace flitlab
