#pragma once
/// The small row of run parameters in which the replicas of one job differ.
#include "kernels/common/types.hpp"

namespace flitlab {

struct ReplicaRow {
  u64 seed = 1;
  Cycle window_begin = kNever;  ///< packets created in [window_begin, window_end) are measured
  Cycle window_end = kNever;
  double inverse_log_miss = 0;      ///< Bernoulli: 1 / ln(1 - packets per cycle); 0: a packet every cycle
  double period = 0;                ///< periodic: cycles per packet
  double inverse_log_stay_on = 0;   ///< on-off: 1 / ln(1 - 1 / mean burst)
  double inverse_log_stay_off = 0;  ///< on-off: 1 / ln(1 - 1 / mean pause)
  u32 silent = 0;                   ///< 1: load is zero, nothing is ever created
  u32 pad = 0;
};

}  // namespace flitlab
