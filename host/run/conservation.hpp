#pragma once
/// What has to hold of any state between two cycles: nothing is lost, and nothing says what cannot be.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Throws RunError if the audit of a replica finds a fault or flits are missing. Returns their totals, in order: who
/// looks at them next need not ask again.
std::vector<Totals> check_conservation(Engine& engine, const Plan& plan, std::span<const u32> replicas);
void check_conservation(Engine& engine, const Plan& plan, u32 replica);

/// The same for a state that comes from a file, whose writer is to blame: throws ConfigError.
void check_loaded(Engine& engine, const Plan& plan, u32 replica);

}  // namespace flitlab
