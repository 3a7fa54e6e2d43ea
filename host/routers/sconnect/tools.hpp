#pragma once
/// Tools that need no network: exploration of the channel protocol, and routing tables of a fabric given as lists.
#include <vector>

#include "host/plan/console.hpp"

namespace flitlab {

/// Returns the tools.
std::vector<Tool> sconnect_tools();

}  // namespace flitlab
