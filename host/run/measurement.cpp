#include "host/run/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/config/registry.hpp"
#include "host/run/params.hpp"
#include "host/run/run.hpp"
#include "host/run/statistics.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

u64 get(const Totals& totals, Total total) { return total_of(totals, total); }

/// Packets of the window that are no longer under way.
u64 settled_packets(const Totals& c) { return get(c, Total::kMeasuredDelivered) + get(c, Total::kMeasuredDropped); }

/// Warm-up before a window of fixed length: halves of the last 16 epochs must agree; given up after 200 epochs.
constexpr std::size_t kSteadyWindow = 8;
constexpr std::size_t kLongestWarmup = 200;
constexpr double kSteadyTolerance = 0.01;
/// A window is saturated if throughput falls short of the load by more than this part of it, and by more than
/// chance explains.
constexpr double kShortfall = 0.02;
/// It is saturated as well if a few sources alone cannot keep up, which the total hardly shows. Their queues grow all
/// along the window, and by Little's law every g packets more in the queues mean g / (packets per cycle) cycles more
/// of waiting; latency is steady enough if that is within this part of the time that packets spend in the network.
/// A smaller growth, or one that chance explains, does not matter to the mean latency either.
constexpr double kLongerWait = 0.1;

/// Automatic windows: they are looked at after ten epochs, and then whenever there are a quarter more. They are
/// believed when they have lasted ten times as long as packets take, and a hundred have arrived.
constexpr std::size_t kFirstLook = 10;
constexpr double kLatenciesOfWindow = 10, kPacketsOfWindow = 100;

/// Whether packets go on for ever, so that there is a window.
bool has_window(const Experiment& e) {
  const std::string& mode = e.str(param::traffic.mode);
  return mode == "open" || mode == "request_reply";
}

bool ends_by_itself(const Experiment& e) { return has_window(e) && e.is_auto(param::run.measure_cycles); }

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

u32 cycles_of_epoch(const Experiment& e) {
  if (!e.is_auto(param::run.epoch_cycles)) return e.u32_of(param::run.epoch_cycles);
  return ends_by_itself(e) ? 100 : 500;
}

Measurement::Measurement(const Experiment& e, u32 index, Engine& engine, const Plan& plan, const TraceFeed* feed,
                         const Totals& totals)
    : experiment_(e),
      index_(index),
      engine_(engine),
      plan_(plan),
      feed_(feed),
      epoch_(cycles_of_epoch(e)),
      automatic_(ends_by_itself(e)),
      last_(totals) {
  if (!has_window(e)) {
    phase_ = Phase::kToTheEnd;
    set_window(0, kNever - 1);
  } else if (!e.is_auto(param::run.warmup_cycles) && e.i64(param::run.warmup_cycles) == 0) {
    begin_window();
  }
}

void Measurement::load(Loader& loader) {
  visit(loader, *this);
  const std::size_t channels = channel_flits(plan_, engine_.state(index_)).size();
  const auto fits = [&](const std::vector<u32>& list) { return list.empty() || list.size() == channels; };
  Loader::require(phase_ <= Phase::kDone && fits(channel_start_) && fits(channel_end_) &&
                  (channel_end_.empty() || channel_start_.size() == channels) &&
                  (phase_ != Phase::kMeasure || channel_start_.size() == channels) && sums_.size() == counts_.size() &&
                  network_sums_.size() == counts_.size());
}

void Measurement::look(const Totals& now) {
  const double packets = delta(now, Total::kPacketsDelivered);
  const double created = delta(now, Total::kFlitsCreated), delivered = delta(now, Total::kFlitsDelivered);
  const double dropped = delta(now, Total::kFlitsDropped);
  const u64 created_packets = get(now, Total::kPacketsCreated);
  const u64 settled = get(now, Total::kPacketsDelivered) + get(now, Total::kPacketsDropped);
  if (automatic_ && phase_ <= Phase::kMeasure) observe(now);
  switch (phase_) {
    case Phase::kWarmup:
      if (packets > 0) latency_.push_back(delta(now, Total::kLatencySum) / packets);
      throughput_.push_back(delivered);
      if (warm()) begin_window();
      break;
    case Phase::kMeasure:
      offered_flits_ += created;
      accepted_flits_ += delivered;
      transactions_ += delta(now, Total::kTransactions);
      shortfall_.push_back(created - delivered - dropped);
      queued_.push_back(static_cast<double>(get(now, Total::kPacketsCreated) - get(now, Total::kPacketsInjected)));
      accepted_.push_back(delivered);
      add_batch(now);
      if (window_over()) end_window(now);
      break;
    case Phase::kDrain:
      add_batch(now);
      drain_cycles_ += epoch_;
      if (settled_packets(now) == get(now, Total::kMeasuredCreated))
        finish(now);
      else if (drain_cycles_ >= static_cast<u64>(experiment_.i64(param::run.drain_cycles))) {
        result.saturated = true;  // packets of the window do not get through
        finish(now);
      }
      break;
    case Phase::kToTheEnd:
      offered_flits_ += created;
      accepted_flits_ += delivered;
      add_batch(now);
      if (runs_program() ? get(now, Total::kProgramsFinished) == plan_.topology().terminals
          : feed_        ? feed_->finished(settled)
                         : created_packets == settled) {
        finish(now);
      } else if (runs_program() && created_packets == settled && get(now, Total::kPacketsDropped)) {
        throw RunError("the program cannot go on: " + std::to_string(get(now, Total::kPacketsDropped)) +
                       " packets of its messages were lost.");
      } else if (feed_ && created_packets == settled &&
                 feed_->waits_for_ever(created_packets, get(now, Total::kLastDelivery), engine_.now())) {
        throw RunError("the trace cannot go on: " + std::to_string(feed_->packets() - created_packets) +
                       " packets need others that were lost (" + std::to_string(get(now, Total::kPacketsDropped)) +
                       ") or went elsewhere (" + std::to_string(get(now, Total::kPacketsMisdelivered)) + ").");
      } else {
        give_up_if_stalled(created_packets, settled);
      }
      break;
    case Phase::kDone: break;
  }
  last_ = now;
}

bool Measurement::runs_program() const { return experiment_.str(param::traffic.mode) == "program"; }

double Measurement::delta(const Totals& now, Total total) const {
  return static_cast<double>(get(now, total) - get(last_, total));
}

u64 Measurement::window_cycles() const {
  const u64 asked =
      static_cast<u64>(experiment_.i64(automatic_ ? param::run.longest_window : param::run.measure_cycles));
  return (asked + epoch_ - 1) / epoch_ * epoch_;
}

bool Measurement::warm() {
  if (!experiment_.is_auto(param::run.warmup_cycles))
    return engine_.now() >= static_cast<u64>(experiment_.i64(param::run.warmup_cycles));
  if (steady()) return true;
  result.warmup_steady = automatic_ ? engine_.now() < static_cast<u64>(experiment_.i64(param::run.longest_warmup))
                                    : throughput_.size() < kLongestWarmup;
  return !result.warmup_steady;
}

void Measurement::observe(const Totals& now) {
  const double backlog = static_cast<double>(get(now, Total::kFlitsCreated) - get(now, Total::kFlitsDelivered) -
                                             get(now, Total::kFlitsDropped));
  transient_.add({static_cast<double>(epoch_), delta(now, Total::kFlitsCreated), delta(now, Total::kFlitsDelivered),
                  delta(now, Total::kPacketsDelivered), delta(now, Total::kLatencySum), backlog});
  if (transient_.due()) transient_.judge();
}

bool Measurement::steady() const {
  if (automatic_) {
    const bool latency_matters = !transient_.saturated() && !transient_.falls_behind();
    return transient_.throughput_settled() && (transient_.latency_settled() || !latency_matters);
  }
  if (!settled(throughput_, kSteadyWindow, kSteadyTolerance)) return false;
  // Past saturation latency grows for ever, while throughput is steady and below the load.
  const double backlog = static_cast<double>(get(last_, Total::kFlitsCreated) - get(last_, Total::kFlitsDelivered) -
                                             get(last_, Total::kFlitsDropped));
  const bool falling_behind = backlog > 0.1 * static_cast<double>(get(last_, Total::kFlitsCreated));
  return falling_behind || latency_.empty() || settled(latency_, kSteadyWindow, kSteadyTolerance);
}

void Measurement::set_window(Cycle begin, Cycle end) {
  ReplicaRow row = engine_.row(index_);
  row.window_begin = begin;
  row.window_end = end;
  engine_.set_row(index_, row);
}

void Measurement::begin_window() {
  phase_ = Phase::kMeasure;
  window_begin_ = engine_.now();
  set_window(window_begin_, automatic_ ? kNever - 1 : static_cast<Cycle>(window_begin_ + window_cycles()));
  next_judgement_ = kFirstLook;
  channel_start_ = channel_flits(plan_, engine_.state(index_));
}

/// Deadlocks are found by a search of their own; but packets may wait for ever for other reasons, or go on for ever.
void Measurement::give_up_if_stalled(u64 created, u64 settled) {
  if (created == settled || settled != settled_) settled_at_ = engine_.now();
  settled_ = settled;
  const u64 quiet = engine_.now() - settled_at_;
  if (quiet >= experiment_.u32_of(param::run.stall_cycles))
    throw RunError("no packet has arrived for " + std::to_string(quiet) + " cycles (since cycle " +
                   std::to_string(settled_at_) + "), and " + std::to_string(created - settled) +
                   " are under way: something refuses them, loses them or sends them round for ever. If they only "
                   "need more time, raise run.stall_cycles.");
}

void Measurement::add_batch(const Totals& now) {
  sums_.push_back(delta(now, Total::kMeasuredLatencySum));
  network_sums_.push_back(delta(now, Total::kMeasuredNetworkLatencySum));
  counts_.push_back(delta(now, Total::kMeasuredDelivered));
}

/// Past saturation the accepted load is what a window can tell, else the mean latency.
bool Measurement::window_over() {
  const u64 cycles = engine_.now() - window_begin_;
  const bool longest = cycles >= window_cycles();
  if (!automatic_) return longest;
  const std::size_t epochs = accepted_.size();
  if (!longest && epochs < next_judgement_) return false;
  next_judgement_ = epochs + std::max<std::size_t>(1, epochs / 4);
  const bool past = transient_.saturated();
  const MeanOf m = past ? cautious_means(accepted_, std::vector<double>(epochs, 1.0)) : cautious_means(sums_, counts_);
  const bool believed =
      past || (sum(counts_) >= kPacketsOfWindow && static_cast<double>(cycles) >= kLatenciesOfWindow * m.mean);
  const bool enough = believed && m.half_width <= experiment_.f64(param::run.precision) * m.mean;
  result.window_capped = longest && !enough;
  return longest || enough;
}

void Measurement::end_window(const Totals& now) {
  if (automatic_) set_window(window_begin_, engine_.now());
  measured_cycles_ = engine_.now() - window_begin_;
  channel_end_ = channel_flits(plan_, engine_.state(index_));
  double mean = 0, variance = 0;
  const double n = static_cast<double>(shortfall_.size());
  for (double x : shortfall_) mean += x / n;
  for (double x : shortfall_) variance += (x - mean) * (x - mean) / (n * std::max(1.0, n - 1));
  const bool falls_short = mean * n > kShortfall * offered_flits_ && mean > 3 * std::sqrt(variance);
  const double longer_wait =
      rise(queued_) * static_cast<double>(measured_cycles_) / static_cast<double>(get(now, Total::kMeasuredCreated));
  const double inside = static_cast<double>(get(now, Total::kMeasuredNetworkLatencySum)) /
                        static_cast<double>(get(now, Total::kMeasuredDelivered));
  // A short window is short because nothing moved in it; its few epochs tell less than all those before.
  const bool ended_early = automatic_ && !result.window_capped;
  result.saturated = transient_.saturated() || (!ended_early && (falls_short || longer_wait > kLongerWait * inside));
  if (result.saturated || settled_packets(now) == get(now, Total::kMeasuredCreated))
    finish(now);
  else
    phase_ = Phase::kDrain;
}

void Measurement::finish(const Totals& c) {
  const bool batch = phase_ == Phase::kToTheEnd;
  phase_ = Phase::kDone;
  const Topology& topology = plan_.topology();
  const std::vector<std::byte> state = engine_.state(index_);
  const CounterShard counters = engine_.counters(index_);
  if (batch) {
    measured_cycles_ = std::max(get(c, Total::kLastDelivery) + 1, get(c, Total::kLastProgramEnd));
    channel_end_ = channel_flits(plan_, state);
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
  r.offered = offered_flits_ / flit_slots;
  r.accepted = accepted_flits_ / flit_slots;
  r.created = get(c, Total::kPacketsCreated);
  r.injected = get(c, Total::kPacketsInjected);
  r.delivered = get(c, Total::kPacketsDelivered);
  r.dropped = get(c, Total::kPacketsDropped);
  r.in_flight = r.injected - r.delivered - r.dropped;
  r.queued = r.created - r.injected;
  r.warmup_cycles = window_begin_;
  r.measured_cycles = measured_cycles_;
  r.drain_cycles = drain_cycles_;
  const double measured = static_cast<double>(get(c, Total::kMeasuredDelivered));
  if (measured > 0) r.hops_mean = static_cast<double>(get(c, Total::kMeasuredHops)) / measured;
  if (!r.saturated && measured > 0) {
    r.latency = stats(sums_, counters.latency, get(c, Total::kLatencyMax));
    r.network_latency = stats(network_sums_, counters.network_latency, get(c, Total::kNetworkLatencyMax));
  }
  const Inspector* inspector = plan_.inspector();
  for (const TotalRecord& total : model_of(experiment_.kind()).totals)
    for (u32 i = 0; i < total.count; ++i)
      if (!total.figure.empty() && (!inspector || inspector->shows(total, i, counters)))
        r.model[element_name(total.figure, i)] = static_cast<double>(c[total.first + i]);
  if (inspector)
    for (const auto& [name, value] : inspector->figures(counters, state)) r.model[name] = value;
  if (get(c, Total::kPacketsMisdelivered))
    r.model["packets_misdelivered"] = static_cast<double>(get(c, Total::kPacketsMisdelivered));
  if (experiment_.str(param::traffic.mode) == "request_reply") {
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
    r.channel_flits.push_back(channel_end_[i] - channel_start_[i]);  // counters wrap around
    const double use = r.channel_flits.back() / static_cast<double>(measured_cycles_);
    sum += use;
    most = std::max(most, use);
  }
  r.channel_utilization_mean = channel_end_.empty() ? 0 : sum / static_cast<double>(channel_end_.size());
  r.channel_utilization_max = most;
}

LatencyStats Measurement::stats(const std::vector<double>& sums, const u64* histogram, u64 most) const {
  const MeanOf mean = automatic_ ? cautious_means(sums, counts_) : batch_means(sums, counts_);
  const double largest = static_cast<double>(most);
  return {mean.mean,
          std::min(largest, histogram_quantile(histogram, 0.50)),
          std::min(largest, histogram_quantile(histogram, 0.95)),
          std::min(largest, histogram_quantile(histogram, 0.99)),
          largest,
          mean.half_width};
}

}  // namespace flitlab
