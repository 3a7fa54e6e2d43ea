#pragma once
/// Detection of traffic that has stopped because packets were lost, in programs, traces and closed loops.
#include <string>

#include "host/plan/plan.hpp"
#include "host/run/trace_feed.hpp"

namespace flitlab {

/// Returns "" if the traffic of a replica can continue, otherwise a sentence that states the cause. `feed`: the trace
/// that is replayed, or null.
std::string explain_stopped_traffic(const Experiment& experiment, const Plan& plan, const Engine& engine, u32 replica,
                                    const Totals& totals, const TraceFeed* feed);

}  // namespace flitlab
