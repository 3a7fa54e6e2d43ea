#pragma once
/// Shortest-path routing tables of meshes and hypercubes, computed from coordinates.
///
/// The dependency graph of each virtual channel is acyclic (Dally & Towles 14.2), and messages change from virtual
/// channel 0 to 1, not back:
///   - On virtual channel 0, negative hops precede positive hops (negative-first turn model). On virtual channel 1,
///   positive hops precede negative hops.
///   - If all channels of a node are on one TIC, dimension 0 of several dimensions is free: its hops may occur at any
///   time, negative hops on virtual channel 0 and positive hops on virtual channel 1. In two dimensions this permits
///   every shortest path.
///   - A dual node has some dimensions on its first TIC and the others on its second TIC. Messages cross between the
///   two TICs once: from the first to the second on virtual channel 0, in the other direction on virtual channel 1.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Returns the tables [tics][nodes] of a mesh or hypercube; empty for other fabrics.
std::vector<u16> sconnect_tables_by_coordinates(const SconnectFabric& fabric);

}  // namespace flitlab
