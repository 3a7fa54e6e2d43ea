#pragma once
/// Shortest ways through meshes and hypercubes, from their coordinates.
///
/// On each virtual channel no circle of queues can close (Dally & Towles 14.2), and a message goes from virtual channel
/// 0 to 1, never back:
///   - Virtual channel 0 makes hops down before hops up, 1 hops up before hops down: the negative-first turn model and
///     its mirror image.
///   - Where all channels of a node are on one TIC, the first of several dimensions is free of that: virtual channel 0
///     has its hops down only, and 1 those up, at any time. In two dimensions that leaves no turn to forbid, and every
///     shortest way can be taken.
///   - A dual node has some dimensions on its first TIC and the others on its second. Messages cross between them once,
///     from the first to the second on virtual channel 0, back on 1.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Tables of a mesh or hypercube; empty for other fabrics.
std::vector<u16> sconnect_tables_by_coordinates(const SconnectFabric& fabric);

}  // namespace flitlab
