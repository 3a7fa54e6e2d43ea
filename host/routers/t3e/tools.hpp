#pragma once
/// Tools of the T3E: computations without a network, on the effect of routing tables and on virtual-channel tables of
/// rings.
#include <vector>

#include "host/plan/console.hpp"

namespace flitlab {

std::vector<Tool> t3e_tools();

}  // namespace flitlab
