#pragma once
/// Time in which nothing can happen: a trace whose next packet is far away. The clock is set forward, and every bit of
/// the state is as if the cycles had been stepped.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/trace_feed.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Knows that nothing happens when no packet is under way and neither states nor totals have changed for longer than
/// any delay of the configuration. What is left then depends on the clock only by its remainder: the places of
/// channels, which are empty, and turns of arbiters, which nobody asks. So the clock moves by multiples of kTraceRing.
class Idle {
 public:
  Idle(const Experiment& experiment, const Plan& plan);

  /// Sets the clock of an engine forward, by at most `cycles`; returns by how much. To be called when the clock is a
  /// multiple of kTraceRing, after the feeds (one per replica) have exchanged.
  u32 skip(Engine& engine, const Plan& plan, const std::vector<TraceFeed>& feeds, u32 cycles,
           std::span<const u32> active);

  /// Nothing happens before this cycle, as far as is known.
  u64 until() const { return until_; }
  u64 skipped() const { return skipped_; }  ///< cycles, in all

 private:
  /// No packet is under way.
  static bool settled(Engine& engine, const std::vector<TraceFeed>& feeds, std::span<const u32> active);
  u64 fingerprint(Engine& engine, std::span<const u32> active) const;

  u64 delays_;               ///< cycles without a change after which there will be none
  std::vector<u32> audits_;  ///< totals that say what an audit has seen
  u64 fingerprint_ = 0, since_ = kNever, until_ = 0, skipped_ = 0;
};

}  // namespace flitlab
