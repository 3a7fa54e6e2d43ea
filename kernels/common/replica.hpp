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

/// Run parameters of a replica. With several classes of packets, these are of the sources of class 0, and every other
/// class has its own rate and seed.
struct ReplicaRow : SourceRow {
  SourceRow more[kMaxTrafficClasses - 1];  ///< [class - 1] of the classes from 1 on; their windows are unused
};

/// Returns the run parameters of the sources of a class.
FLITLAB_HD inline const SourceRow& row_of_class(const ReplicaRow& row, u32 number) {
  return number ? row.more[number - 1] : row;
}

}  // namespace flitlab
