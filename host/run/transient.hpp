#pragma once
/// Detection of the steady state and of saturation, epoch by epoch. It is used for automatic windows only, during the
/// warm-up and the window.
#include <cstddef>
#include <vector>

namespace flitlab {

class Transient {
 public:
  /// Measurements of an epoch. `backlog`: flits created until its end that have been neither delivered nor dropped.
  struct Epoch {
    double cycles, created_flits, delivered_flits, packets, latency_sum, backlog;
  };

  void add(const Epoch& epoch);

  /// Returns whether a new judgement is due: after 16 epochs, then each time that the number of epochs has grown by a
  /// quarter. Each judgement may be wrong, so they must be few: their number grows with the logarithm of time.
  bool due() const { return epochs_.size() >= next_; }
  void judge();

  /// Results of the last judgement: whether throughput, and latency, have settled. They have settled if they are steady
  /// from the first half of the series on (`steady_from_first_half`); latency, in addition, only after 25 mean
  /// latencies.
  bool throughput_settled() const { return verdict_.throughput; }
  bool latency_settled() const { return verdict_.latency; }
  /// Returns whether the backlog exceeds a tenth of the flits created. If it does, the latency of the packets that have
  /// arrived so far is not representative.
  bool falls_behind() const { return verdict_.behind; }
  /// Returns whether the backlog grows without limit. Its growth over the second half of the epochs must be significant
  /// (`rise`). By Little's law this growth means that packets wait w cycles longer. But the backlog of a stable network
  /// fluctuates too, like a random walk with a restoring force: until packets wait w cycles longer, about w^2 / l
  /// cycles pass, where l is the zero-load latency. So the growth counts only if w times its duration exceeds 400 l^2.
  /// The estimate of l is the smallest mean latency so far; it needs 100 packets.
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
  std::size_t next_ = kFirst;  ///< number of epochs at which the next judgement is due
  double packets_ = 0, latency_sum_ = 0;
  double least_latency_ = 0;  ///< smallest mean latency so far, cycles; 0: not known yet
  Verdict verdict_;
};

}  // namespace flitlab
