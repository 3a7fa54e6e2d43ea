#pragma once
/// Barrier and eureka units as software on the PEs uses them (paper, section 6). All functions act on the first
/// replica, between cycles.
#include <string>
#include <vector>

#include "host/routers/t3e/plan.hpp"

namespace flitlab::t3e {

/// A unit's register in a router, with ports by name.
struct BarrierPorts {
  std::vector<std::string> children, joined;
  std::string parent;  ///< "" at the root, and outside the tree
};

/// Returns S_BAR, S_ARM or S_EUR: the state of a unit at a PE. Here and below: ConfigError if the unit is not in use.
std::string barrier_state(const Engine& engine, const T3ePlan& plan, u32 pe, u32 unit);
/// Performs OP_BAR, OP_EUR or OP_EUR_B. ConfigError unless barrier.operation is "by_hand" and the unit's state allows
/// the operation.
void operate_barrier(Engine& engine, const T3ePlan& plan, u32 pe, u32 unit, const std::string& operation);
/// Returns the unit's register in the router of a node.
BarrierPorts barrier_ports(const Engine& engine, const T3ePlan& plan, u32 node, u32 unit);

}  // namespace flitlab::t3e
