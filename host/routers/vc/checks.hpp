#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks conditions between parameters of the virtual-channel router. Throws ConfigError for the first that fails.
void check_vc(const Experiment& experiment);

/// Returns the routing classes of virtual channels that the configuration needs to avoid deadlock (1: any VC will do).
u32 routing_classes(const Experiment& experiment);

}  // namespace flitlab
