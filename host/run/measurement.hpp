#pragma once
/// One replica on its way through warm-up, measurement window and drain. With a window of fixed length the warm-up ends
/// when the last epochs agree with those before them; an automatic window, and the warm-up before it, ends by what
/// `Transient` and the interval of the mean say.
#include <vector>

#include "host/plan/plan.hpp"
#include "host/run/result.hpp"
#include "host/run/trace_feed.hpp"
#include "host/run/transient.hpp"

namespace flitlab {

class Measurement {
 public:
  /// `feed`: where the packets come from if a trace is replayed, else null. `totals`: what has been counted by now. All
  /// other references must outlive the object.
  Measurement(const Experiment& experiment, u32 replica, Engine& engine, const Plan& plan, const TraceFeed* feed,
              const Totals& totals);

  /// Looks at what the epoch that has just ended brought, and those before it in which nothing happened; `now`: the
  /// replica's totals.
  void look(const Totals& now);
  bool done() const { return phase_ == Phase::kDone; }
  Result result;  ///< complete when done

  void save(Saver& saver) const { visit(saver, *this); }
  void load(Loader& loader);

 private:
  enum class Phase : u8 { kWarmup, kMeasure, kDrain, kToTheEnd, kDone };

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.phase_, self.last_, self.latency_, self.throughput_, self.shortfall_, self.queued_, self.sums_,
            self.network_sums_, self.counts_, self.offered_flits_, self.accepted_flits_, self.transactions_,
            self.accepted_, self.next_judgement_, self.window_begin_, self.measured_cycles_, self.drain_cycles_,
            self.settled_, self.settled_at_, self.channel_start_, self.channel_end_);
    Transient::visit(archive, self.transient_);
    visit_result(archive, self.result);
  }

  double delta(const Totals& now, Total total) const;
  u64 window_cycles() const;
  bool runs_program() const;
  bool warm();
  bool steady() const;
  void observe(const Totals& now);
  bool window_over();
  void set_window(Cycle begin, Cycle end);
  void begin_window();
  void give_up_if_stalled(u64 created, u64 settled);
  void add_batch(const Totals& now);
  void end_window(const Totals& now);
  void finish(const Totals& now);
  LatencyStats stats(const std::vector<double>& sums, const u64* histogram, u64 most) const;

  const Experiment& experiment_;
  u32 index_;
  Engine& engine_;
  const Plan& plan_;
  const TraceFeed* feed_;
  u32 epoch_;
  bool automatic_;  ///< the window ends by itself
  Phase phase_ = Phase::kWarmup;
  Totals last_{};
  std::vector<double> latency_, throughput_;  // per warm-up epoch
  std::vector<double> shortfall_;             // per epoch of the window: flits created minus delivered
  std::vector<double> queued_;                // at the end of every epoch of the window: packets in source queues
  std::vector<double> sums_, network_sums_, counts_;  // per epoch from the window on
  std::vector<double> accepted_;                      // per epoch of the window: flits delivered
  std::size_t next_judgement_ = 0;                    // epochs of the window, when its precision is looked at
  Transient transient_;                               // of automatic windows
  double offered_flits_ = 0, accepted_flits_ = 0, transactions_ = 0;
  u64 window_begin_ = 0, measured_cycles_ = 0, drain_cycles_ = 0;
  u64 settled_ = 0;     // packets that have arrived or are lost
  u64 settled_at_ = 0;  // when one last was, or there was none to wait for
  std::vector<u32> channel_start_, channel_end_;
};

}  // namespace flitlab
