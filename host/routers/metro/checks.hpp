#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_metro(const Experiment& experiment);

/// Shape of the endpoints (ModelRecord::shape): a line of them; {} if a wiring file has them.
std::vector<u32> metro_shape(const Experiment& experiment);

}  // namespace flitlab
