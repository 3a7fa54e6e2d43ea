#pragma once
#include "host/config/experiment.hpp"

namespace flitlab {

/// Conditions between its parameters. Throws ConfigError for the first that fails.
void check_bless(const Experiment& experiment);

}  // namespace flitlab
