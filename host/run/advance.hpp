#pragma once
/// Advance of a running network: cycles of the engine, and the work of the host between them.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/idle.hpp"
#include "host/run/trace_feed.hpp"
#include "host/run/work_slicer.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Throws RunError if `now + cycles` exceeds the end of emulated time.
void require_time(Cycle now, u64 cycles);

/// Advances the `active` replicas of an engine by `cycles`. Applies the plan's changes (dead links, for example), feeds
/// traces and skips idle time. `feeds`: one per replica, or empty. Between two cycles it calls check_interrupt() two to
/// four times a second. `slicer` is kept from call to call, so that this holds for calls of a few cycles, too.
void advance(Engine& engine, const Plan& plan, std::vector<TraceFeed>& feeds, Idle& idle, u32 cycles,
             std::span<const u32> active, WorkSlicer& slicer);
/// The same with a new `slicer`, for a single call.
void advance(Engine& engine, const Plan& plan, std::vector<TraceFeed>& feeds, Idle& idle, u32 cycles,
             std::span<const u32> active);

}  // namespace flitlab
