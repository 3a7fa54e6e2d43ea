#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between parameters of the single switch. Throws ConfigError for the first condition that
/// fails.
void check_switch(const Experiment& experiment);

/// Returns the shape in which terminals are numbered (ModelRecord::shape).
std::vector<u32> switch_shape(const Experiment& experiment);

}  // namespace flitlab
