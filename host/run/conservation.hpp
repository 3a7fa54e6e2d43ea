#pragma once
/// Checks that every state between two cycles must pass: flits and packets are conserved, and no router or terminal
/// reports a fault.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Audits the given replicas. Throws RunError if a replica has a fault, or if flits are missing. Returns the totals of
/// each replica, in the order of `replicas`, so that the caller need not copy them again.
std::vector<Totals> check_conservation(Engine& engine, const Plan& plan, std::span<const u32> replicas);
void check_conservation(Engine& engine, const Plan& plan, u32 replica);

/// Makes the same checks on a state that was read from a file. Throws ConfigError, because the file is wrong and not
/// flitlab.
void check_loaded(Engine& engine, const Plan& plan, u32 replica);

}  // namespace flitlab
