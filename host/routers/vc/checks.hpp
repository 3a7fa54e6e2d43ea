#pragma once
#include <string>
#include <string_view>

#include "host/config/experiment.hpp"

namespace flitlab {

/// Checks the conditions between parameters of the virtual-channel router. Throws ConfigError for the first condition
/// that fails.
void check_vc(const Experiment& experiment);

/// Returns the default of routing.algorithm on a kind of network.
std::string_view default_algorithm(const Experiment& experiment);

/// Returns the number of routing classes (disjoint sets of VCs) that the configuration needs to avoid deadlock; 1: a
/// packet may use any VC.
u32 routing_classes(const Experiment& experiment);

}  // namespace flitlab
