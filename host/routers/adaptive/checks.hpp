#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_adaptive(const Experiment& experiment);

}  // namespace flitlab
