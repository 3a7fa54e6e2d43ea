#pragma once
/// Checks of METRO's parameters.
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between parameters. Throws ConfigError for the first that fails.
void check_metro(const Experiment& experiment);

/// Returns the shape of the endpoints (ModelRecord::shape): one dimension; {} for a wiring file.
std::vector<u32> metro_shape(const Experiment& experiment);

}  // namespace flitlab
