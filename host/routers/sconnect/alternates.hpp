#pragma once
/// Additional options for tables with one path per pair, in a given order of queues.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Adds options over other neighbours that are equally near, where messages still move to later queues only. `rank`:
/// [queues] position in the order; `length`: [destinations][TICs] hops of the paths; `entry`: [TICs][destinations]
/// tables, changed in place.
void add_sconnect_alternates(const SconnectFabric& fabric, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry);

/// Removes options over the busiest channels, or replaces them, as long as that lowers the highest loads under uniform
/// traffic (loads.hpp). Path lengths do not change. Arguments as above.
void balance_sconnect_tables(const SconnectFabric& fabric, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry);

}  // namespace flitlab
