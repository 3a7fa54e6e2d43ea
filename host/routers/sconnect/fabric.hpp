#pragma once
/// Wiring of a fabric (S-Connect, 3, Figures 9 and 10): nodes of one or two TICs with hosts, switches of two or three
/// TICs without hosts, and channels between them.
#include <string>
#include <vector>

#include "kernels/routers/sconnect/link.hpp"

namespace flitlab {

class Experiment;

/// Wiring, names and phases of the TICs of a fabric.
struct SconnectFabric {
  std::string kind;        ///< topology.kind
  std::vector<u32> shape;  ///< nodes in each dimension of a mesh, {2, 2, ...} for a hypercube; otherwise {nodes}
  u32 tics = 0;
  u32 nodes = 0;               ///< number of nodes. Each node has a host and is a destination of messages
  u32 terminals = 0;           ///< number of host ports of all nodes, numbered node by node
  u32 host_ports = 1;          ///< host ports of each node
  u32 parallel_vcs = 1;        ///< virtual channels of parallel ports between TICs
  bool mixed_entries = false;  ///< whether one entry of a routing table may name both serial and parallel ports
  std::vector<u32> node_of;    ///< [tics] node that the TIC belongs to; kNone: the TIC belongs to a switch
  /// [tics] "5" for node 5, "5a" and "5b" for the TICs of dual node 5, "s3a" for a TIC of a switch.
  std::vector<std::string> names;
  std::vector<u8> phase;              ///< [tics] clock in which the TIC's routing cycles begin, 0 to 5
  std::vector<sconnect::Link> links;  ///< [tics][kPorts]
  std::vector<u16> clocks;  ///< [tics][kPorts] delay of the port's channel from transmitter to receiver, clocks

  const sconnect::Link& link(u32 tic, u32 port) const { return links[tic * sconnect::kPorts + port]; }
  /// Returns the virtual channels of a port.
  u32 vcs(u32 tic, u32 port) const { return sconnect::vcs_of(link(tic, port).kind, parallel_vcs); }

  bool operator==(const SconnectFabric&) const = default;
};

/// Returns the fabric of an experiment. ConfigError if it cannot be built: too many channels at a node, or a
/// disconnected graph.
SconnectFabric make_sconnect_fabric(const Experiment& experiment);

}  // namespace flitlab
