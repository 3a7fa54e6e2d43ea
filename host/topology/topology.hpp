#pragma once
/// Wiring of a network: for every channel, the port of the router or terminal at each end. A topology does not change
/// once it is built.
#include <algorithm>
#include <string>
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// Properties of a channel pair, the same in both directions. 0: as the other channels of the network.
struct Channel {
  u16 delay = 0;             ///< cycles
  u8 flits = 0, cycles = 0;  ///< width: accepts `flits` flits in `cycles` cycles
};

/// A router's ports are first the network ports, then one port for each attached terminal. In Cartesian topologies port
/// 2d leads in the + direction of dimension d, and port 2d + 1 in its - direction. A hypercube has one channel pair in
/// each dimension d, on port d.
struct Topology {
  std::string kind;  ///< the choice of topology.kind; "graph" if links have failed
  bool grid = true;  ///< whether dimension-order routes exist: mesh, torus, ring, hypercube; others need routing tables
  /// Radix of each dimension; router numbers increase first along dimension 0. A topology without dimensions has one
  /// element: the number of routers (graph) or of terminals (multistage network, single switch).
  std::vector<u32> shape;
  bool wraps = false;  ///< whether wrap-around channels exist (torus and ring)
  /// Number of terminals per router. Terminals are attached to the first routers; the others may have none.
  u32 concentration = 1;
  u32 routers = 0;
  u32 terminals = 0;
  u32 network_ports = 0;    ///< number of network ports of a router; the largest number if routers differ
  u32 ports = 0;            ///< network_ports + concentration
  std::vector<Peer> peers;  ///< [routers][ports]
  /// [routers][network_ports] channels with a delay or width of their own; empty if all channels are alike.
  std::vector<Channel> own_channels;
  /// [routers][network_ports] rank of the channel that leaves through a port; empty if the kind of network gives none.
  /// A route that goes from each channel to one of a higher rank cannot be part of a deadlock (host/routing/ranks.hpp).
  std::vector<u16> rank;
  std::vector<u16> group;  ///< [routers] number of the router's group (dragonfly, megafly); empty: no groups
  /// [routers] place of a router for people and drawings: coordinates such as "1,2", "group 3", "level 1"; empty: none.
  std::vector<std::string> place;
  std::vector<u32> address;   ///< [routers] packed coordinates (Cartesian), or the router's index (graph)
  std::vector<u8> dim_shift;  ///< [dims] position of the dimension's lowest bit in a packed address
  std::vector<u32> dim_mask;  ///< [dims] mask of the dimension's bits after the shift
  u64 channels = 0;           ///< number of unidirectional router-to-router channels
  /// Number of unidirectional channels cut if the largest dimension is halved; 0 if unknown.
  u64 bisection_channels = 0;

  const Peer& peer(u32 router, u32 port) const { return peers[std::size_t{router} * ports + port]; }
  /// Returns the channel pair of a network port.
  Channel channel(u32 router, u32 port) const {
    return own_channels.empty() ? Channel{} : own_channels[std::size_t{router} * network_ports + port];
  }
  /// Returns the longest delay of a channel in `own_channels`, cycles.
  u32 longest_delay() const {
    u32 longest = 0;
    for (const Channel& channel : own_channels) longest = std::max(longest, u32{channel.delay});
    return longest;
  }
  /// Returns the dimension of a network port. Requires has_coordinates().
  u32 dimension_of(u32 port) const { return kind == "hypercube" ? port : port / 2; }
  /// Returns all network ports of `router` that lead to the same router as `port`, including `port`: bit p is port p.
  u64 parallel_ports(u32 router, u32 port) const;
  /// Returns the number of routers that have terminals: the first ones. Packets go from and to these only.
  u32 terminal_routers() const { return terminals / concentration; }
  u32 terminal_router(u32 terminal) const { return terminal / concentration; }
  u32 terminal_port(u32 terminal) const { return network_ports + terminal % concentration; }
  /// Returns whether addresses are packed coordinates of `shape`. In a graph or a multistage network they are plain
  /// numbers.
  bool has_coordinates() const {
    return grid && address.size() == routers && dim_shift.size() == shape.size() && dim_mask.size() == shape.size();
  }
  /// Returns the coordinate of `router` in dimension `dim`. Requires has_coordinates().
  u32 coordinate(u32 router, u32 dim) const { return (address[router] >> dim_shift[dim]) & dim_mask[dim]; }
  /// Returns the router at a packed address: the inverse of `address`.
  u32 router_at(u32 packed) const {
    u32 router = 0, stride = 1;
    for (std::size_t d = 0; d < shape.size(); stride *= shape[d++])
      router += ((packed >> dim_shift[d]) & dim_mask[d]) * stride;
    return router;
  }
};

inline constexpr u32 kMostRouterPorts = 64;  ///< ports of a router, those to terminals included
inline constexpr u32 kLongestDelay = 4096;   ///< of a channel, cycles

/// Sets the width of a channel to a ratio of integers up to 64, within 1e-4 of `width` (flits/cycle). Throws
/// ConfigError, beginning with `where`, if there is none.
void set_width(Channel& channel, double width, const std::string& where);

/// Returns a mesh, torus or ring. The radix of each dimension is at least 1. A dimension of radix 1 has no channels; a
/// torus dimension of radix 2 has two parallel channel pairs. Throws ConfigError on a bad shape.
Topology make_mesh(const std::vector<u32>& shape, u32 concentration);
Topology make_torus(const std::vector<u32>& shape, u32 concentration);
Topology make_hypercube(u32 dimensions, u32 concentration);
/// Returns a graph from a list of edges: CSV lines "a,b", "a,b,delay" or "a,b,delay,width" with router numbers 0..n-1,
/// and '#' comments. The graph is undirected and connected, and may have parallel edges. ConfigError for a self-loop,
/// an isolated router, a disconnected graph, or a delay or width that channels cannot have. `with_terminals`: number of
/// routers that have terminals, the first ones; 0: all.
Topology make_graph(const TextSource& text, u32 concentration, u32 with_terminals = 0);

}  // namespace flitlab
