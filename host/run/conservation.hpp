#pragma once
/// Checks that every state between two cycles must pass: flits and packets are conserved, and no item reports a fault.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Audits the replicas. Throws RunError if a replica has a fault or flits are missing. Returns the totals of each, in
/// the order of `replicas`, so that the caller need not copy them again.
std::vector<Totals> check_conservation(Engine& engine, const Plan& plan, std::span<const u32> replicas);
void check_conservation(Engine& engine, const Plan& plan, u32 replica);

/// The same for a state from a file: throws ConfigError, because the file is at fault and not flitlab.
void check_loaded(Engine& engine, const Plan& plan, u32 replica);

}  // namespace flitlab
