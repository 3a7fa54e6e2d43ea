#pragma once
/// Networks without a regular grid, described by their links.
#include <numeric>
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

/// Sets of routers that links connect (union-find).
class Parts {
 public:
  explicit Parts(u32 routers) : of_(routers) { std::iota(of_.begin(), of_.end(), 0u); }
  /// Returns the number of a router's set.
  u32 of(u32 router) {
    while (of_[router] != router) router = of_[router] = of_[of_[router]];
    return router;
  }
  /// Unites two sets. Returns false if they already were one.
  bool join(u32 a, u32 b) {
    const u32 from = of(a), to = of(b);
    of_[from] = to;
    return from != to;
  }

 private:
  std::vector<u32> of_;
};

/// Returns how many channels a router with `terminals` terminals may have, for messages: "at most 62 are supported
/// beside 2 terminals".
std::string most_channels(u32 terminals);

/// Returns the network of a list of links. Throws ConfigError if it is not connected, or if a router has too many
/// ports. `where`: begins messages, for example "topology.file: ring.csv".
Topology make_network(const Links& links, const std::string& where);

/// Returns the links of a network, each once. In a grid, places are coordinates, and ranks rise along dimensions.
Links links_of(const Topology& topology);

/// Links that have failed, in both directions, and routers.
struct Failures {
  std::vector<u32> pairs;  ///< router numbers of the ends: a, b, a, b ...; a pair fails one of its parallel links
  u32 at_random = 0;       ///< number of other links
  u64 seed = 0;
  std::vector<u32> routers = {};  ///< numbers of failed routers, whose links and terminals are lost
};

/// Returns a network without its failed links and routers. It is no grid; its ports are numbered anew, and so are the
/// routers behind failed ones. Throws ConfigError, beginning with `where`, if there is no such link or router, or if
/// the others do not connect all routers.
Topology without_failed(const Topology& topology, const Failures& failures, const std::string& where);

}  // namespace flitlab
