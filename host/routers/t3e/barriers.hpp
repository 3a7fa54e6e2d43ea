#pragma once
/// Barrier and eureka units as software on the PEs uses them (paper, section 6). All functions act on the first
/// replica, between cycles.
#include <string>
#include <vector>

#include "host/routers/t3e/plan.hpp"

namespace flitlab::t3e {

/// The register of a barrier unit in a router, with the names of its ports.
struct BarrierPorts {
  std::vector<std::string> children, joined;
  std::string parent;  ///< name of the port to the parent; "" at the root of the tree and for a router outside the tree
};

/// Returns S_BAR, S_ARM or S_EUR: the state of a unit at a PE. This function and the next ones throw ConfigError if the
/// unit is not in use.
std::string barrier_state(const Engine& engine, const T3ePlan& plan, u32 pe, u32 unit);
/// Performs OP_BAR, OP_EUR or OP_EUR_B. ConfigError unless barrier.operation is "by_hand" and the unit's state allows
/// the operation.
void operate_barrier(Engine& engine, const T3ePlan& plan, u32 pe, u32 unit, const std::string& operation);
/// Returns the unit's register in the router of a node.
BarrierPorts barrier_ports(const Engine& engine, const T3ePlan& plan, u32 node, u32 unit);

}  // namespace flitlab::t3e
