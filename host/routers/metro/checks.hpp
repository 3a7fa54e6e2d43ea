#pragma once
/// Checks of METRO's parameters.
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between METRO's parameters. Throws ConfigError for the first condition that fails.
void check_metro(const Experiment& experiment);

/// Returns the shape in which endpoints are numbered (ModelRecord::shape): one dimension; {} if the wiring is read from
/// a file.
std::vector<u32> metro_shape(const Experiment& experiment);

}  // namespace flitlab
