#pragma once
/// Division of a long computation into pieces of some cycles. Between pieces the host checks for an interrupt.
#include <algorithm>
#include <chrono>

#include "host/plan/interrupt.hpp"
#include "kernels/engines/engine_cost.hpp"

namespace flitlab {

/// A caller that advances a network keeps its WorkSlicer from call to call. So the WorkSlicer learns a suitable length
/// of pieces only once, and many short calls check for an interrupt as often as one long call.
class WorkSlicer {
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLong = std::chrono::milliseconds(250);

 public:
  /// Chooses a first piece that takes about a millisecond on a CPU core; on a GPU it may take fifty times as long if
  /// the network is small.
  explicit WorkSlicer(const EngineCost& cost) : WorkSlicer(static_cast<u64>(1e6 / cost.cpu_ns)) {}
  /// `first`: size of the first piece, router-cycles. `goal`: wanted duration of a piece, by default a quarter of a
  /// second.
  explicit WorkSlicer(u64 first, std::chrono::milliseconds goal = kLong) : first_(first), goal_(goal) {}

  /// Returns the number of cycles of the next piece, and starts to measure its time. `routers`: number of routers that
  /// each cycle processes. `left`: largest number to return.
  u32 piece(u64 routers, u32 left) {
    if (!most_) most_ = std::max<u64>(1, first_ / std::max<u64>(1, routers));
    began_ = Clock::now();
    return static_cast<u32>(std::min<u64>(left, most_));
  }

  /// Must be called after each piece. The length of pieces doubles until a piece takes `goal_`, and is halved if a
  /// piece takes more than twice as long.
  void done(u32 piece) {
    const auto taken = Clock::now() - began_;
    if (taken > 2 * goal_) most_ = std::max<u64>(1, piece / 2);
    if (taken < goal_ && piece == most_) most_ *= 2;
  }

  /// Calls check_interrupt(), which may throw. Must be called between cycles, where the work can be stopped and
  /// resumed.
  void check() {
    stopped_ = true;  // stays true if check_interrupt() throws
    check_interrupt();
    stopped_ = false;
    checked_at_ = Clock::now();
  }
  void check_if_due() {
    if (Clock::now() - checked_at_ >= kLong) check();
  }

  /// Returns whether an interrupt has stopped the work between two cycles; false after any other error.
  bool stopped() const { return stopped_; }

 private:
  /// Size of the first piece, router-cycles; `most_`: cycles of the next piece, 0: there was no piece yet.
  u64 first_, most_ = 0;
  std::chrono::milliseconds goal_;
  Clock::time_point began_{}, checked_at_ = Clock::now();
  bool stopped_ = false;
};

}  // namespace flitlab
