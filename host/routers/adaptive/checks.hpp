#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks conditions between parameters of the adaptive router. Throws ConfigError for the first that fails.
void check_adaptive(const Experiment& experiment);

}  // namespace flitlab
