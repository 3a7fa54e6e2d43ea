#pragma once
/// Routing tables of shortest paths from one order of all queues (queue_order.hpp).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Returns tables with shortest paths as far as it finds a suitable order of queues, and longer paths for the other
/// pairs. Empty if a pair has no path, or the fabric is too large.
std::vector<u16> sconnect_tables_by_queues(const SconnectFabric& fabric);

}  // namespace flitlab
