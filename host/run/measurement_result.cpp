/// Result of a complete measurement.
#include <algorithm>
#include <numeric>

#include "host/config/registry.hpp"
#include "host/config/run_params.hpp"
#include "host/run/measurement.hpp"
#include "host/run/statistics.hpp"
#include "host/run/totals.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

void Measurement::finish(const Totals& c) {
  const bool batch = period_ == Period::kUntilComplete;
  // A network that has stopped is not reported as saturated. In a closed loop it would even look idle, because its
  // sources stop too.
  // Longest time in which a packet should cross the network, in lengths of the longest packet.
  constexpr u64 kPacketTimes = 100;
  if (!batch)
    fail_if_stalled(c, param::run.watchdog_cycles,
                    std::max(measured_cycles_, kPacketTimes * plan_.facts().longest_packet));
  period_ = Period::kDone;
  const Topology& topology = plan_.topology();
  const std::vector<std::byte> state = engine_.state(index_);
  const CounterShard counters = engine_.counters(index_);
  if (batch) {
    const u64 end = std::max(get(c, Total::kLastDelivery) + 1, get(c, Total::kLastProgramEnd));
    measured_cycles_ = end > start_ ? end - start_ : 1;
    channel_end_ = plan_.channel_flits(state);
    channel_start_.assign(channel_end_.size(), 0);
    if (runs_program())
      result.model["program_cycles"] = static_cast<double>(get(c, Total::kLastProgramEnd));
    else
      result.model[feed_ ? "trace_cycles" : "batch_cycles"] = static_cast<double>(measured_cycles_);
  }
  Result& r = result;
  r.backend = engine_.backend();
  r.device = engine_.device();
  r.threads = engine_.threads();
  r.seed = engine_.row(index_).seed;
  r.routers = topology.routers;
  r.terminals = plan_.facts().active_terminals;
  r.channels = topology.channels;
  r.cycles = engine_.now();
  r.state_bytes = plan_.layout().bytes(1);
  r.state_hash = engine_.state_hash(index_);
  const double flit_slots = static_cast<double>(measured_cycles_) * r.terminals;
  r.offered = (batch ? number(c, Total::kFlitsCreated) : window_.offered()) / flit_slots;
  r.accepted = (batch ? number(c, Total::kFlitsDelivered) : sum(window_.accepted())) / flit_slots;
  r.window_packets.created = get(c, Total::kMeasuredCreated);
  r.window_packets.delivered = get(c, Total::kMeasuredDelivered);
  r.window_packets.dropped = get(c, Total::kMeasuredDropped);
  r.packets.created = get(c, Total::kPacketsCreated);
  r.packets.injected = get(c, Total::kPacketsInjected);
  r.packets.delivered = get(c, Total::kPacketsDelivered);
  r.packets.dropped = get(c, Total::kPacketsDropped);
  r.packets.in_flight = r.packets.injected - r.packets.delivered - r.packets.dropped;
  r.packets.queued = r.packets.created - r.packets.injected;
  r.warmup_cycles = window_begin_;
  r.measured_cycles = measured_cycles_;
  r.drain_cycles = drain_cycles_;
  const double measured = static_cast<double>(get(c, Total::kMeasuredDelivered));
  if (measured > 0) r.hops_mean = static_cast<double>(get(c, Total::kMeasuredHops)) / measured;
  if (r.verdict == Verdict::kSteady && measured > 0) {
    r.latency_cycles =
        stats(get(c, Total::kMeasuredLatencySum), half_width_, counters.latency, get(c, Total::kLatencyMax));
    r.network_latency_cycles = stats(get(c, Total::kMeasuredNetworkLatencySum), network_half_width_,
                                     counters.network_latency, get(c, Total::kNetworkLatencyMax));
  }
  for (const TotalRecord& total : model_of(experiment_.kind()).totals)
    for (u32 i = 0; i < total.count; ++i)
      if (!total.figure.empty() && plan_.shows(total, i, counters))
        r.model[element_name(total.figure, i)] = static_cast<double>(c[total.first + i]);
  for (const auto& [name, value] : plan_.figures(counters, state, measured_cycles_)) r.model[name] = value;
  if (get(c, Total::kPacketsMisdelivered))
    r.model["packets_misdelivered"] = static_cast<double>(get(c, Total::kPacketsMisdelivered));
  if (experiment_.is({param::traffic.mode, "request_reply"})) {
    const double trips = static_cast<double>(get(c, Total::kRoundTrips));
    if (trips > 0) {
      r.model["round_trip_cycles_mean"] = static_cast<double>(get(c, Total::kRoundTripSum)) / trips;
      r.model["round_trip_cycles_max"] = static_cast<double>(get(c, Total::kRoundTripMax));
    }
    r.model["transactions_per_cycle_per_terminal"] = transactions_ / flit_slots;
  }
  double sum = 0, most = 0;
  r.channel_flits.clear();
  for (std::size_t i = 0; i < channel_end_.size(); ++i) {
    // The difference is correct even if the 32-bit counters have wrapped around.
    r.channel_flits.push_back(channel_end_[i] - channel_start_[i]);
    const double use = r.channel_flits.back() / static_cast<double>(measured_cycles_);
    sum += use;
    most = std::max(most, use);
  }
  r.channel_utilization.mean = channel_end_.empty() ? 0 : sum / static_cast<double>(channel_end_.size());
  r.channel_utilization.max = most;
}

/// `sum`: sum of the latencies of all packets in the histogram, cycles. `most`: largest of these latencies.
LatencyStats Measurement::stats(u64 sum, double half_width, const u64* histogram, u64 most) const {
  const auto quantile = [&](double q) { return histogram_quantile(histogram, q, sum, most); };
  const double packets = static_cast<double>(std::accumulate(histogram, histogram + kHistogramBins, u64{0}));
  return {static_cast<double>(sum) / packets, quantile(0.50), quantile(0.95), quantile(0.99),
          static_cast<double>(most),          half_width};
}

}  // namespace flitlab
