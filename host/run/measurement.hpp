#pragma once
/// Measurement of one replica: warm-up, measurement window and drain. Warm-up begins with the traffic (traffic.start).
/// If the window has a fixed length, warm-up ends when the last epochs agree with the epochs before them. If the window
/// is automatic, `Transient` decides when warm-up ends, and the confidence interval of the mean decides when the window
/// ends.
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/result.hpp"
#include "host/run/trace_feed.hpp"
#include "host/run/transient.hpp"
#include "host/run/window_load.hpp"

namespace flitlab {

class Measurement {
 public:
  /// `feed`: the trace that is replayed, or null. `totals`: the present totals of the replica. All other references
  /// must outlive the object.
  Measurement(const Experiment& experiment, u32 replica, Engine& engine, const Plan& plan, const TraceFeed* feed,
              const Totals& totals);

  /// Evaluates the epoch that has just ended, together with any idle epochs that were skipped before it. `now`: the
  /// present totals of the replica. Throws RunError if the traffic has stalled or cannot continue.
  void evaluate(const Totals& now);
  bool done() const { return period_ == Period::kDone; }
  Result result;  ///< complete when the measurement is done

  void save(Saver& saver) const { visit(saver, *this); }
  void load(Loader& loader);

 private:
  enum class Period : u8 { kWarmup, kMeasure, kDrain, kUntilComplete, kDone };

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.period_, self.last_, self.latency_, self.throughput_, self.packets_, self.latency_sums_,
            self.network_sums_, self.steady_epochs_, self.half_width_, self.network_half_width_, self.transactions_,
            self.next_judgement_, self.window_begin_, self.measured_cycles_, self.drain_cycles_, self.settled_,
            self.progress_at_, self.channel_start_, self.channel_end_);
    WindowLoad::visit(archive, self.window_);
    Transient::visit(archive, self.transient_);
    visit_result(archive, self.result);
  }

  double delta(const Totals& now, Total total) const;
  u64 window_cycles() const;
  bool runs_program() const;
  bool precedes_traffic() const;
  bool warm();
  bool steady() const;
  void observe(const Totals& now);
  void record_epoch(const Totals& now);
  void evaluate_window(const Totals& now);
  void evaluate_completion(const Totals& now);
  bool window_over(const Totals& now);
  void set_window(Cycle begin, Cycle end);
  void begin_window(const Totals& now);
  bool complete(const Totals& now) const;
  void note_progress(const Totals& now);
  void fail_if_stalled(const Totals& now, const ParamRecord& patience, u64 least) const;
  double half_width_of(const std::vector<double>& sums) const;
  void end_window(const Totals& now);
  void end_drain(const Totals& now);
  void set_verdict(Verdict verdict);
  void finish(const Totals& now);
  LatencyStats stats(u64 sum, double half_width, const u64* histogram, u64 most) const;

  const Experiment& experiment_;
  u32 index_;
  Engine& engine_;
  const Plan& plan_;
  const TraceFeed* feed_;
  u32 epoch_;
  bool automatic_;  ///< whether the window is automatic: it ends when it is precise enough
  Period period_ = Period::kWarmup;
  Totals last_{};
  /// For each epoch of the warm-up: mean latency in cycles, flits delivered.
  std::vector<double> latency_, throughput_;
  std::vector<double> packets_;  ///< for each epoch from the start of traffic to the window's end: packets delivered
  /// For each of these epochs: sums of the packets' latencies and network latencies, cycles.
  std::vector<double> latency_sums_, network_sums_;
  std::size_t steady_epochs_ = 0;   ///< number of epochs at the end of the warm-up that are steady
  std::size_t next_judgement_ = 0;  ///< number of the window's epochs at which its precision is judged next
  Transient transient_;             ///< used for automatic windows only
  WindowLoad window_;
  /// Half widths of the confidence intervals of the mean latencies, cycles.
  double half_width_ = kNotMeasured, network_half_width_ = kNotMeasured;
  double transactions_ = 0;  ///< number of transactions completed in the window
  u64 start_;                ///< cycle of traffic.start
  u64 window_begin_ = 0, measured_cycles_ = 0, drain_cycles_ = 0;
  u64 settled_ = 0;      ///< number of packets delivered or dropped
  u64 progress_at_ = 0;  ///< last cycle in which `settled_` grew, or in which no packet was missing
  std::vector<u32> channel_start_, channel_end_;
};

}  // namespace flitlab
