#pragma once
/// Emulated time goes on: cycles of the engine, and between them what the host does to a running network.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/idle.hpp"
#include "host/run/pace.hpp"
#include "host/run/trace_feed.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// RunError if so many cycles more would lead past the end of emulated time.
void require_time(Cycle now, u64 cycles);

/// Advances an engine whose replicas may have feeds (one each, or none at all), with the changes that the plan makes.
/// Idle time is skipped. Between two cycles, two to four times a second, the user is asked (check_interrupt), also if
/// every call is for a few cycles: `pace` is kept from call to call.
void advance(Engine& engine, const Plan& plan, std::vector<TraceFeed>& feeds, Idle& idle, u32 cycles,
             std::span<const u32> active, WorkPace& pace);
/// The same, for who calls it once.
void advance(Engine& engine, const Plan& plan, std::vector<TraceFeed>& feeds, Idle& idle, u32 cycles,
             std::span<const u32> active);

}  // namespace flitlab
