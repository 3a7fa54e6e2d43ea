#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between parameters of the adaptive router. Throws ConfigError for the first condition that
/// fails.
void check_adaptive(const Experiment& experiment);

}  // namespace flitlab
