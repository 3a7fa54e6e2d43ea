#pragma once
/// Additional options (output ports and virtual channels) for tables with one path per pair (TIC, destination), in a
/// given order of queues.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Adds options over other neighbours that are equally near to the destination, if messages still move to later queues
/// only. `rank`: [queues] position in the order of queues. `length`: [destinations][TICs] hops of the paths. `entry`:
/// [TICs][destinations] tables, changed in place.
void add_sconnect_alternates(const SconnectFabric& fabric, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry);

/// Removes options over the busiest channels, or replaces them by others, while this lowers the highest channel loads
/// under uniform traffic (loads.hpp). Path lengths do not change. The arguments are the same as for
/// add_sconnect_alternates().
void balance_sconnect_tables(const SconnectFabric& fabric, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry);

}  // namespace flitlab
