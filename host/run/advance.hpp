#pragma once
/// Advance of a running network: cycles of the engine, and the host's work between them.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/feed.hpp"
#include "host/run/skips.hpp"
#include "host/run/work_slicer.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Throws RunError if cycle `now + cycles` is beyond the last cycle that can be emulated.
void require_time(Cycle now, u64 cycles);

/// Advances the `active` replicas of an engine by `cycles`. Between cycles it applies the plan's changes (dead links,
/// for example), feeds traces, skips what need not be stepped, and calls check_interrupt() two to four times a second.
/// `feeds`: one for each replica, or empty. `slicer`: the caller keeps it from call to call, so that check_interrupt()
/// is called as often if each call advances a few cycles only.
void advance(Engine& engine, const Plan& plan, const Feeds& feeds, Skips& skips, u32 cycles,
             std::span<const u32> active, WorkSlicer& slicer);
/// Advances in a single call: makes a new `slicer` for it.
void advance(Engine& engine, const Plan& plan, const Feeds& feeds, Skips& skips, u32 cycles,
             std::span<const u32> active);

}  // namespace flitlab
