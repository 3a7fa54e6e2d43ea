#pragma once
/// Tools of the T3E. They need no network: they compute the effect of routing tables, and the virtual-channel tables of
/// rings.
#include <vector>

#include "host/plan/console.hpp"

namespace flitlab {

std::vector<Tool> t3e_tools();

}  // namespace flitlab
