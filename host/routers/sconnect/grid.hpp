#pragma once
/// Shortest-path routing tables of meshes and hypercubes, computed from coordinates.
///
/// The dependency graph of each virtual channel is acyclic (Dally & Towles 14.2), and messages change from virtual
/// channel 0 to 1 only:
///   - Virtual channel 0 makes negative hops before positive hops (negative-first turn model), 1 positive before
///     negative.
///   - If all channels of a node are on one TIC, hops in the first of several dimensions may occur at any time,
///   negative
///     ones on virtual channel 0, positive ones on 1. In two dimensions this permits every shortest path.
///   - A dual node has some dimensions on its first TIC and the others on its second. Messages cross between the TICs
///     once: from the first to the second on virtual channel 0, in the other direction on 1.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Returns the tables [tics][nodes] of a mesh or hypercube; empty for other fabrics.
std::vector<u16> sconnect_tables_by_coordinates(const SconnectFabric& fabric);

}  // namespace flitlab
