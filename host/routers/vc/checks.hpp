#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_vc(const Experiment& experiment);

/// Routing classes of virtual channels that the configuration needs to be free of deadlock (1: any VC will do).
u32 routing_classes(const Experiment& experiment);

}  // namespace flitlab
