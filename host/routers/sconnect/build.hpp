#pragma once
/// How fabrics of TICs are put together, from plain numbers.
#include <optional>
#include <string>
#include <vector>

#include "host/config/text_source.hpp"
#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

inline constexpr u32 kMostSconnectNodes = 16384;

/// What the nodes of a fabric have in common.
struct SconnectNodes {
  bool dual = false;                   ///< two TICs, 8 channels
  u32 host_ports = 1;                  ///< 1 or 2
  u32 delay = 12;                      ///< of a channel, clocks
  std::optional<u64> phase_seed = {};  ///< of the phases of their routing cycles; none: all are in phase

  u32 tics() const { return dual ? 2 : 1; }
  u32 channels() const { return tics() * sconnect::kSerial; }
};

/// All throw ConfigError for what cannot be built.
/// Channels of dimension d are on TIC d / 2 of a dual node, + at the even port and - at the odd one, if there are at
/// most two dimensions a TIC. If dimensions of two nodes make more possible, each takes the first free ports of the
/// first TIC that has room.
SconnectFabric make_sconnect_mesh(const std::vector<u32>& shape, const SconnectNodes& nodes);
/// Dimension d is at port d % 4 of TIC d / 4.
SconnectFabric make_sconnect_hypercube(u32 dimensions, const SconnectNodes& nodes);
/// A random simple connected graph in which each node has `degree` channels.
SconnectFabric make_sconnect_random(u32 count, u32 degree, u64 seed, const SconnectNodes& nodes);
/// Complete tree, level after level; its inner routers are nodes, or switches of as few TICs as have room.
SconnectFabric make_sconnect_tree(u32 arity, u32 levels, bool switches, const SconnectNodes& nodes);
SconnectFabric read_sconnect_graph(const TextSource& text, const SconnectNodes& nodes);

/// Edges of a random regular graph, a < b, sorted: a function of these three numbers alone.
std::vector<std::pair<u32, u32>> make_random_regular(u32 nodes, u32 degree, u64 seed);

/// Routing cycles from a transmitter to a receiver, counted by the two ends' own, for a delay in clocks: the first in
/// which what was sent in one clock of them is there before another (S-Connect, 4.1: it waits for its time slot). Both
/// clocks have the phase of the end in them. At least one: so much every message takes from TIC to TIC.
u32 sconnect_cycles(u32 delay, u32 sent_in, u32 read_in);

/// Puts a fabric together of sites: nodes and switches.
class SconnectBuilder {
 public:
  SconnectBuilder(std::string kind, const SconnectNodes& nodes);

  /// Return the site. Sites are numbered in order; names of the TICs of larger ones get a letter.
  u32 add_node(const std::string& name, u32 tics);
  u32 add_switch(const std::string& name, u32 tics);

  /// Joins ports of TICs of two sites, named by their place in their site.
  void join(u32 a, u32 tic_a, u32 port_a, u32 b, u32 tic_b, u32 port_b);
  /// Joins two sites at the TICs that have fewest channels yet, and at their first free ports. Returns kNone, or the
  /// site that has no channel left.
  u32 join(u32 a, u32 b, u32 clocks);

  u32 sites() const { return static_cast<u32>(first_.size()); }
  const std::string& site_name(u32 site) const { return site_names_[site]; }
  bool is_node(u32 site) const { return fabric_.node_of[first_[site]] != kNone; }
  u32 channels(u32 site) const { return tics_of(site) * sconnect::kSerial; }
  /// A site that cannot be reached from site 0, or kNone.
  u32 cut_off() const;

  SconnectFabric finish(std::vector<u32> shape = {});

 private:
  u32 tics_of(u32 site) const { return (site + 1 < sites() ? first_[site + 1] : fabric_.tics) - first_[site]; }
  u32 add_site(const std::string& name, u32 tics, u32 node);
  void link(u32 tic_a, u32 port_a, u32 tic_b, u32 port_b, sconnect::LinkKind kind, u32 clocks);
  void set_phases();
  void set_delays();
  /// A free port as tic * kPorts + port; kNone: there is none.
  u32 free_port(u32 site) const;

  SconnectFabric fabric_;
  SconnectNodes nodes_;
  std::vector<u32> first_;  ///< [sites] first TIC
  std::vector<std::string> site_names_;
};

}  // namespace flitlab
