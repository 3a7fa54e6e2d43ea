#pragma once
/// How a network comes to its steady state, or shows that it has none, as its epochs go by. It is asked before an
/// automatic window begins and while it lasts; windows of fixed length never ask.
#include <cstddef>
#include <vector>

namespace flitlab {

class Transient {
 public:
  /// What an epoch brought; `backlog`: flits created by its end that have neither arrived nor been lost.
  struct Epoch {
    double cycles, created_flits, delivered_flits, packets, latency_sum, backlog;
  };

  void add(const Epoch& epoch);

  /// Whether there is so much more to see than last time that it is worth judging anew: after 16 epochs, and then
  /// whenever there are a quarter more. So the judgements, each of which may err, are few: their number grows with the
  /// logarithm of time.
  bool due() const { return epochs_.size() >= next_; }
  void judge();

  /// As judged last. Throughput and latency have settled if they are steady from the first half on
  /// (`steady_from_first_half`), latency only if that has lasted for twenty-five times as long as packets take.
  bool throughput_settled() const { return verdict_.throughput; }
  bool latency_settled() const { return verdict_.latency; }
  /// Whether a tenth of all that has been created is still to arrive: the latency of what has arrived says nothing
  /// then.
  bool falls_behind() const { return verdict_.behind; }
  /// Whether the backlog grows for ever. It has grown over the second half by more than chance explains (`rise`), and
  /// by Little's law packets wait longer at the end than they did at the beginning. A stable network's backlog goes up
  /// and down too, higher the longer one looks, as a random walk that is held back: an excursion by w cycles of waiting
  /// takes about w^2 / l cycles, l the latency without load. So the growth counts only if waiting times duration exceed
  /// 400 l^2. For l the least mean latency of all packets so far is taken, known from 100 packets.
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
  std::size_t next_ = kFirst;  ///< epochs, when to judge
  double packets_ = 0, latency_sum_ = 0;
  double least_latency_ = 0;  ///< cycles; 0: not known yet
  Verdict verdict_;
};

}  // namespace flitlab
