#pragma once
/// Cycles that need not be stepped: of an idle network whose packets come from the host, and of a program that repeats
/// itself.
#include "host/repetition/repetition.hpp"
#include "host/run/idle.hpp"

namespace flitlab {

struct Skips {
  Skips(const Experiment& experiment, const Plan& plan) : idle(experiment, plan), repetition(experiment, plan) {}

  u64 skipped() const { return idle.skipped() + repetition.skipped(); }

  Idle idle;
  Repetition repetition;
  bool repeats = true;  ///< whether programs may be skipped
  /// Whether a program may be skipped beyond the cycles that advance() was asked for.
  bool beyond = false;
};

}  // namespace flitlab
