#include "host/run/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/config/registry.hpp"
#include "host/config/run_params.hpp"
#include "host/run/run.hpp"
#include "host/run/statistics.hpp"
#include "host/run/stopped_traffic.hpp"
#include "host/run/totals.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

/// Returns the number of the window's packets that have been delivered or dropped.
u64 settled_packets(const Totals& c) { return get(c, Total::kMeasuredDelivered) + get(c, Total::kMeasuredDropped); }

/// Warm-up before a window of fixed length ends when the first and the second half of the last 16 epochs agree, or
/// after 200 epochs.
constexpr std::size_t kSteadyWindow = 8;
constexpr std::size_t kLongestWarmup = 200;
constexpr double kSteadyTolerance = 0.01;
/// Automatic windows: the precision of the mean latency is judged after 16 epochs, then each time that the number of
/// epochs has grown by a quarter. A judgement can end the window only if the window is at least ten times as long as
/// the mean latency and as the burst period, and 100 packets have arrived.
constexpr std::size_t kFirstJudgement = 16;
constexpr double kLatenciesOfWindow = 10, kBurstsOfWindow = 10, kPacketsOfWindow = 100;

/// Returns whether sources create packets without end, so that the run has a measurement window.
bool has_window(const Experiment& e) {
  const std::string& mode = e.str(param::traffic.mode);
  return mode == "open" || mode == "request_reply";
}

bool ends_by_itself(const Experiment& e) { return has_window(e) && e.is_auto(param::run.measure_cycles); }

double queued_packets(const Totals& c) {
  return number(c, Total::kPacketsCreated) - number(c, Total::kPacketsInjected);
}

double mean_network_latency(const Totals& c) {
  return number(c, Total::kMeasuredNetworkLatencySum) / number(c, Total::kMeasuredDelivered);
}

/// Returns the mean number of cycles from one burst of an on-off source to its next burst; 0: sources have no bursts.
/// With a traffic matrix sources have different periods, and the function returns a lower bound of them, the length of
/// a burst.
double burst_period(const Experiment& e) {
  if (!e.has(param::traffic.burst_load)) return 0;
  const double burst_load = e.f64(param::traffic.burst_load);
  const double load = e.has(param::traffic.load) ? e.f64(param::traffic.load) : burst_load;
  return load > 0 ? e.f64(param::traffic.burst_cycles) * burst_load / load : 0;
}

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
      last_(totals),
      start_(e.has(param::traffic.start) ? e.u32_of(param::traffic.start) : 0) {
  if (!has_window(e)) {
    period_ = Period::kUntilComplete;
    window_begin_ = start_;
    set_window(0, kNever - 1);
  } else if (start_ == 0 && warm()) {
    begin_window(totals);
  }
}

void Measurement::load(Loader& loader) {
  visit(loader, *this);
  const std::size_t channels = plan_.channel_flits(engine_.state(index_)).size();
  const auto fits = [&](const std::vector<u32>& list) { return list.empty() || list.size() == channels; };
  Loader::require(period_ <= Period::kDone && fits(channel_start_) && fits(channel_end_) &&
                  (channel_end_.empty() || channel_start_.size() == channels) &&
                  (period_ != Period::kMeasure || channel_start_.size() == channels) &&
                  latency_sums_.size() == packets_.size() && network_sums_.size() == packets_.size() &&
                  window_.epochs() + steady_epochs_ <= packets_.size() && result.verdict <= Verdict::kNotDrained);
}

void Measurement::evaluate(const Totals& now) {
  note_progress(now);
  if (period_ != Period::kDone)
    if (const std::string why = explain_stopped_traffic(experiment_, plan_, engine_, index_, now, feed_); !why.empty())
      throw RunError(why);
  switch (period_) {
    case Period::kWarmup:
      if (!precedes_traffic()) record_epoch(now);
      if (engine_.now() >= start_ && warm()) begin_window(now);
      break;
    case Period::kMeasure: evaluate_window(now); break;
    case Period::kDrain:
      drain_cycles_ += epoch_;
      end_drain(now);
      break;
    case Period::kUntilComplete: evaluate_completion(now); break;
    case Period::kDone: break;
  }
  last_ = now;
}

/// Returns whether the epoch that has just ended began before sources create packets (traffic.start).
bool Measurement::precedes_traffic() const { return engine_.now() < start_ + epoch_; }

/// Records an epoch with traffic, either of the warm-up or of the window.
void Measurement::record_epoch(const Totals& now) {
  packets_.push_back(delta(now, Total::kPacketsDelivered));
  latency_sums_.push_back(delta(now, Total::kLatencySum));
  network_sums_.push_back(delta(now, Total::kNetworkLatencySum));
  if (automatic_) observe(now);
  if (period_ != Period::kWarmup) return;
  if (packets_.back() > 0) latency_.push_back(latency_sums_.back() / packets_.back());
  throughput_.push_back(delta(now, Total::kFlitsDelivered));
}

void Measurement::evaluate_window(const Totals& now) {
  record_epoch(now);
  transactions_ += delta(now, Total::kTransactions);
  window_.add({delta(now, Total::kFlitsCreated), delta(now, Total::kFlitsDelivered), delta(now, Total::kPacketsCreated),
               queued_packets(now)});
  if (window_over(now)) end_window(now);
}

/// Returns whether all packets of a batch, broadcast, trace or program have been created, and each has been delivered
/// or dropped.
bool Measurement::complete(const Totals& now) const {
  const u64 settled = get(now, Total::kPacketsDelivered) + get(now, Total::kPacketsDropped);
  if (runs_program()) return get(now, Total::kProgramsFinished) == plan_.topology().terminals;
  if (feed_) return feed_->finished(settled);
  const u64 created = get(now, Total::kPacketsCreated);
  return created == settled && created >= plan_.facts().batch_packets;
}

void Measurement::evaluate_completion(const Totals& now) {
  if (complete(now)) return finish(now);
  fail_if_stalled(now, param::run.stall_cycles, 0);
}

bool Measurement::runs_program() const { return experiment_.is({param::traffic.mode, "program"}); }

double Measurement::delta(const Totals& now, Total total) const {
  return static_cast<double>(get(now, total) - get(last_, total));
}

u64 Measurement::window_cycles() const {
  const u64 requested =
      static_cast<u64>(experiment_.i64(automatic_ ? param::run.longest_window : param::run.measure_cycles));
  return (requested + epoch_ - 1) / epoch_ * epoch_;
}

bool Measurement::warm() {
  const u64 cycles = engine_.now() - start_;
  if (!experiment_.is_auto(param::run.warmup_cycles))
    return cycles >= static_cast<u64>(experiment_.i64(param::run.warmup_cycles));
  if (steady()) {
    // Number of epochs at the end of the warm-up that the test found steady. With an automatic window the test
    // (`Transient`) compares the halves of the warm-up, otherwise (`settled`) the last 16 epochs.
    steady_epochs_ = automatic_ ? packets_.size() / 2 : kSteadyWindow;
    return true;
  }
  result.warmup_steady = automatic_ ? cycles < static_cast<u64>(experiment_.i64(param::run.longest_warmup))
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

/// Returns whether throughput and latency have settled. With on-off sources, they cannot settle before one burst period
/// has passed.
bool Measurement::steady() const {
  if (static_cast<double>(engine_.now() - start_) < burst_period(experiment_)) return false;
  if (automatic_) {
    const bool latency_matters = !transient_.saturated() && !transient_.falls_behind();
    return transient_.throughput_settled() && (transient_.latency_settled() || !latency_matters);
  }
  if (!settled(throughput_, kSteadyWindow, kSteadyTolerance)) return false;
  // Past saturation, latency grows without limit, although throughput is steady. The backlog shows that throughput is
  // below the offered load.
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

void Measurement::begin_window(const Totals& now) {
  period_ = Period::kMeasure;
  window_begin_ = engine_.now();
  window_.begin(queued_packets(now));
  set_window(window_begin_, automatic_ ? kNever - 1 : static_cast<Cycle>(window_begin_ + window_cycles()));
  next_judgement_ = kFirstJudgement;
  channel_start_ = plan_.channel_flits(engine_.state(index_));
}

/// Records the cycle of the last progress. Packets of a batch that have not been created yet count as missing too.
void Measurement::note_progress(const Totals& now) {
  const u64 settled = get(now, Total::kPacketsDelivered) + get(now, Total::kPacketsDropped);
  const bool none_missing = settled == std::max(get(now, Total::kPacketsCreated), plan_.facts().batch_packets);
  if (none_missing || settled != settled_ || precedes_traffic()) progress_at_ = engine_.now();
  settled_ = settled;
}

/// Throws RunError if packets are missing and no packet has arrived for too long: `patience` (a parameter, cycles) or
/// `least` cycles, whichever is longer. Possible causes: a terminal does not accept packets, a router loses them, or
/// they circulate. The deadlock search finds deadlocks.
void Measurement::fail_if_stalled(const Totals& now, const ParamRecord& patience, u64 least) const {
  const u64 quiet = engine_.now() - progress_at_, created = get(now, Total::kPacketsCreated);
  if (quiet < std::max<u64>(experiment_.u32_of(patience), least)) return;
  const u64 expected = plan_.facts().batch_packets;
  throw RunError("no packet has arrived for " + std::to_string(quiet) + " cycles (since cycle " +
                 std::to_string(progress_at_) + "), and " + std::to_string(created - settled_) + " are under way" +
                 (expected > created ? " and " + std::to_string(expected - created) + " still to be created" : "") +
                 ": they are blocked, lost or circling. If they only need more time, raise " +
                 std::string(patience.path) + ".");
}

double Measurement::half_width_of(const std::vector<double>& sums) const {
  const std::size_t samples = window_.epochs() + steady_epochs_, before = sums.size() - samples;
  const auto last = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
  };
  return half_width(last(sums), last(packets_), steady_epochs_);
}

/// Returns whether the window ends now. An automatic window ends when it is precise enough: past saturation, the
/// precision of the accepted load counts, otherwise that of the mean latency.
bool Measurement::window_over(const Totals& now) {
  const u64 cycles = engine_.now() - window_begin_;
  const bool longest = cycles >= window_cycles();
  if (!automatic_) return longest;
  const std::size_t epochs = window_.epochs();
  if (!longest && epochs < next_judgement_) return false;
  next_judgement_ = epochs + std::max<std::size_t>(1, epochs / 4);
  const double duration = static_cast<double>(cycles), packets = number(now, Total::kMeasuredDelivered);
  const bool past = transient_.saturated();
  const std::vector<double>& accepted = window_.accepted();
  const double mean =
      past ? sum(accepted) / static_cast<double>(epochs) : number(now, Total::kMeasuredLatencySum) / packets;
  const double half = past ? half_width(accepted, std::vector<double>(epochs, 1.0)) : half_width_of(latency_sums_);
  const bool long_enough = duration >= kBurstsOfWindow * burst_period(experiment_) &&
                           (past || (packets >= kPacketsOfWindow && duration >= kLatenciesOfWindow * mean));
  const bool enough = long_enough && half <= experiment_.f64(param::run.precision) * mean;
  result.window_capped = longest && !enough;
  return longest || enough;
}

void Measurement::end_window(const Totals& now) {
  if (automatic_) set_window(window_begin_, engine_.now());
  measured_cycles_ = engine_.now() - window_begin_;
  channel_end_ = plan_.channel_flits(engine_.state(index_));
  const double cycles = static_cast<double>(measured_cycles_);
  const bool sees_bursts = cycles >= kBurstsOfWindow * burst_period(experiment_);
  if (sees_bursts) {
    half_width_ = half_width_of(latency_sums_);
    network_half_width_ = half_width_of(network_sums_);
  }
  // An automatic window that has reached its precision is short, so `transient_` judges saturation, from all epochs of
  // the run.
  const bool ended_early = automatic_ && !result.window_capped;
  Verdict verdict = Verdict::kSteady;
  if (transient_.saturated())
    verdict = Verdict::kSaturated;
  else if (!ended_early)
    verdict = window_.verdict(cycles, mean_network_latency(now));
  // A few bursts can overload a network for a while although it carries the mean load.
  if (!sees_bursts && verdict == Verdict::kSaturated) verdict = Verdict::kTooShort;
  set_verdict(verdict);
  period_ = Period::kDrain;
  if (result.verdict != Verdict::kSteady) return finish(now);
  end_drain(now);
}

/// Ends the run when all packets of the window have been delivered or dropped, or after run.drain_cycles.
void Measurement::end_drain(const Totals& now) {
  const bool settled = settled_packets(now) == get(now, Total::kMeasuredCreated);
  if (!settled && drain_cycles_ < static_cast<u64>(experiment_.i64(param::run.drain_cycles))) return;
  if (!settled) set_verdict(Verdict::kNotDrained);
  finish(now);
}

void Measurement::set_verdict(Verdict verdict) {
  result.verdict = verdict;
  result.saturated = verdict == Verdict::kSaturated;
}

}  // namespace flitlab
