#pragma once
/// How many cycles an engine does at a time, and when the user is asked whether the work goes on.
#include <algorithm>
#include <chrono>

#include "host/plan/interrupt.hpp"
#include "kernels/engines/engine_cost.hpp"

namespace flitlab {

/// Belongs to whoever advances a network, and is kept from call to call: how long pieces may be is learnt once, and
/// calls that are short are together as long as others.
class WorkPace {
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLong = std::chrono::milliseconds(250);

 public:
  /// The first piece takes a core about a millisecond. A device may take fifty times as long for a small network.
  explicit WorkPace(const EngineCost& cost) : WorkPace(static_cast<u64>(1e6 / cost.cpu_ns)) {}
  /// `first`: router-cycles of the first piece. `goal`: how long a piece shall take, a quarter of a second for users.
  explicit WorkPace(u64 first, std::chrono::milliseconds goal = kLong) : first_(first), goal_(goal) {}

  /// Cycles of the next piece at most, if a cycle visits so many routers.
  u32 piece(u64 routers, u32 left) {
    if (!most_) most_ = std::max<u64>(1, first_ / std::max<u64>(1, routers));
    began_ = Clock::now();
    return static_cast<u32>(std::min<u64>(left, most_));
  }

  /// A piece has been done. Pieces grow until they take the goal, and shrink if they take twice that.
  void done(u32 piece) {
    const auto taken = Clock::now() - began_;
    if (taken > 2 * goal_) most_ = std::max<u64>(1, piece / 2);
    if (taken < goal_ && piece == most_) most_ *= 2;
  }

  /// Asks the user (check_interrupt), which may throw. To be called where work can stop and go on later.
  void ask() {
    stopped_ = true;  // unless the answer returns
    check_interrupt();
    stopped_ = false;
    asked_ = Clock::now();
  }
  void ask_if_due() {
    if (Clock::now() - asked_ >= kLong) ask();
  }

  /// The user has stopped the work, between two cycles: an error in the middle of one is none of this.
  bool stopped() const { return stopped_; }

 private:
  u64 first_, most_ = 0;  ///< router-cycles; cycles, 0: nothing has been done yet
  std::chrono::milliseconds goal_;
  Clock::time_point began_{}, asked_ = Clock::now();
  bool stopped_ = false;
};

}  // namespace flitlab
