#pragma once
/// Results of a run. kNotMeasured means that a value was not measured; Python shows it as None, JSON as null.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/columns.hpp"
#include "host/plan/not_measured.hpp"
#include "kernels/common/choices.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

struct LatencyStats {
  FLITLAB_COLUMNS(
      (double, mean, kNotMeasured, "cycles", "mean latency"),
      (Figure, p50, kNotMeasured, "cycles",
       "median, from bins: exact below 128 cycles or if all latencies are equal, otherwise within 1/64 of its value"),
      (Figure, p95, kNotMeasured, "cycles", "95th percentile, as exact as p50"),
      (Figure, p99, kNotMeasured, "cycles", "99th percentile, as exact as p50"),
      (Figure, max, kNotMeasured, "cycles", "highest latency"),
      (double, ci95, kNotMeasured, "cycles",
       "half width of the 95 % confidence interval of the mean; null for batches, traces and programs, which measure "
       "all packets, for windows of fewer than five epochs, and for windows shorter than ten periods of on-off "
       "sources"))
};

/// Numbers of packets since cycle 0.
struct PacketCounts {
  FLITLAB_COLUMNS((u64, created, 0, "packets", "created by the sources"),
                  (u64, injected, 0, "packets", "whose head has entered the network"),
                  (u64, delivered, 0, "packets", "whose tail has arrived"),
                  (u64, dropped, 0, "packets", "lost in the network"),
                  (u64, in_flight, 0, "packets", "injected, and neither delivered nor dropped"),
                  (u64, queued, 0, "packets", "created, and not yet injected"))
};

/// Numbers of packets among those created in the measurement window.
struct WindowPacketCounts {
  FLITLAB_COLUMNS((u64, created, 0, "packets", "created in the window"),
                  (u64, delivered, 0, "packets", "delivered by the end of the run"),
                  (u64, dropped, 0, "packets", "dropped by the end of the run"))
};

struct ChannelUtilization {
  FLITLAB_COLUMNS((double, mean, 0, "flits/cycle", "mean of all channels"),
                  (double, max, 0, "flits/cycle", "utilization of the channel that carries most"))
};

/// Verdict of a run about the network under the load of the run.
///  - kSteady: the network carries the load; latencies are valid.
///  - kSaturated: the network does not carry the load: latency has no steady value.
///  - kTooShort: source queues grew, but the window has too few epochs or bursts to exclude that this was chance.
///  - kNotDrained: some packets of the window had not arrived after run.drain_cycles.
FLITLAB_CHOICES(Verdict, (kSteady, "steady"), (kSaturated, "saturated"), (kTooShort, "too_short"),
                (kNotDrained, "not_drained"))

/// The configuration of a run; a result does not store it, the caller has it.
struct StoredByCaller {};

struct Result {
  FLITLAB_COLUMNS(
      (std::string, version, FLITLAB_VERSION, "", "version of flitlab"),
      (std::string, backend, "", "", "backend that ran the network: cpu or cuda"),
      (std::string, device, "", "", "name of the processor or GPU"),
      (u32, threads, 1, "threads", "CPU threads of the job"), (u64, seed, 0, "", "run.seed"),
      (StoredByCaller, config, {}, "", "every parameter with its value, by dotted path"),
      (u32, routers, 0, "routers", "in the network"), (u32, terminals, 0, "terminals", "that take part in the traffic"),
      (u64, channels, 0, "channels", "between routers, each direction counted"), (u64, cycles, 0, "cycles", "emulated"),
      (u64, stepped_cycles, 0, "cycles",
       "emulated one by one; the others were skipped, because the network was idle or a program repeated itself"),
      (std::string, stepped_because, "", "", "programs: why all cycles were stepped; empty: some were skipped"),
      (u64, warmup_cycles, 0, "cycles", "before the measurement window"),
      (u64, measured_cycles, 0, "cycles", "in the measurement window"),
      (u64, drain_cycles, 0, "cycles", "after the window, until its packets had arrived"),
      (double, wall_seconds, 0, "s", "duration of the job until this replica ended"),
      (double, router_cycles_per_second, 0, "router-cycles/s", "speed of the job, all its replicas together"),
      (u64, state_bytes, 0, "bytes", "size of the state of one replica"),
      (Hash, state_hash, {}, "", "hash of the final state; equal on every backend and number of threads"),
      (double, offered, 0, "flits/cycle/terminal", "load that the sources created in the window"),
      (double, accepted, 0, "flits/cycle/terminal", "load that the terminals received in the window"),
      (Verdict, verdict, Verdict::kSteady, "",
       "steady: the network carries the load, and latencies are measured; saturated; too_short: source queues grew, "
       "but the window has too few epochs or bursts to distinguish growth from chance; not_drained: packets of the "
       "window did not arrive within run.drain_cycles"),
      (bool, saturated, false, "", "whether the verdict is saturated"),
      (bool, warmup_steady, true, "", "false: the automatic warm-up reached its limit before latency was steady"),
      (bool, window_capped, false, "",
       "true: the automatic window ended at run.longest_window, short of run.precision"),
      (LatencyStats, latency_cycles, {}, "", "latency from creation to the arrival of the tail; null unless steady"),
      (LatencyStats, network_latency_cycles, {}, "",
       "latency from injection to the arrival of the tail; null unless steady"),
      (double, hops_mean, kNotMeasured, "hops", "mean number of router-to-router channels on a packet's path"),
      (PacketCounts, packets, {}, "", "packets since cycle 0"),
      (WindowPacketCounts, window_packets, {}, "", "packets created in the window"),
      (ChannelUtilization, channel_utilization, {}, "", "utilization of router-to-router channels in the window"),
      (Figures, model, {}, "", "values that only this router model or traffic mode has, by name"))
  /// `[channel]` flits in the measurement window; channels are ordered by router and port.
  std::vector<u32> channel_flits;
};

/// Saves or loads a row of a table, depending on the archive.
template <class Archive, class R>
void visit_row(Archive& archive, R& row) {
  std::remove_const_t<R>::for_each_column(row, [&]<class T>(const Column&, T& value) {
    if constexpr (Row<std::remove_const_t<T>>)
      visit_row(archive, value);
    else if constexpr (!std::is_empty_v<T>)
      archive(value);
  });
}

/// Saves or loads a Result, depending on the archive.
template <class Archive, class R>
void visit_result(Archive& archive, R& r) {
  visit_row(archive, r);
  archive(r.channel_flits);
}

}  // namespace flitlab
