#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_t3e(const Experiment& experiment);

}  // namespace flitlab
