#pragma once
/// Routing tables for arbitrary graphs, and the virtual-channel classes (layers) that make them deadlock-free.
#include <string>
#include <string_view>
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/peer.hpp"

namespace flitlab {

struct RouteTable {
  std::vector<u8> port;   ///< [routers][routers] output port of a router toward a destination router. With the bit
                          ///< kAnyParallel, packets may take any parallel channel
  std::vector<u8> layer;  ///< [routers][routers] layer (virtual-channel class) of all packets from a source router to a
                          ///< destination router
  u32 layers = 1;         ///< number of layers in use
};

/// Returns the ports that a table allows at `router` toward router `destination`, as bits: bit p is port p.
u64 ports_toward(const Topology& topology, const RouteTable& table, u32 router, u32 destination);
/// Returns whether any entry of the table has kAnyParallel.
bool has_parallel_ports(const RouteTable& table);

struct TooFewLayers : ConfigError {
  using ConfigError::ConfigError;
};

/// Returns shortest paths, spread evenly over neighbours, and assigns each (source, destination) path to a layer so
/// that the channel dependencies of each layer are acyclic (layered shortest-path routing; Skeie et al. 2002). If
/// several channels join two routers, packets may use any of them. Throws TooFewLayers if more than `max_layers` layers
/// are needed.
RouteTable shortest_path_table(const Topology& topology, u32 max_layers);

/// Reads a user's routing table, which parameter `key` names. Lines are CSV: router,destination,port or
/// router,destination,port,layer; the layer applies to packets that start at `router`. A line permits one port. If
/// there is a line for each of the parallel channels to the next router, packets may take any of these channels. Throws
/// ConfigError if a pair has no line, if a path loops, or if the dependencies have a cycle that `max_layers` layers
/// cannot break. If the lines give layers, any cycle is an error. The message shows the cycle. If all lines give the
/// layer -1, all packets share all virtual channels and may deadlock.
RouteTable read_table(std::string_view key, const TextSource& text, const Topology& topology, u32 max_layers);

/// Reads the ports that adaptive routes may take, which parameter `key` names. Lines are CSV: router,destination,port;
/// several lines for a pair permit several ports. Returns [routers][routers], bit p is port p, as shortest_ports().
/// Throws ConfigError if a pair has no line, or if packets may go around in a loop.
std::vector<u64> read_port_sets(std::string_view key, const TextSource& text, const Topology& topology);

}  // namespace flitlab
