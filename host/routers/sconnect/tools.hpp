#pragma once
/// Computations about S-Connect that need no network: its channel protocol explored, and routing tables of any fabric
/// that is given as a list of links.
#include <vector>

#include "host/plan/console.hpp"

namespace flitlab {

std::vector<Tool> sconnect_tools();

}  // namespace flitlab
