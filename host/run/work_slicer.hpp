#pragma once
/// Division of long calls into pieces of cycles, and the times at which the host checks for an interrupt.
#include <algorithm>
#include <chrono>

#include "host/plan/interrupt.hpp"
#include "kernels/engines/engine_cost.hpp"

namespace flitlab {

/// A caller that advances a network keeps its WorkSlicer from call to call. So the length of pieces is learnt once, and
/// a sequence of short calls checks for an interrupt as often as one long call.
class WorkSlicer {
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLong = std::chrono::milliseconds(250);

 public:
  /// The first piece takes about a millisecond on a core; a GPU may take fifty times as long for a small network.
  explicit WorkSlicer(const EngineCost& cost) : WorkSlicer(static_cast<u64>(1e6 / cost.cpu_ns)) {}
  /// `first`: router-cycles of the first piece. `goal`: duration of a piece, by default a quarter of a second.
  explicit WorkSlicer(u64 first, std::chrono::milliseconds goal = kLong) : first_(first), goal_(goal) {}

  /// Returns the cycles of the next piece and starts its clock. `routers`: routers that a cycle visits. `left`: limit.
  u32 piece(u64 routers, u32 left) {
    if (!most_) most_ = std::max<u64>(1, first_ / std::max<u64>(1, routers));
    began_ = Clock::now();
    return static_cast<u32>(std::min<u64>(left, most_));
  }

  /// Call it after each piece. Pieces double until they take `goal_`, and halve if they take more than twice that.
  void done(u32 piece) {
    const auto taken = Clock::now() - began_;
    if (taken > 2 * goal_) most_ = std::max<u64>(1, piece / 2);
    if (taken < goal_ && piece == most_) most_ *= 2;
  }

  /// Calls check_interrupt(), which may throw. Call it between cycles, where the work can stop and be resumed.
  void check() {
    stopped_ = true;  // stays true if check_interrupt() throws
    check_interrupt();
    stopped_ = false;
    checked_at_ = Clock::now();
  }
  void check_if_due() {
    if (Clock::now() - checked_at_ >= kLong) check();
  }

  /// Returns whether an interrupt stopped the work between two cycles; false after any other error.
  bool stopped() const { return stopped_; }

 private:
  u64 first_, most_ = 0;  ///< router-cycles of the first piece; cycles of the next, 0: first piece
  std::chrono::milliseconds goal_;
  Clock::time_point began_{}, checked_at_ = Clock::now();
  bool stopped_ = false;
};

}  // namespace flitlab
