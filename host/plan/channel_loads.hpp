#pragma once
/// Loads of channels, and the ideal throughput that follows from them: the load of the sources at which the busiest
/// channel is full (Dally & Towles 3.3). No network delivers more without dropping packets.
#include <functional>
#include <vector>

#include "host/plan/flows.hpp"
#include "host/topology/topology.hpp"

namespace flitlab {

/// Traffic of an open loop, with the rates that terminals have at a load of 1.
class Demand {
 public:
  /// A class of packets.
  struct Part {
    const TrafficTable& traffic;
    double mean_flits;  ///< mean length of a packet
    double share;       ///< part of the load
  };
  Demand(const std::vector<Part>& parts, const Topology& topology);

  /// Returns whether the network is small enough for its pairs of routers and terminals.
  static bool fits(const Topology& topology) { return u64{topology.routers} * topology.terminals <= u64{1} << 22; }

  const Topology& topology() const { return topology_; }
  /// Returns the flits/cycle from the terminals of a router to one terminal.
  double to_terminal(u32 source_router, u32 terminal) const {
    return flits_[std::size_t{source_router} * topology_.terminals + terminal];
  }
  /// Returns the flits/cycle between terminals of two routers: [routers][routers].
  std::vector<double> between_routers() const;
  /// Returns the flits/cycle of the busiest channel between a router and a terminal.
  double busiest_terminal() const { return busiest_terminal_; }
  /// Returns the mean load of the terminals that send, flits/cycle; 0: none sends.
  double mean_load() const { return mean_load_; }

 private:
  const Topology& topology_;
  std::vector<double> flits_;  ///< [routers][terminals]
  double busiest_terminal_ = 0, mean_load_ = 0;
};

/// Widths of the network channels, flits/cycle.
using Width = std::function<double(u32 router, u32 port)>;

/// Flits/cycle on every network channel.
class ChannelLoads {
 public:
  explicit ChannelLoads(const Topology& topology)
      : topology_(topology), loads_(std::size_t{topology.routers} * topology.network_ports) {}

  void add(u32 router, u32 port, double flits) {
    loads_[std::size_t{router} * topology_.network_ports + port] += flits;
  }
  double of(u32 router, u32 port) const { return loads_[std::size_t{router} * topology_.network_ports + port]; }
  /// Adds the load of traffic from all routers to router `to`. At every router it is divided evenly among the ports
  /// that ports(router) returns, as bits; each of them leads one hop closer to `to`. `from`: [routers] flits/cycle.
  void add_toward(u32 to, const std::vector<double>& from, const std::function<u64(u32 router)>& ports);
  /// Returns the load of the busiest channel, as a part of its width.
  double busiest(const Width& width) const;

 private:
  const Topology& topology_;
  std::vector<double> loads_;  ///< [routers][network_ports]
};

/// Returns a lower bound of the load of the busiest channel, as a part of its width, if traffic may take any routes and
/// divide among them in any way. It is the largest of two kinds of bounds. Cuts: what leaves or enters a set of routers
/// (one router, a group, a part of a mesh's coordinates) uses the channels there. Prices: if channels have prices,
/// traffic on the cheapest routes costs at most what all channels together earn. Prices start as the inverse of widths
/// and rise where loads are high, until the bound is within 1 % of the load of known routes, or the network is too
/// large for more steps (multiplicative weights; Garg & Koenemann 1998). `demand`: [routers][routers] flits/cycle.
double least_busiest(const Topology& topology, const std::vector<double>& demand, const Width& width);

}  // namespace flitlab
