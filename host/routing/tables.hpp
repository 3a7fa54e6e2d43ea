#pragma once
/// Routing tables for arbitrary graphs, with virtual channels that keep them free of deadlock.
#include <string>
#include <string_view>
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/common/peer.hpp"

namespace flitlab {

struct RouteTable {
  std::vector<u8> port;   ///< [routers][routers] output port at a router toward a destination router, with or without
                          ///< kAnyParallel
  std::vector<u8> layer;  ///< [routers][routers] VC class of all packets from a source router to a destination
  u32 layers = 1;         ///< classes in use
};

/// Ports that a table lets packets take at `router` toward router `destination`: bit p is port p.
u32 ports_toward(const Topology& topology, const RouteTable& table, u32 router, u32 destination);
/// Whether an entry of the table has kAnyParallel.
bool has_parallel_ports(const RouteTable& table);

/// Shortest paths, spread over neighbours, and layers: every (source, destination) path lies in one layer, and the
/// channel dependencies of each layer are acyclic (layered shortest-path routing; Skeie et al. 2002). Several channels
/// between the same two routers serve all packets that go that way. Throws ConfigError if that takes more than
/// `max_layers`.
RouteTable shortest_path_table(const Topology& topology, u32 max_layers);

/// A user's table, which a parameter `key` names: CSV lines router,destination,port or router,destination,port,layer
/// (the layer of packets that start at `router`). A port is exactly that port; a line for each of several channels to
/// the same router lets packets take any of them. Refused if a pair is missing or loops, or if its dependencies have a
/// cycle that `max_layers` layers cannot break (with layers given: any cycle); the message shows the cycle.
RouteTable read_table(std::string_view key, const TextSource& text, const Topology& topology, u32 max_layers);

}  // namespace flitlab
