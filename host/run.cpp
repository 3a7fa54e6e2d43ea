#include "host/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "host/error.hpp"
#include "host/statistics.hpp"
#include "kernels/common/packet.hpp"
#include "kernels/common/fault.hpp"

namespace flitlab {
namespace {

u64 get(const CounterShard& c, Total total) { return c.total[static_cast<u32>(total)]; }

/// Automatic warm-up: halves of the last 16 epochs must agree; given up after 200 epochs.
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

enum class Phase { kWarmup, kMeasure, kDrain, kBatch, kDone };

/// One replica on its way through the phases.
class Replica {
 public:
  Replica(const Experiment& e, u32 index, Engine& engine, const Plan& plan, const TraceFeed* feed)
      : experiment_(e), index_(index), engine_(engine), plan_(plan), feed_(feed), epoch_(e.u32_of("run.epoch_cycles")) {
    last_ = engine_.counters(index_);
    if (e.str("traffic.mode") == "batch" || e.str("traffic.mode") == "trace") {
      phase_ = Phase::kBatch;
      set_window(0, kNever - 1);
    } else if (!e.is_auto("run.warmup_cycles") && e.i64("run.warmup_cycles") == 0) {
      begin_window();
    }
  }

  bool done() const { return phase_ == Phase::kDone; }
  Result result;

  /// Looks at what the epoch that has just ended brought.
  void look() {
    const CounterShard now = engine_.counters(index_);
    const double packets = delta(now, Total::kPacketsDelivered);
    const double created = delta(now, Total::kFlitsCreated), delivered = delta(now, Total::kFlitsDelivered);
    switch (phase_) {
      case Phase::kWarmup: {
        if (packets > 0) latency_.push_back(delta(now, Total::kLatencySum) / packets);
        throughput_.push_back(delivered);
        if (warm()) begin_window();
        break;
      }
      case Phase::kMeasure:
        offered_flits_ += created;
        accepted_flits_ += delivered;
        transactions_ += delta(now, Total::kTransactions);
        shortfall_.push_back(created - delivered);
        queued_.push_back(static_cast<double>(get(now, Total::kPacketsCreated) - get(now, Total::kPacketsInjected)));
        add_batch(now);
        if (engine_.now() - window_begin_ >= window_cycles()) end_window(now);
        break;
      case Phase::kDrain:
        add_batch(now);
        drain_cycles_ += epoch_;
        if (get(now, Total::kMeasuredDelivered) == get(now, Total::kMeasuredCreated))
          finish(now);
        else if (drain_cycles_ >= static_cast<u64>(experiment_.i64("run.drain_cycles"))) {
          result.saturated = true;  // packets of the window do not get through
          finish(now);
        }
        break;
      case Phase::kBatch:
        offered_flits_ += created;
        accepted_flits_ += delivered;
        add_batch(now);
        if (feed_ ? feed_->finished(get(now, Total::kPacketsDelivered))
                  : get(now, Total::kPacketsCreated) == get(now, Total::kPacketsDelivered))
          finish(now);
        break;
      case Phase::kDone:
        break;
    }
    last_ = now;
  }

 private:
  double delta(const CounterShard& now, Total total) const {
    return static_cast<double>(get(now, total) - get(last_, total));
  }

  u64 window_cycles() const {
    const u64 asked = static_cast<u64>(experiment_.i64("run.measure_cycles"));
    return (asked + epoch_ - 1) / epoch_ * epoch_;
  }

  bool warm() {
    if (!experiment_.is_auto("run.warmup_cycles"))
      return engine_.now() >= static_cast<u64>(experiment_.i64("run.warmup_cycles"));
    if (steady()) return true;
    result.warmup_steady = throughput_.size() < kLongestWarmup;
    return !result.warmup_steady;
  }

  bool steady() const {
    if (!settled(throughput_, kSteadyWindow, kSteadyTolerance)) return false;
    // Past saturation latency grows for ever, while throughput is steady and below the load.
    const double backlog = static_cast<double>(get(last_, Total::kFlitsCreated) - get(last_, Total::kFlitsDelivered));
    const bool falling_behind = backlog > 0.1 * static_cast<double>(get(last_, Total::kFlitsCreated));
    return falling_behind || latency_.empty() || settled(latency_, kSteadyWindow, kSteadyTolerance);
  }

  void set_window(Cycle begin, Cycle end) {
    ReplicaRow row = engine_.row(index_);
    row.window_begin = begin;
    row.window_end = end;
    engine_.set_row(index_, row);
  }

  void begin_window() {
    phase_ = Phase::kMeasure;
    window_begin_ = engine_.now();
    set_window(window_begin_, static_cast<Cycle>(window_begin_ + window_cycles()));
    channel_start_ = plan_.channel_flits(engine_.state(index_));
  }

  void add_batch(const CounterShard& now) {
    sums_.push_back(delta(now, Total::kMeasuredLatencySum));
    network_sums_.push_back(delta(now, Total::kMeasuredNetworkLatencySum));
    counts_.push_back(delta(now, Total::kMeasuredDelivered));
  }

  void end_window(const CounterShard& now) {
    measured_cycles_ = engine_.now() - window_begin_;
    channel_end_ = plan_.channel_flits(engine_.state(index_));
    double mean = 0, variance = 0;
    const double n = static_cast<double>(shortfall_.size());
    for (double x : shortfall_) mean += x / n;
    for (double x : shortfall_) variance += (x - mean) * (x - mean) / (n * std::max(1.0, n - 1));
    const bool falls_short = mean * n > kShortfall * offered_flits_ && mean > 3 * std::sqrt(variance);
    const double longer_wait =
        rise(queued_) * static_cast<double>(measured_cycles_) / static_cast<double>(get(now, Total::kMeasuredCreated));
    const double inside = static_cast<double>(get(now, Total::kMeasuredNetworkLatencySum)) /
                          static_cast<double>(get(now, Total::kMeasuredDelivered));
    result.saturated = falls_short || longer_wait > kLongerWait * inside;
    if (result.saturated || get(now, Total::kMeasuredDelivered) == get(now, Total::kMeasuredCreated))
      finish(now);
    else
      phase_ = Phase::kDrain;
  }

  void finish(const CounterShard& c) {
    const bool batch = phase_ == Phase::kBatch;
    phase_ = Phase::kDone;
    const Topology& topology = plan_.topology();
    const std::vector<std::byte> state = engine_.state(index_);
    if (batch) {
      measured_cycles_ = get(c, Total::kLastDelivery) + 1;
      channel_end_ = plan_.channel_flits(state);
      channel_start_.assign(channel_end_.size(), 0);
      result.model[feed_ ? "trace_cycles" : "batch_cycles"] = static_cast<double>(measured_cycles_);
    }
    Result& r = result;
    r.backend = engine_.backend();
    r.device = engine_.device();
    r.threads = engine_.threads();
    r.seed = engine_.row(index_).seed;
    r.routers = topology.routers;
    r.terminals = topology.terminals;
    r.channels = topology.channels;
    r.cycles = engine_.now();
    r.state_bytes = plan_.layout().bytes(1);
    r.state_hash = engine_.state_hash(index_);
    const double flit_slots = static_cast<double>(measured_cycles_) * topology.terminals;
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
      r.latency = stats(sums_, c.latency, get(c, Total::kLatencyMax));
      r.network_latency = stats(network_sums_, c.network_latency, get(c, Total::kNetworkLatencyMax));
    }
    if (experiment_.str("traffic.mode") == "request_reply") {
      const double trips = static_cast<double>(get(c, Total::kRoundTrips));
      if (trips > 0) {
        r.model["round_trip_cycles_mean"] = static_cast<double>(get(c, Total::kRoundTripSum)) / trips;
        r.model["round_trip_cycles_max"] = static_cast<double>(get(c, Total::kRoundTripMax));
      }
      r.model["transactions_per_cycle_per_terminal"] = transactions_ / flit_slots;
    }
    double sum = 0, most = 0;
    for (std::size_t i = 0; i < channel_end_.size(); ++i) {
      const double use = static_cast<u32>(channel_end_[i] - channel_start_[i]) / static_cast<double>(measured_cycles_);
      sum += use;
      most = std::max(most, use);
    }
    r.channel_utilization_mean = channel_end_.empty() ? 0 : sum / static_cast<double>(channel_end_.size());
    r.channel_utilization_max = most;
  }

  LatencyStats stats(const std::vector<double>& sums, const u64* histogram, u64 most) const {
    const MeanOf mean = batch_means(sums, counts_);
    const double largest = static_cast<double>(most);
    return {mean.mean,
            std::min(largest, histogram_quantile(histogram, 0.50)),
            std::min(largest, histogram_quantile(histogram, 0.95)),
            std::min(largest, histogram_quantile(histogram, 0.99)),
            largest,
            mean.half_width};
  }

  const Experiment& experiment_;
  u32 index_;
  Engine& engine_;
  const Plan& plan_;
  const TraceFeed* feed_;  ///< replay: where the packets come from
  u32 epoch_;
  Phase phase_ = Phase::kWarmup;
  CounterShard last_{};
  std::vector<double> latency_, throughput_;   // per warm-up epoch
  std::vector<double> shortfall_;              // per epoch of the window: flits created minus delivered
  std::vector<double> queued_;                 // at the end of every epoch of the window: packets in source queues
  std::vector<double> sums_, network_sums_, counts_;  // per epoch from the window on
  double offered_flits_ = 0, accepted_flits_ = 0, transactions_ = 0;
  u64 window_begin_ = 0, measured_cycles_ = 0, drain_cycles_ = 0;
  std::vector<u32> channel_start_, channel_end_;
};

std::string fault_text(u32 bits) {
  std::string text;
  const auto add = [&](u32 bit, const char* what) {
    if (bits & bit) text += (text.empty() ? "" : "; ") + std::string(what);
  };
  add(kFaultBufferOverflow, "a flit arrived at a full buffer");
  add(kFaultCreditOverflow, "more credits than buffer places");
  add(kFaultMisrouted, "a packet reached the wrong terminal");
  add(kFaultNoRoute, "no route toward a destination");
  add(kFaultCreditLost, "credits and flits of a channel do not add up to its buffer");
  add(kFaultQueueOverflow, "a terminal's queue overflowed");
  return text;
}

}  // namespace

void check_conservation(Engine& engine, const Plan& plan, u32 replica) {
  const u64 audited_before = get(engine.counters(replica), Total::kAuditedFlits);
  const FaultReport fault = engine.audit(replica);
  const std::string where = "replica " + std::to_string(replica) + ", cycle " + std::to_string(engine.now());
  if (fault.bits)
    throw RunError("device fault (" + where + ", " +
                   (fault.kind == 0 ? "router " + plan.router_name(fault.item)
                                    : "terminal " + std::to_string(fault.item)) +
                   "): " + fault_text(fault.bits) + ". This is a defect of flitlab; please report it.");
  const CounterShard c = engine.counters(replica);
  const u64 inside = get(c, Total::kAuditedFlits) - audited_before;
  const u64 expected = get(c, Total::kFlitsInjected) - get(c, Total::kFlitsDelivered);
  if (inside != expected)
    throw RunError("flits are not conserved (" + where + "): " + std::to_string(expected) +
                   " should be in the network, " + std::to_string(inside) +
                   " are. This is a defect of flitlab; please report it.");
}

std::vector<TraceFeed> make_feeds(const std::vector<Experiment>& experiments, const Plan& plan) {
  std::vector<TraceFeed> feeds;
  for (const Experiment& e : experiments) {
    if (e.str("traffic.mode") != "trace") continue;
    const bool whole = e.str("router.flow_control") != "wormhole";  // a packet must fit into a buffer
    feeds.emplace_back(e.file("traffic.trace_file"), plan.topology().terminals,
                       whole ? e.u32_of("router.buffer_flits") : kLongestPacket);
  }
  return feeds;
}

u64 check_memory(const Plan& plan, u32 replicas) {
  const u64 each = plan.layout().bytes(1) + sizeof(CounterShard);
  u64 free_bytes = ~u64{0};
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    u64 kib = 0;
    if (key == "MemAvailable:" && meminfo >> kib) free_bytes = kib * 1024;
  }
  if (each > free_bytes / replicas)
    throw ConfigError("topology.shape: the state takes " + std::to_string(each / 1000000) + " MB a replica, " +
                      std::to_string(each * replicas / 1000000) + " MB in all, and " +
                      std::to_string(free_bytes / 1000000) + " MB are free: " +
                      (free_bytes / each ? std::to_string(free_bytes / each) + " replicas would fit."
                                         : "about " + std::to_string(free_bytes / (each / plan.topology().routers)) +
                                               " routers would fit."));
  return each * replicas;
}

std::vector<Result> run_job(const std::vector<Experiment>& experiments, const EngineChoice& choice,
                            const std::function<void(const Progress&)>& report) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::unique_ptr<Plan> plan = make_plan(experiments.front());
  check_memory(*plan, static_cast<u32>(experiments.size()));
  const std::unique_ptr<Engine> engine = plan->make_engine(experiments, choice);
  std::vector<TraceFeed> feeds = make_feeds(experiments, *plan);
  std::vector<Replica> replicas;
  std::vector<u32> active;
  for (u32 i = 0; i < experiments.size(); ++i) {
    replicas.emplace_back(experiments[i], i, *engine, *plan, feeds.empty() ? nullptr : &feeds[i]);
    active.push_back(i);
  }
  const u32 epoch = experiments.front().u32_of("run.epoch_cycles");
  const u64 watchdog = experiments.front().u32_of("run.watchdog_cycles");
  u64 next_search = watchdog;
  double router_cycles = 0;
  while (!active.empty()) {
    advance_with_feeds(*engine, feeds, epoch, active);
    router_cycles += static_cast<double>(active.size()) * epoch * plan->topology().routers;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const bool search = engine->now() >= next_search;
    if (search) next_search += watchdog;
    Progress progress;
    std::vector<u32> still;
    for (u32 i : active) {
      check_conservation(*engine, *plan, i);
      if (search) {
        const std::string deadlock = plan->find_deadlock(engine->state(i));
        if (!deadlock.empty())
          throw RunError("deadlock (replica " + std::to_string(i) + ", found at cycle " +
                         std::to_string(engine->now()) + "): " + deadlock);
      }
      replicas[i].look();
      if (!replicas[i].done()) {
        still.push_back(i);
        continue;
      }
      replicas[i].result.wall_seconds = seconds;
      replicas[i].result.router_cycles_per_second = router_cycles / seconds;
      progress.finished.emplace(i, replicas[i].result);
    }
    active = std::move(still);
    progress.cycle = engine->now();
    progress.running = static_cast<u32>(active.size());
    if (report) report(progress);
  }
  std::vector<Result> results;
  for (Replica& replica : replicas) results.push_back(std::move(replica.result));
  return results;
}

}  // namespace flitlab
