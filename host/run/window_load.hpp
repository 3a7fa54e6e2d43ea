#pragma once
/// Load of a measurement window, epoch by epoch, and a test whether the network is saturated by it.
#include <cstddef>
#include <vector>

#include "host/run/result.hpp"

namespace flitlab {

class WindowLoad {
 public:
  /// Measurements of an epoch. `queued`: packets in source queues at the end of the epoch.
  struct Epoch {
    double created_flits, delivered_flits, created_packets, queued;
  };

  /// Starts the window. `queued`: packets in source queues at its beginning.
  void begin(double queued) { first_queued_ = queued; }
  void add(const Epoch& epoch);

  double offered() const { return offered_; }                        ///< flits created in the window
  const std::vector<double>& accepted() const { return accepted_; }  ///< flits delivered in each epoch
  std::size_t epochs() const { return accepted_.size(); }

  /// Returns kSaturated, kTooShort or kSteady. A window is saturated if one of these conditions holds:
  ///
  /// - The source queues grow in the second half of the window by more than 2 % of the packets created in that half,
  ///   and they grow along the whole window by more than three standard errors of an epoch's growth. This needs at
  ///   least four epochs.
  /// - Only a few sources cannot keep up, which hardly shows in the total. The source queues rise along the window
  ///   (`rise`), and by Little's law packets wait longer at the end of the window than at its beginning, by more than a
  ///   tenth of the network latency. A quarter of the growth must be in the second half. This needs at least six
  ///   epochs.
  ///
  /// If the window begins with an empty network, queues grow only in the first half. Both conditions need a growth of
  /// about ten packets or more, because a smaller growth is not significant.
  ///
  /// A window is kTooShort in these cases: it has fewer than four epochs and `may_be_saturated` returns true; it has
  /// fewer than eight epochs and the source queues grew in its second half; or packets wait in source queues and no
  /// packet arrived in its second half. Any other window is kSteady.
  ///
  /// `cycles`: length of the window. `network_latency`: mean network latency of the window's packets, cycles.
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
