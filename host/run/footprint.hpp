#pragma once
/// The memory that a job takes, counted before it is taken.
#include "host/plan/plan.hpp"

namespace flitlab {

/// Memory that a job takes at its peak, beside its plan, bytes.
struct Footprint {
  u64 host = 0;
  u64 device = 0;  ///< of a GPU
};

/// Of so many replicas, on the backend and threads that `choice` names. Lanes are not counted: engines do without them
/// where they do not fit. `kept_states`: copies of a state that the caller keeps, beside the copies that reading it
/// makes.
Footprint footprint_of(const Plan& plan, u32 replicas, const EngineChoice& choice, u32 kept_states);

/// States that the host may copy at a time to search them for deadlock: at most so many as it has threads.
u32 searched_together(u64 state_bytes, u32 threads);

}  // namespace flitlab
