#pragma once
/// Tables of shortest ways, by one order of all queues (queue_order.hpp).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Tables in which every TIC's way to a destination is a shortest one where the order of queues can be made to allow
/// that; the destinations are taken up one after the other, and again, better knowing what the others want. Empty if
/// some pair is left without a way.
std::vector<u16> sconnect_tables_by_queues(const SconnectFabric& fabric);

}  // namespace flitlab
