#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks conditions between parameters of the single switch. Throws ConfigError for the first that fails.
void check_switch(const Experiment& experiment);

/// Returns the shape of the terminals (ModelRecord::shape).
std::vector<u32> switch_shape(const Experiment& experiment);

}  // namespace flitlab
