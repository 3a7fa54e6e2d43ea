#pragma once
#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks conditions between the parameters of the bufferless deflection router. Throws ConfigError for the first one
/// that fails.
void check_bless(const Experiment& experiment);

}  // namespace flitlab
