#pragma once
/// A total order of all queues of a fabric. Each channel has two queues, one for each virtual channel. If every message
/// moves to later queues only, there is no cyclic dependency. A message may then change virtual channels any number of
/// times (S-Connect, 2.4: the table selects the virtual channel for each destination).
#include <utility>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

inline constexpr u32 kQueueBits = 2 * sconnect::kPorts;  ///< queues of a TIC

/// Returns the position of every queue in an initial order: first the queues of virtual channel 0 toward a central TIC,
/// then those away from it, then the queues of virtual channel 1 in the same way.
std::vector<u32> sconnect_first_ranks(const SconnectFabric& fabric);

/// The steps from queue to queue that paths use, and an order of all queues that is consistent with these steps. A
/// queue is numbered 12 * TIC + 2 * port + virtual channel. A step is given as (queue, bit): `bit` is 2 * port +
/// virtual channel of the next queue, at the TIC to which the first queue's channel leads.
class SconnectQueueOrder {
 public:
  /// `rank`: [queues] position in the initial order.
  SconnectQueueOrder(const SconnectFabric& fabric, std::vector<u32> rank);

  u32 next(u32 queue, u32 bit) const { return 12 * far_[queue / 2] + bit; }
  u32 rank(u32 queue) const { return rank_[queue]; }
  const std::vector<u32>& ranks() const { return rank_; }
  bool used(u32 queue, u32 bit) const { return after_[queue] >> bit & 1; }
  /// Adds a destination to the users of a step. Returns false if the step would close a cycle.
  bool use(u32 queue, u32 bit);
  /// Clears the cache of rejected steps, which would have closed a cycle, so that use() tries them again.
  void clear_rejected() { ++epoch_; }
  /// Removes a destination from the users of a step.
  void drop(u32 queue, u32 bit);

  /// Returns the step (queue, bit) with the fewest users on a path of steps between two queues; kNone: no path.
  std::pair<u32, u32> weakest(u32 from, u32 to);

 private:
  /// Reorders queues so that queue `next` follows queue `queue`. Returns false if that would close a cycle.
  bool reorder_queues(u32 queue, u32 next);

  std::vector<u32> far_;   ///< [channels] TIC to which the channel leads
  std::vector<u32> near_;  ///< [channels] number of the channel in the opposite direction
  /// [queues] steps in use from this queue to next ones, and into it from previous ones, as bits.
  std::vector<u16> after_, before_;
  std::vector<u32> users_;     ///< [queues][bit] number of destinations that use the step
  std::vector<u32> rejected_;  ///< [queues][bit] epoch in which the step was rejected
  std::vector<u32> rank_, seen_;
  std::vector<u32> forward_, backward_, ranks_;
  u32 search_ = 0, epoch_ = 1;
};

}  // namespace flitlab
