#pragma once
/// More options for tables of one way each, in a given order of queues.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Lets TICs take other neighbours as near, where messages still go to later queues only. `rank`: place of every queue
/// in the order; `length` [destinations][TICs]: hops that tables take; `entry` [TICs][destinations]: the tables.
void add_sconnect_alternates(const SconnectFabric& fabric, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry);

/// Takes options away from the busiest channels, and gives others, as long as that lowers what the busiest carry of
/// uniform traffic (loads.hpp). Ways stay as long as they are. Arguments as before.
void balance_sconnect_tables(const SconnectFabric& fabric, const std::vector<u32>& rank, const std::vector<u16>& length,
                             std::vector<u16>& entry);

}  // namespace flitlab
