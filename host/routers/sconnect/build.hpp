#pragma once
/// Construction of fabrics from numbers, without an Experiment.
#include <optional>
#include <string>
#include <vector>

#include "host/config/text_source.hpp"
#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

inline constexpr u32 kMostSconnectNodes = 16384;

/// Properties that are the same for all nodes of a fabric.
struct SconnectNodes {
  bool dual = false;                   ///< two TICs and 8 channels instead of one TIC and 4
  u32 host_ports = 1;                  ///< host ports of each node, 1 or 2
  u32 delay = 12;                      ///< delay of a channel, clocks
  std::optional<u64> phase_seed = {};  ///< seed of the phases of routing cycles; empty: all phases are 0

  u32 tics() const { return dual ? 2 : 1; }
  u32 channels() const { return tics() * sconnect::kSerial; }
};

// The functions below throw ConfigError for a fabric that cannot be built.

/// Returns a mesh. If there are at most two dimensions for each TIC, dimension d uses TIC d / 2 of a dual node; the
/// even port leads in the + direction, the odd port in the - direction. With more dimensions (some of them must have
/// two nodes), each dimension takes the first free ports of the first TIC that has enough of them.
SconnectFabric make_sconnect_mesh(const std::vector<u32>& shape, const SconnectNodes& nodes);
/// Returns a hypercube. Dimension d uses port d % 4 of TIC d / 4.
SconnectFabric make_sconnect_hypercube(u32 dimensions, const SconnectNodes& nodes);
/// Returns a random simple connected graph in which each node has `degree` channels.
SconnectFabric make_sconnect_random(u32 count, u32 degree, u64 seed, const SconnectNodes& nodes);
/// Returns a complete tree, whose vertices are numbered level by level. The inner vertices are nodes, or switches, each
/// with as few TICs as its channels need.
SconnectFabric make_sconnect_tree(u32 arity, u32 levels, bool switches, const SconnectNodes& nodes);
/// Returns the fabric that the lines of topology.file describe.
SconnectFabric read_sconnect_graph(const TextSource& text, const SconnectNodes& nodes);

/// Returns the edges (a < b) of a random regular graph, sorted. They depend on the three arguments only.
std::vector<std::pair<u32, u32>> make_random_regular(u32 nodes, u32 degree, u64 seed);

/// Returns the delay of a channel in routing cycles: the receiver's cycle number at arrival minus the transmitter's
/// cycle number at departure; at least 1. The transmitter sends the message in clock `sent_in` of its cycle. The
/// message takes `delay` clocks and then waits for clock `read_in` of a receiver's cycle (S-Connect, 4.1). Both clocks
/// include the phase of their end.
u32 sconnect_cycles(u32 delay, u32 sent_in, u32 read_in);

/// Builds a fabric from sites (nodes and switches) and channels.
class SconnectBuilder {
 public:
  SconnectBuilder(std::string kind, const SconnectNodes& nodes);

  /// Add a site and return its number; sites are numbered in order. If a site has several TICs, their names are the
  /// site's name with a letter.
  u32 add_node(const std::string& name, u32 tics);
  u32 add_switch(const std::string& name, u32 tics);

  /// Joins port port_a of TIC tic_a of site a to port port_b of TIC tic_b of site b. TICs are numbered within their
  /// site.
  void join(u32 a, u32 tic_a, u32 port_a, u32 b, u32 tic_b, u32 port_b);
  /// Joins two sites. At each site it takes the first free port of the TIC with the fewest channels. Returns kNone, or
  /// the site that has no free port.
  u32 join(u32 a, u32 b, u32 clocks);

  u32 sites() const { return static_cast<u32>(first_.size()); }
  const std::string& site_name(u32 site) const { return site_names_[site]; }
  bool is_node(u32 site) const { return fabric_.node_of[first_[site]] != kNone; }
  u32 channels(u32 site) const { return tics_of(site) * sconnect::kSerial; }
  /// Returns a site that cannot be reached from site 0, or kNone.
  u32 cut_off() const;

  /// Returns the fabric; `shape` is its SconnectFabric::shape.
  SconnectFabric finish(std::vector<u32> shape = {});

 private:
  u32 tics_of(u32 site) const { return (site + 1 < sites() ? first_[site + 1] : fabric_.tics) - first_[site]; }
  u32 add_site(const std::string& name, u32 tics, u32 node);
  void link(u32 tic_a, u32 port_a, u32 tic_b, u32 port_b, sconnect::LinkKind kind, u32 clocks);
  void set_phases();
  void set_delays();
  /// Returns a free serial port of a site as tic * kPorts + port; kNone: no port is free.
  u32 free_port(u32 site) const;

  SconnectFabric fabric_;
  SconnectNodes nodes_;
  std::vector<u32> first_;  ///< [sites] first TIC
  std::vector<std::string> site_names_;
};

}  // namespace flitlab
