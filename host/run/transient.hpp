#pragma once
/// Detection of the steady state and of saturation, epoch by epoch, before and in an automatic window. Windows of fixed
/// length do not use it.
#include <cstddef>
#include <vector>

namespace flitlab {

class Transient {
 public:
  /// Measurements of an epoch; `backlog`: flits created by its end that have been neither delivered nor dropped.
  struct Epoch {
    double cycles, created_flits, delivered_flits, packets, latency_sum, backlog;
  };

  void add(const Epoch& epoch);

  /// Returns whether a new judgement is due: after 16 epochs, then each time that their number has grown by a quarter.
  /// Each judgement may err; their number grows only with the logarithm of time.
  bool due() const { return epochs_.size() >= next_; }
  void judge();

  /// Results of the last judgement. Throughput and latency have settled if they are steady from the first half on
  /// (`steady_from_first_half`); latency only after 25 mean latencies.
  bool throughput_settled() const { return verdict_.throughput; }
  bool latency_settled() const { return verdict_.latency; }
  /// Returns whether the backlog exceeds a tenth of the flits created. The latency of the packets that have arrived is
  /// not representative then.
  bool falls_behind() const { return verdict_.behind; }
  /// Returns whether the backlog grows without limit. Its growth over the second half is significant (`rise`); by
  /// Little's law it is an increase of the waiting time by w cycles. The backlog of a stable network also fluctuates,
  /// like a random walk with a restoring force: an excursion by w cycles of waiting takes about w^2 / l cycles, where l
  /// is the zero-load latency. So the growth counts only if w times the duration exceeds 400 l^2. l is estimated by the
  /// smallest mean latency so far, from 100 packets on.
  bool saturated() const { return verdict_.saturated; }

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.epochs_, self.next_, self.packets_, self.latency_sum_, self.least_latency_, self.verdict_);
  }

 private:
  struct Verdict {
    bool throughput = false, latency = false, behind = false, saturated = false;
  };

  bool grows() const;

  static constexpr std::size_t kFirst = 16;

  std::vector<Epoch> epochs_;
  std::size_t next_ = kFirst;  ///< epochs at which to judge next
  double packets_ = 0, latency_sum_ = 0;
  double least_latency_ = 0;  ///< smallest mean latency so far, cycles; 0: not known yet
  Verdict verdict_;
};

}  // namespace flitlab
