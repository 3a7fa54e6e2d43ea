#pragma once
/// Traffic that can never go on, because it needs packets that were lost: programs, traces and closed loops.
#include <string>

#include "host/plan/plan.hpp"
#include "host/run/trace_feed.hpp"

namespace flitlab {

/// "" if the traffic of a replica may go on, else a line that says what waits for which packets. `feed`: null unless a
/// trace is replayed.
std::string cannot_go_on(const Experiment& experiment, const Plan& plan, const Engine& engine, u32 replica,
                         const Totals& totals, const TraceFeed* feed);

}  // namespace flitlab
