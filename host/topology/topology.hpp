#pragma once
/// Wiring of a network: the port of the router or terminal at each end of every channel. Immutable once built.
#include <string>
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/common/peer.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// Ports of a router: first the network ports, then one port per attached terminal. In Cartesian topologies port 2d is
/// the + direction of dimension d, and 2d+1 its - direction; a hypercube dimension has one channel pair, on port d.
struct Topology {
  std::string kind;        ///< "mesh", "torus", "ring", "hypercube", "graph"
  std::vector<u32> shape;  ///< radix of each dimension, dimension 0 fastest; without dimensions {terminals} or
                           ///< {routers}
  bool wraps = false;      ///< torus and ring: wrap-around channels exist
  u32 concentration = 1;   ///< terminals per router
  u32 routers = 0;
  u32 terminals = 0;
  u32 network_ports = 0;       ///< per router, the largest number over all routers
  u32 ports = 0;               ///< network_ports + concentration
  std::vector<Peer> peers;     ///< [routers][ports]
  std::vector<u32> address;    ///< [routers] packed coordinates (Cartesian), or the router's index (graph)
  std::vector<u8> dim_shift;   ///< [dims] bit position of a dimension's coordinate in an address
  std::vector<u32> dim_mask;   ///< [dims] its mask after shifting
  u64 channels = 0;            ///< unidirectional router-to-router channels
  u64 bisection_channels = 0;  ///< unidirectional channels cut by halving the largest dimension; 0 if unknown

  const Peer& peer(u32 router, u32 port) const { return peers[std::size_t{router} * ports + port]; }
  /// Returns the network ports of `router` whose channels lead to the same router as that of `port`, including `port`:
  /// bit p is port p.
  u32 parallel_ports(u32 router, u32 port) const;
  u32 terminal_router(u32 terminal) const { return terminal / concentration; }
  u32 terminal_port(u32 terminal) const { return network_ports + terminal % concentration; }
  /// Returns whether addresses are packed coordinates of `shape`; in a graph or a multistage network they are plain
  /// numbers.
  bool has_coordinates() const {
    return address.size() == routers && dim_shift.size() == shape.size() && dim_mask.size() == shape.size();
  }
  /// Returns the coordinate of `router` along dimension `dim`, if it has coordinates.
  u32 coordinate(u32 router, u32 dim) const { return (address[router] >> dim_shift[dim]) & dim_mask[dim]; }
  /// Returns the router at a packed address: the inverse of `address`.
  u32 router_at(u32 packed) const {
    u32 router = 0, stride = 1;
    for (std::size_t d = 0; d < shape.size(); stride *= shape[d++])
      router += ((packed >> dim_shift[d]) & dim_mask[d]) * stride;
    return router;
  }
};

/// Returns the terminals of a Cartesian network. ConfigError if there are more than a packet can address.
u32 count_terminals(const std::vector<u32>& shape, u32 concentration);

/// Mesh, torus or ring of any radix >= 1 per dimension. A dimension of radix 1 has no channels; a torus dimension of
/// radix 2 has two parallel channel pairs. Throws ConfigError on a bad shape.
Topology make_mesh(const std::vector<u32>& shape, u32 concentration);
Topology make_torus(const std::vector<u32>& shape, u32 concentration);
Topology make_hypercube(u32 dimensions, u32 concentration);
/// Any connected undirected graph from an edge list: CSV lines "a,b" of router indices 0..n-1, '#' comments. Parallel
/// edges are allowed. ConfigError for a self-loop, an isolated router or a disconnected graph.
Topology make_graph(const TextSource& text, u32 concentration);

}  // namespace flitlab
