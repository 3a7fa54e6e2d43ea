#pragma once
/// Barrier and eureka units as software on the PEs sees them (paper, section 6), of the first replica between cycles.
#include <string>
#include <vector>

#include "host/routers/t3e/plan.hpp"

namespace flitlab::t3e {

/// A unit's register in a router, by the names of ports.
struct BarrierPorts {
  std::vector<std::string> children, joined;
  std::string parent;  ///< "" at the root, and outside the tree
};

/// S_BAR, S_ARM or S_EUR. ConfigError, here and below, if the unit is not in use.
std::string barrier_state(const Engine& engine, const T3ePlan& plan, u32 pe, u32 unit);
/// OP_BAR, OP_EUR or OP_EUR_B. ConfigError if PEs act by themselves, or the unit's state does not allow it.
void operate_barrier(Engine& engine, const T3ePlan& plan, u32 pe, u32 unit, const std::string& operation);
BarrierPorts barrier_ports(const Engine& engine, const T3ePlan& plan, u32 node, u32 unit);

}  // namespace flitlab::t3e
