#pragma once
/// Routing tables of shortest paths from one order of all queues (queue_order.hpp).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Returns tables with shortest paths as far as a suitable order of queues can be found, and longer paths for the
/// remaining pairs. Returns an empty list if a pair has no path at all, or if the fabric is too large.
std::vector<u16> sconnect_tables_by_queues(const SconnectFabric& fabric);

}  // namespace flitlab
