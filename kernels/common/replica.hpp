#pragma once
/// The run parameters in which the replicas of one job may differ.
#include "kernels/common/types.hpp"

namespace flitlab {

inline constexpr u32 kMaxTrafficClasses = 8;

/// How often a terminal creates packets.
struct SourceRate {
  double inverse_log_miss = 0;      ///< Bernoulli: 1 / ln(1 - packets per cycle); 0: a packet every cycle
  double period = 0;                ///< periodic: cycles per packet
  double inverse_log_stay_off = 0;  ///< on-off: 1 / ln(1 - 1 / mean pause)
};

/// Run parameters of a source. The rate applies to all terminals, unless TrafficTable::rates gives each terminal its
/// own.
struct SourceRow : SourceRate {
  u64 seed = 1;
  Cycle window_begin = kNever;  ///< packets created in [window_begin, window_end) are measured
  Cycle window_end = kNever;
  double inverse_log_stay_on = 0;  ///< on-off: 1 / ln(1 - 1 / mean burst)
  u32 silent = 0;                  ///< 1: load is zero, no packet is ever created
  u32 pad = 0;
};

/// Run parameters of a replica. With several classes of packets, the rate is that of class 0.
struct ReplicaRow : SourceRow {
  SourceRate more[kMaxTrafficClasses - 1];  ///< [class - 1] rates of the classes from 1 on
};

}  // namespace flitlab
