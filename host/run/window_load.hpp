#pragma once
/// The load of a measurement window, epoch by epoch, and what it says about saturation.
#include <cstddef>
#include <vector>

#include "host/run/result.hpp"

namespace flitlab {

class WindowLoad {
 public:
  /// What an epoch brought; `queued`: packets in source queues at its end.
  struct Epoch {
    double created_flits, delivered_flits, created_packets, queued;
  };

  /// Starts the window; `queued`: packets in source queues.
  void begin(double queued) { first_queued_ = queued; }
  void add(const Epoch& epoch);

  double offered() const { return offered_; }                        ///< flits
  const std::vector<double>& accepted() const { return accepted_; }  ///< flits, per epoch
  std::size_t epochs() const { return accepted_.size(); }

  /// kSaturated, kTooShort or kSteady. A window is saturated if one of these holds:
  ///
  /// - The source queues grow in the second half of the window by more than 2 % of the packets created there, and along
  ///   the whole window by more than three standard errors of an epoch's growth. From four epochs on.
  /// - A few sources alone cannot keep up, which the total hardly shows: the source queues rise along the window
  ///   (`rise`), and by Little's law packets wait longer at its end, by more than a tenth of the network latency. A
  ///   quarter of the growth must lie in the second half. From six epochs on.
  ///
  /// A network that fills, since the window begins with an empty one, grows in the first half alone. Both need source
  /// queues that have grown by ten packets or more: fewer may be chance. With fewer than four epochs growth cannot be
  /// told from chance. The window is kTooShort then if source queues show that it may be saturated
  /// (`may_be_saturated`), and kSteady if they do not. With fewer than eight it is kTooShort, too, if they grew in the
  /// second half; and in any window if packets wait in them and none arrived in the second half.
  ///
  /// `cycles`: of the window. `network_latency`: mean of the window's packets, cycles.
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
  bool stands_still() const;
  bool waits_grow(double cycles, double network_latency) const;

  std::vector<double> created_;   ///< per epoch: packets created
  std::vector<double> queued_;    ///< per epoch: packets in source queues at its end
  std::vector<double> accepted_;  ///< per epoch: flits delivered
  double offered_ = 0;            ///< flits created
  double first_queued_ = 0;       ///< packets in source queues when the window began
};

}  // namespace flitlab
