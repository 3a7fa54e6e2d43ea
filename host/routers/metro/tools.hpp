#pragma once
/// The tool of METRO that needs no network.
#include <vector>

#include "host/plan/console.hpp"

namespace flitlab {

std::vector<Tool> metro_tools();

}  // namespace flitlab
