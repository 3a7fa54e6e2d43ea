#pragma once
#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between parameters: virtual channels that a routing algorithm needs, buffers that must hold a packet,
/// patterns that fit only some sizes. Throws ConfigError for the first that fails.
void check_together(const Experiment& experiment);

/// Routing classes of virtual channels that the configuration needs to be free of deadlock (1: any VC will do).
u32 routing_classes(const Experiment& experiment);

/// Message classes, each of which needs the routing classes on virtual channels of its own.
u32 message_classes(const Experiment& experiment);

/// Longest packet in flits; for a geometric law, the length it is cut at. 1 for traces, whose lines are checked.
u32 longest_packet(const Experiment& experiment);

/// Shortest packet in flits.
u32 shortest_packet(const Experiment& experiment);

/// Mean packet length in flits.
double mean_packet(const Experiment& experiment);

}  // namespace flitlab
