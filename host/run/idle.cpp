#include "host/run/idle.hpp"

#include <algorithm>

#include "host/config/registry.hpp"
#include "host/config/stream_hash.hpp"

namespace flitlab {
namespace {

/// Returns an upper bound of the sum of all delays of a configuration: the sum of all parameters in cycles or clocks,
/// plus a bound of the fixed delays of any model. A parameter that names a point in time (unit "cycle" or "clock") is
/// not a delay; Plan::next_change covers it.
u64 sum_of_delays(const Experiment& e) {
  constexpr u64 kFixed = 4096;
  u64 sum = kFixed;
  for (const ParamRecord* p : parameters_of(e.kind())) {
    const bool time = p->unit == "cycles" || p->unit == "clocks";
    if (!time || !e.has(*p) || p->path.starts_with("run.") || p->path.starts_with("traffic.")) continue;
    if (e.is_auto(*p)) continue;
    if (p->type == ParamType::kInt || p->type == ParamType::kIntOrAuto) sum += static_cast<u64>(e.i64(*p));
    if (p->type == ParamType::kIntOrList)
      for (const u32 delay : e.ints(*p)) sum += delay;
  }
  return sum;
}

}  // namespace

Idle::Idle(const Experiment& experiment, const Plan& plan)
    : delays_(sum_of_delays(experiment) + plan.topology().longest_delay()),
      audits_{u32(Total::kAuditedFlits), u32(Total::kAuditedPackets)} {
  for (const Conserved& law : plan.facts().conserved) audits_.push_back(law.audited);
}

u64 Idle::fingerprint(Engine& engine, std::span<const u32> active) const {
  StreamHash hash;
  for (Totals& totals : engine.totals(active)) {
    for (u32 audit : audits_) totals[audit] = 0;
    hash.add(&totals, sizeof totals);
  }
  for (u32 replica : active) {
    const u64 state = engine.state_hash(replica);
    hash.add(&state, sizeof state);
  }
  return hash.value();
}

bool Idle::settled(Engine& engine, const Feeds& feeds, std::span<const u32> active) {
  const std::vector<Totals> totals = engine.totals(active);
  for (std::size_t i = 0; i < active.size(); ++i)
    if (!feeds[active[i]]->settled(total_of(totals[i], Total::kPacketsDelivered) +
                                   total_of(totals[i], Total::kPacketsDropped)))
      return false;
  return true;
}

u32 Idle::skip(Engine& engine, const Plan& plan, const Feeds& feeds, u32 cycles, std::span<const u32> active) {
  until_ = 0;
  if (cycles < kTraceQueue) return 0;  // too few to skip; finding out would take longer than stepping
  const u64 now = engine.now();
  u64 next = std::min<u64>(kEndOfTime, plan.next_change(now));
  for (u32 replica : active) next = std::min(next, feeds[replica]->next_cycle());
  // The next packet comes too soon, or packets are in flight.
  if (next < now + 2 * delays_ || !settled(engine, feeds, active)) {
    since_ = kNever;
    return 0;
  }
  const u64 found = fingerprint(engine, active);
  // `now` is before since_ if a checkpoint has set the clock back.
  if (found != fingerprint_ || now < since_) since_ = now;
  fingerprint_ = found;
  if (now - since_ < delays_) return 0;
  until_ = next / kTraceQueue * kTraceQueue;
  const u32 skipped = static_cast<u32>(std::min<u64>(cycles, until_ - now)) / kTraceQueue * kTraceQueue;
  engine.set_now(static_cast<Cycle>(now + skipped));
  skipped_ += skipped;
  return skipped;
}

}  // namespace flitlab
