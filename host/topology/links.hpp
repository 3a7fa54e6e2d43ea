#pragma once
/// Networks without a regular grid, described by their links.
#include <string>
#include <vector>

#include "host/topology/topology.hpp"

namespace flitlab {

/// A pair of channels between routers `a` and `b`, one in each direction.
struct Link {
  u32 a, b;
  Channel channel = {};
  u16 rank = 0, rank_back = 0;  ///< Topology::rank of the channels a -> b and b -> a
};

/// A network as a list of links. The ports of a router are numbered in the order of its links. Each of the first
/// `with_terminals` routers has `concentration` terminals, and the others have none.
struct Links {
  std::string kind;  ///< as in Topology
  u32 routers = 0, with_terminals = 0, concentration = 1;
  std::vector<Link> links = {};
  std::vector<u16> group = {};          ///< as in Topology
  std::vector<std::string> place = {};  ///< as in Topology
  bool has_ranks = false;  ///< whether links have ranks; if not, routing derives ranks from a spanning tree

  void join(u32 a, u32 b, u16 rank = 0, u16 rank_back = 0) { links.push_back({a, b, {}, rank, rank_back}); }
};

/// Returns the network of a list of links. Throws ConfigError if it is not connected, or if a router has too many
/// ports. `where`: begins messages, for example "topology.file: ring.csv".
Topology make_network(const Links& links, const std::string& where);

}  // namespace flitlab
