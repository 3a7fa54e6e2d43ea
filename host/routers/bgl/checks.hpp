#pragma once
#include <vector>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks conditions between the parameters of Blue Gene/L's torus. Throws ConfigError for the first one that fails.
void check_bgl(const Experiment& experiment);

}  // namespace flitlab
