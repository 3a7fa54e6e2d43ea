#pragma once
/// Estimate of the memory that a job needs, made before the job allocates any.
#include "host/plan/plan.hpp"

namespace flitlab {

/// Largest memory use of a job, without its plan, bytes.
struct Footprint {
  u64 host = 0;
  u64 device = 0;  ///< memory of the GPU
};

/// Returns the memory use of `replicas` replicas on the backend and threads of `choice`. Lane state is not included,
/// because an engine uses scalar state if lane state does not fit. `kept_states`: number of copies of a state that the
/// caller keeps, in addition to temporary copies.
Footprint footprint_of(const Plan& plan, u32 replicas, const EngineChoice& choice, u32 kept_states);

/// Returns the number of states that the host copies at the same time for deadlock searches. They take at most 256 MB
/// together, and there is at most one for each thread, but always at least one.
u32 concurrent_searches(u64 state_bytes, u32 threads);

}  // namespace flitlab
