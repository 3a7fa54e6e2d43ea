#pragma once
/// Results of a run. kNotMeasured becomes null in JSON.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/not_measured.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

struct LatencyStats {
  double mean = kNotMeasured, p50 = kNotMeasured, p95 = kNotMeasured, p99 = kNotMeasured, max = kNotMeasured,
         ci95 = kNotMeasured;  ///< all in cycles; ci95: half width of the 95 % confidence interval of the mean
};

/// Verdict of a run about the network under the load of the run.
enum class Verdict : u8 {
  kSteady,      ///< the network carries the load; latencies are valid
  kSaturated,   ///< the network does not carry the load: latency has no steady value
  kTooShort,    ///< source queues grew, but the window has too few epochs or bursts to exclude that this was chance
  kNotDrained,  ///< some packets of the window had not arrived after run.drain_cycles
};
inline constexpr std::string_view kVerdictNames[] = {"steady", "saturated", "too_short", "not_drained"};

struct Result {
  std::string backend, device;
  u32 threads = 1;
  u64 seed = 0;
  u32 routers = 0, terminals = 0;
  u64 channels = 0;
  u64 cycles = 0;                       ///< cycles that this replica has emulated
  double wall_seconds = 0;              ///< duration of the whole job until this replica ended
  double router_cycles_per_second = 0;  ///< speed of the job, all its replicas together
  u64 state_bytes = 0, state_hash = 0;
  double offered = 0, accepted = 0;  ///< flits/cycle/terminal in the measurement window
  Verdict verdict = Verdict::kSteady;
  bool saturated = false;      ///< whether the verdict is kSaturated
  bool warmup_steady = true;   ///< false: the automatic warm-up reached its limit before latency was steady
  bool window_capped = false;  ///< true: the automatic window ended at run.longest_window, short of run.precision
  LatencyStats latency, network_latency;
  double hops_mean = kNotMeasured;
  /// Numbers of packets since cycle 0.
  u64 created = 0, injected = 0, delivered = 0, dropped = 0, in_flight = 0, queued = 0;
  /// Numbers of packets among those created in the measurement window.
  u64 window_created = 0, window_delivered = 0, window_dropped = 0;
  double channel_utilization_mean = 0, channel_utilization_max = 0;  ///< flits/cycle in the measurement window
  /// `[channel]` flits in the measurement window; channels are ordered by router and port.
  std::vector<u32> channel_flits;
  u64 warmup_cycles = 0, measured_cycles = 0, drain_cycles = 0;
  std::map<std::string, double> model;  ///< results that only this router model or traffic mode has, by name
};

/// Saves or loads a Result, depending on the archive.
template <class Archive, class R>
void visit_result(Archive& archive, R& r) {
  archive(r.backend, r.device, r.threads, r.seed, r.routers, r.terminals, r.channels, r.cycles, r.wall_seconds,
          r.router_cycles_per_second, r.state_bytes, r.state_hash, r.offered, r.accepted, r.verdict, r.saturated,
          r.warmup_steady, r.window_capped, r.latency, r.network_latency, r.hops_mean, r.created, r.injected,
          r.delivered, r.dropped, r.in_flight, r.queued, r.window_created, r.window_delivered, r.window_dropped,
          r.channel_utilization_mean, r.channel_utilization_max, r.channel_flits, r.warmup_cycles, r.measured_cycles,
          r.drain_cycles, r.model);
}

}  // namespace flitlab
