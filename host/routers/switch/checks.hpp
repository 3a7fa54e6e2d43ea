#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_switch(const Experiment& experiment);

/// Shape of the terminals (ModelRecord::shape).
std::vector<u32> switch_shape(const Experiment& experiment);

}  // namespace flitlab
