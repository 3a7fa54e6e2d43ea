#pragma once
/// Conditions between the parameters of a T3E.
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between a T3E's parameters. ConfigError for the first condition that fails.
void check_t3e(const Experiment& experiment);

}  // namespace flitlab
