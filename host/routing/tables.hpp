#pragma once
/// Routing tables for arbitrary graphs, with virtual channels that make them deadlock-free.
#include <string>
#include <string_view>
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/common/peer.hpp"

namespace flitlab {

struct RouteTable {
  std::vector<u8> port;   ///< [routers][routers] output port at a router toward a destination router, with or without
                          ///< kAnyParallel
  std::vector<u8> layer;  ///< [routers][routers] VC class of all packets from a source router to a destination router
  u32 layers = 1;         ///< number of VC classes in use
};

/// Returns the ports that a table allows at `router` toward router `destination`: bit p is port p.
u32 ports_toward(const Topology& topology, const RouteTable& table, u32 router, u32 destination);
/// Returns whether any entry of the table has kAnyParallel.
bool has_parallel_ports(const RouteTable& table);

/// Returns shortest paths, balanced over neighbours, and layers: every (source, destination) path lies in one layer,
/// and the channel dependencies of each layer are acyclic (layered shortest-path routing; Skeie et al. 2002). Packets
/// may use any of several channels between the same two routers. Throws ConfigError if more than `max_layers` layers
/// are needed.
RouteTable shortest_path_table(const Topology& topology, u32 max_layers);

/// Reads a user's routing table, named by parameter `key`: CSV lines router,destination,port or
/// router,destination,port,layer (the layer of packets that start at `router`). A port means that port alone; one line
/// for each of the channels to the same router lets packets take any of them. Throws ConfigError if a pair is missing
/// or loops, or if the dependencies have a cycle that `max_layers` layers cannot break (with layers given: any cycle);
/// the message shows the cycle.
RouteTable read_table(std::string_view key, const TextSource& text, const Topology& topology, u32 max_layers);

}  // namespace flitlab
