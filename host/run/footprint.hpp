#pragma once
/// Estimate of the memory that a job needs, before it allocates any.
#include "host/plan/plan.hpp"

namespace flitlab {

/// Peak memory of a job beside its plan, bytes.
struct Footprint {
  u64 host = 0;
  u64 device = 0;  ///< of a GPU
};

/// Returns the footprint of `replicas` on the backend and threads of `choice`. Lane state is not included, because an
/// engine uses scalar state where lane state does not fit. `kept_states`: copies of a state that the caller keeps,
/// beside temporary copies.
Footprint footprint_of(const Plan& plan, u32 replicas, const EngineChoice& choice, u32 kept_states);

/// Returns how many states the host copies at a time for deadlock searches: at most 256 MB, at most one per thread, at
/// least one.
u32 concurrent_searches(u64 state_bytes, u32 threads);

}  // namespace flitlab
