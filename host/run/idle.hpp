#pragma once
/// Skipping of idle time if packets come from the host. If the next packet is many cycles away, the host sets the clock
/// forward. The state is then bit by bit the same as if these cycles had been stepped.
#include <span>
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/feed.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

/// Detects idle time: no packet is in flight, and states and totals have not changed for longer than the sum of all
/// delays of the configuration. Such a state depends on the clock only modulo kTraceQueue (positions in empty channels,
/// priorities of idle arbiters). So the clock moves by a multiple of kTraceQueue.
class Idle {
 public:
  Idle(const Experiment& experiment, const Plan& plan);

  /// Sets the clock of an engine forward by at most `cycles`. Returns the number of cycles skipped. Must be called when
  /// the clock is a multiple of kTraceQueue, and after exchange() of all feeds (one for each replica).
  u32 skip(Engine& engine, const Plan& plan, const Feeds& feeds, u32 cycles, std::span<const u32> active);

  /// Returns the cycle up to which the network is known to be idle; 0: it is not idle.
  u64 until() const { return until_; }
  u64 skipped() const { return skipped_; }  ///< cycles skipped so far

 private:
  /// Returns whether no packet is in flight.
  static bool settled(Engine& engine, const Feeds& feeds, std::span<const u32> active);
  u64 fingerprint(Engine& engine, std::span<const u32> active) const;

  u64 delays_;               ///< number of cycles without a change after which the network is idle
  std::vector<u32> audits_;  ///< totals that only audits write
  u64 fingerprint_ = 0, since_ = kNever, until_ = 0, skipped_ = 0;
};

}  // namespace flitlab
