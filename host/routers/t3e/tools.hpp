#pragma once
/// Computations about T3Es that need no network: what a machine's tables do, and virtual-channel tables of rings.
#include <vector>

#include "host/plan/console.hpp"

namespace flitlab {

std::vector<Tool> t3e_tools();

}  // namespace flitlab
