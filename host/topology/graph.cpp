#include <algorithm>
#include <cmath>

#include "host/config/csv.hpp"
#include "host/config/topology_params.hpp"
#include "host/config/value.hpp"
#include "host/topology/links.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

Topology make_graph(const TextSource& text, u32 concentration, u32 with_terminals) {
  const std::string& path = text.path();
  Links graph{.kind = "graph", .concentration = concentration};
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
    const u32 a = static_cast<u32>(fields[0]), b = static_cast<u32>(fields[1]);
    if (a == b) throw ConfigError(where + "router " + std::to_string(a) + " is joined to itself.");
    graph.links.push_back({a, b, channel});
    graph.routers = std::max({graph.routers, a + 1, b + 1});
  });
  if (graph.links.empty()) throw ConfigError("topology.file: " + path + " has no edges.");
  if (with_terminals > graph.routers)
    throw ConfigError("topology.terminal_routers = " + std::to_string(with_terminals) + ": the graph has only " +
                      std::to_string(graph.routers) + " routers.");
  graph.with_terminals = with_terminals ? with_terminals : graph.routers;
  return make_network(graph, "topology.file: " + path);
}

}  // namespace flitlab
