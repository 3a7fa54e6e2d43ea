#pragma once
/// One order of all queues of a fabric. Each channel has two queues, one for each virtual channel. As long as every
/// message goes from a queue to one that comes later in the order, no circle can close; it may change between the
/// virtual channels as often as that takes (S-Connect, 2.4: a table says for each destination which one is to be used).
#include <utility>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

inline constexpr u32 kQueueBits = 2 * sconnect::kPorts;  ///< queues of a TIC

/// An order to begin with: on virtual channel 0 first toward a TIC in the middle and then away from it, and so again on
/// 1.
std::vector<u32> sconnect_first_ranks(const SconnectFabric& fabric);

/// Which queues messages go to from which, and an order of all queues that agrees. Queues by 12 TIC + 2 port + virtual
/// channel; the next one by its 2 port + virtual channel at the far end.
class SconnectQueueOrder {
 public:
  /// `rank`: the order to begin with, a place for each queue.
  SconnectQueueOrder(const SconnectFabric& fabric, std::vector<u32> rank);

  u32 next(u32 queue, u32 bit) const { return 12 * far_[queue / 2] + bit; }
  u32 rank(u32 queue) const { return rank_[queue]; }
  const std::vector<u32>& ranks() const { return rank_; }
  bool used(u32 queue, u32 bit) const { return after_[queue] >> bit & 1; }
  /// One more destination whose messages go from a queue to another, unless that would close a circle.
  bool use(u32 queue, u32 bit);
  /// What has been refused may be asked for again: until then it stays refused, which saves a search.
  void forget_refusals() { ++epoch_; }
  /// One less.
  void drop(u32 queue, u32 bit);

  /// Of a way from one queue to another, the step with the fewest users; kNone: there is no way.
  std::pair<u32, u32> weakest(u32 from, u32 to);

 private:
  bool make_room(u32 queue, u32 next);

  std::vector<u32> far_;             ///< [channels] TIC where it ends
  std::vector<u32> near_;            ///< [channels] the channel the other way
  std::vector<u16> after_, before_;  ///< [queues] next ones in use, and those before, by 2 port + virtual channel
  std::vector<u32> users_;           ///< [queues][bit] destinations
  std::vector<u32> refused_;         ///< [queues][bit] epoch
  std::vector<u32> rank_, seen_;
  std::vector<u32> forward_, backward_, places_;
  u32 search_ = 0, epoch_ = 1;
};

}  // namespace flitlab
