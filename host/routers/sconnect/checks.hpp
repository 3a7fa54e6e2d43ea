#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_sconnect(const Experiment& experiment);

/// Shape of the hosts' ports (ModelRecord::shape).
std::vector<u32> sconnect_shape(const Experiment& experiment);

/// Weights of the priorities of packets that come by a node's first or second parallel port, 0 or 1.
std::vector<u32> sconnect_priorities(const Experiment& experiment, u32 port);

/// Priority of replies of a closed loop; and the highest that requests have, which is no higher.
u32 sconnect_reply_priority(const Experiment& experiment);
u32 sconnect_request_priority(const Experiment& experiment);

/// Buffers that are promised in a TIC.
struct SconnectPromises {
  std::vector<u32> queue;  ///< [priorities] to each queue of a priority
  u32 control;             ///< to control requests, and as many to replies
};
/// ConfigError if there are not so many, or too few.
SconnectPromises sconnect_promises(const Experiment& experiment);

}  // namespace flitlab
