#include "host/run/idle.hpp"

#include <algorithm>

#include "host/config/registry.hpp"
#include "host/config/stream_hash.hpp"

namespace flitlab {
namespace {

/// More than all delays of a configuration together: every parameter of cycles or clocks, and as much again as the
/// fixed delays of any model come to. A point in time, whose unit is a cycle or a clock, is no delay:
/// Plan::next_change knows it.
u64 sum_of_delays(const Experiment& e) {
  constexpr u64 kFixed = 4096;
  u64 sum = kFixed;
  for (const ParamRecord* p : parameters_of(e.kind())) {
    const bool time = p->unit == "cycles" || p->unit == "clocks";
    if (!time || !e.has(*p) || p->path.starts_with("run.") || p->path.starts_with("traffic.")) continue;
    if (e.is_auto(*p)) continue;
    if (p->type == ParamType::kInt || p->type == ParamType::kIntOrAuto) sum += static_cast<u64>(e.i64(*p));
  }
  return sum;
}

}  // namespace

Idle::Idle(const Experiment& experiment, const Plan& plan)
    : delays_(sum_of_delays(experiment)), audits_{u32(Total::kAuditedFlits), u32(Total::kAuditedPackets)} {
  for (const Conserved& law : plan.facts().conserved) audits_.push_back(law.audited);
}

u64 Idle::fingerprint(Engine& engine, std::span<const u32> active) const {
  StreamHash hash;
  for (u32 replica : active) {
    CounterShard counters = engine.counters(replica);
    for (u32 audit : audits_) counters.total[audit] = 0;
    hash.add(&counters, sizeof counters);
    const u64 state = engine.state_hash(replica);
    hash.add(&state, sizeof state);
  }
  return hash.value();
}

u32 Idle::skip(Engine& engine, const Plan& plan, const std::vector<TraceFeed>& feeds, u32 cycles,
               std::span<const u32> active) {
  const u64 now = engine.now();
  u64 next = std::min<u64>(kEndOfTime, plan.next_change(now));
  for (u32 replica : active) {
    next = std::min(next, feeds[replica].next_cycle());
    if (next < now + 2 * delays_) break;  // finding out would take longer
    const CounterShard c = engine.counters(replica);
    if (!feeds[replica].settled(total_of(c, Total::kPacketsDelivered) + total_of(c, Total::kPacketsDropped))) next = 0;
  }
  until_ = 0;
  if (next < now + 2 * delays_) {
    since_ = kNever;
    return 0;
  }
  const u64 found = fingerprint(engine, active);
  if (found != fingerprint_ || now < since_) since_ = now;  // a checkpoint may set the clock back
  fingerprint_ = found;
  if (now - since_ < delays_) return 0;
  until_ = next / kTraceRing * kTraceRing;
  const u32 skipped = static_cast<u32>(std::min<u64>(cycles, until_ - now)) / kTraceRing * kTraceRing;
  engine.set_now(static_cast<Cycle>(now + skipped));
  skipped_ += skipped;
  return skipped;
}

}  // namespace flitlab
