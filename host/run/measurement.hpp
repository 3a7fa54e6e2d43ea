#pragma once
/// Measurement of one replica: warm-up, measurement window and drain. Warm-up begins with the traffic (traffic.start).
/// Before a window of fixed length, warm-up ends when the last epochs agree with the epochs before them. Before an
/// automatic window, `Transient` ends it; the confidence interval of the mean ends that window.
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/result.hpp"
#include "host/run/trace_feed.hpp"
#include "host/run/transient.hpp"
#include "host/run/window_load.hpp"

namespace flitlab {

class Measurement {
 public:
  /// `feed`: the replayed trace, or null. `totals`: the replica's totals now. All other references must outlive the
  /// object.
  Measurement(const Experiment& experiment, u32 replica, Engine& engine, const Plan& plan, const TraceFeed* feed,
              const Totals& totals);

  /// Evaluates the epoch that has just ended, including idle epochs skipped before it. `now`: the replica's totals.
  /// Throws RunError if the traffic cannot continue or has stalled.
  void evaluate(const Totals& now);
  bool done() const { return period_ == Period::kDone; }
  Result result;  ///< complete when done

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
  bool automatic_;  ///< the window ends by itself
  Period period_ = Period::kWarmup;
  Totals last_{};
  std::vector<double> latency_, throughput_;         ///< per epoch of the warm-up: mean latency, flits delivered
  std::vector<double> packets_;                      ///< per epoch of traffic up to the window's end: packets delivered
  std::vector<double> latency_sums_, network_sums_;  ///< and the sums of their latencies, cycles
  std::size_t steady_epochs_ = 0;                    ///< epochs at the end of the warm-up that are steady
  std::size_t next_judgement_ = 0;                   ///< epochs of the window at which its precision is judged next
  Transient transient_;                              ///< of automatic windows
  WindowLoad window_;
  double half_width_ = kNotMeasured, network_half_width_ = kNotMeasured;  ///< of the mean latencies, cycles
  double transactions_ = 0;                                               ///< completed in the window
  u64 start_;                                                             ///< traffic.start
  u64 window_begin_ = 0, measured_cycles_ = 0, drain_cycles_ = 0;
  u64 settled_ = 0;      ///< packets delivered or dropped
  u64 progress_at_ = 0;  ///< last cycle in which `settled_` grew or no packet was missing
  std::vector<u32> channel_start_, channel_end_;
};

}  // namespace flitlab
