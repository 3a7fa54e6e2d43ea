#pragma once
/// Deadlock avoidance by ranks of channels. Every channel has a rank. A packet starts in class 0 of the virtual
/// channels; whenever its next channel does not have a higher rank than the one before, it changes to the next class.
/// So the pair (class, rank) rises along every route, and no packets can wait for one another in a cycle (Dally &
/// Towles 14.1: resource classes and an order of resources). The number of classes depends on the ranks: with equal
/// ranks it is the number of hops; with ranks that rise along every route, one class suffices.
#include <functional>
#include <vector>

#include "host/routing/tables.hpp"
#include "host/topology/topology.hpp"

namespace flitlab {

using Ranks = std::vector<u16>;  ///< [routers][network_ports] rank of the channel that leaves through a port

/// Returns a spanning-tree order of channels, for networks whose channels have no ranks of their own: first the
/// channels that lead toward the root of a breadth-first tree, then channels that lead away from it. Every route that
/// goes up and then down needs one class (up*/down*; Schroeder et al. 1991), and each later turn upward one more.
Ranks tree_ranks(const Topology& topology);

/// Returns the ports of a router that lead along a shortest route to each destination: [routers][routers], bit p is
/// port p. A shortest route has as few channels between groups as possible, and then as few channels as possible.
std::vector<u64> shortest_ports(const Topology& topology);

/// Returns a table with one port for each pair, out of `ports` (shortest_ports()): one of the lowest rank, so that
/// dimensions are crossed in order, and of these the port that fewest routes use so far. If several channels lead to
/// the same router, packets may use any of them.
RouteTable shortest_table(const Topology& topology, const Ranks& ranks, const std::vector<u64>& ports);

/// Returns routes that go first only up and then only down the tree of tree_ranks(). If a router has a route that only
/// goes down, packets take the shortest such route, wherever they came from, although one that goes up first may be
/// shorter: the entry of a table cannot depend on the way that a packet came.
RouteTable up_down_table(const Topology& topology);

/// Returns the number of hops of each pair of routers on the routes of a table: [routers][routers].
std::vector<u8> hops_of(const Topology& topology, const RouteTable& table);

/// Returns the router where the second part of a route over intermediate router `via` begins: `via`, or with `by_group`
/// the first router of its group on the way there.
u32 end_of_part_one(const Topology& topology, const RouteTable& table, u32 from, u32 via, bool by_group);

/// Ports that packets at a router may take toward a destination router, as bits.
using PortsToward = std::function<u64(u32 router, u32 destination)>;

/// Returns the classes that all routes to destinations with terminals need, where routers may choose any of the ports.
u32 classes_of_routes(const Topology& topology, const Ranks& ranks, const PortsToward& ports);

/// Returns the classes that routes over an intermediate router need (end_of_part_one()).
u32 classes_via(const Topology& topology, const Ranks& ranks, const RouteTable& table, bool by_group);

}  // namespace flitlab
