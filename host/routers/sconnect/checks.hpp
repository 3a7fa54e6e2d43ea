#pragma once
/// Conditions between the parameters of S-Connect, and defaults that depend on several parameters.
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between parameters. Throws ConfigError for the first condition that fails.
void check_sconnect(const Experiment& experiment);

/// Returns the radix of each dimension in which terminals are numbered (ModelRecord::shape).
std::vector<u32> sconnect_shape(const Experiment& experiment);

/// Returns for each priority the weight with which packets at a node's host port (0 or 1) have it.
std::vector<u32> sconnect_priorities(const Experiment& experiment, u32 port);

/// Return the priority of replies in a closed loop, and the highest priority of requests.
u32 sconnect_reply_priority(const Experiment& experiment);
u32 sconnect_request_priority(const Experiment& experiment);

/// Reserved buffers of a TIC.
struct SconnectReservations {
  std::vector<u32> queue;  ///< [priority] buffers reserved for each queue of that priority
  u32 control;             ///< buffers reserved for control requests; the same number is reserved for replies to them
};
/// Returns the reservations of every TIC. ConfigError if they exceed the buffer pool, or are too small to prevent
/// deadlock.
SconnectReservations sconnect_reservations(const Experiment& experiment);

}  // namespace flitlab
