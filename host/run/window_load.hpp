#pragma once
/// Load of a measurement window, epoch by epoch, and the saturation test on it.
#include <cstddef>
#include <vector>

#include "host/run/result.hpp"

namespace flitlab {

class WindowLoad {
 public:
  /// Measurements of an epoch; `queued`: packets in source queues at its end.
  struct Epoch {
    double created_flits, delivered_flits, created_packets, queued;
  };

  /// Starts the window; `queued`: packets in source queues.
  void begin(double queued) { first_queued_ = queued; }
  void add(const Epoch& epoch);

  double offered() const { return offered_; }                        ///< flits
  const std::vector<double>& accepted() const { return accepted_; }  ///< flits, per epoch
  std::size_t epochs() const { return accepted_.size(); }

  /// Returns kSaturated, kTooShort or kSteady. A window is saturated if one of these holds:
  ///
  /// - The source queues grow in the second half of the window by more than 2 % of the packets created there, and along
  ///   the whole window by more than three standard errors of an epoch's growth. From four epochs on.
  /// - Only a few sources cannot keep up, which the total hardly shows: the source queues rise along the window
  ///   (`rise`), and by Little's law packets wait longer at its end, by more than a tenth of the network latency. A
  ///   quarter of the growth must lie in the second half. From six epochs on.
  ///
  /// If the window begins with an empty network, queues grow only in the first half. Both conditions need a growth of
  /// about ten packets or more, because less is not significant. A window of fewer than four epochs is kTooShort if
  /// `may_be_saturated`, else kSteady. A window of fewer than eight epochs is also kTooShort if the source queues grew
  /// in the second half. Any window is kTooShort if packets wait in source queues and none arrived in the second half.
  ///
  /// `cycles`: length of the window. `network_latency`: mean of the window's packets, cycles.
  Verdict verdict(double cycles, double network_latency) const;

  template <class Archive, class Self>
  static void visit(Archive& archive, Self& self) {
    archive(self.created_, self.queued_, self.accepted_, self.offered_, self.first_queued_);
  }

 private:
  double packets() const;
  double growth_in_second_half() const;
  bool may_be_saturated(double cycles, double network_latency) const;
  bool falls_short() const;
  bool delivers_nothing() const;
  bool waits_grow(double cycles, double network_latency) const;

  std::vector<double> created_;   ///< per epoch: packets created
  std::vector<double> queued_;    ///< per epoch: packets in source queues at its end
  std::vector<double> accepted_;  ///< per epoch: flits delivered
  double offered_ = 0;            ///< flits created
  double first_queued_ = 0;       ///< packets in source queues when the window began
};

}  // namespace flitlab
