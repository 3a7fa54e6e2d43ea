#pragma once
/// Optimization of the order of all queues (queue_order.hpp) for the number of shortest paths.
///
/// For each destination, the order of the queues determines the paths. From the destination outwards, each TIC takes
/// one queue: the latest queue that leads to a nearer TIC and precedes the queue of that nearer TIC. This choice
/// leaves the most paths to the TICs farther away. So the cost of an order is the number of pairs (TIC with a host,
/// destination) without a shortest path. If a pair has no path, two consecutive queues of a possible path are in the
/// wrong order. A move puts one of these two queues just before or behind the other. Simulated annealing decides which
/// moves to keep (Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", 1983).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class SconnectQueueSearch {
 public:
  /// `rank[q]`: position of queue q in the initial order, where q = 12 * TIC + 2 * port + virtual channel.
  SconnectQueueSearch(const SconnectFabric& fabric, const std::vector<u32>& rank);

  /// Runs the optimization, and keeps the best order.
  void run();
  /// Returns the number of pairs (TIC with a host, destination) without a shortest path.
  u32 missing() const { return static_cast<u32>(missing_.size()); }
  /// Returns the queue that a TIC uses for a destination, as 2 * port + virtual channel; kNoQueue: no shortest path.
  u8 label(u32 tic, u32 d) const { return label_[pair_index(tic, d)]; }
  /// Returns the position of every queue in the order; after run(), in the best order.
  std::vector<u32> rank() const;

  static constexpr u8 kNoQueue = 0xFF;

 private:
  std::size_t pair_index(u32 tic, u32 d) const { return std::size_t{d} * f_.tics + tic; }
  u32 far(u32 tic, u32 bit) const { return f_.link(tic, bit / 2).far; }
  u32 random(u32 n);

  void place_all();
  u64 value(u32 tic, u32 d) const;
  u8 latest(u32 tic, u32 d);
  void set_label(std::size_t pair, u8 label);
  void update(u32 tic, u32 d, u64 before);
  bool move(u32 queue, u64 key, u32 most);
  void try_one(u32 heat);
  void spread_keys();

  const SconnectFabric& f_;
  std::vector<u64> key_;  ///< [queues] position in the order: later queues have greater keys. Of two queues with equal
                          ///< keys, neither precedes the other
  std::vector<std::vector<u16>> used_for_;  ///< [queues] destinations to which the queue is on a shortest path
  std::vector<bool> host_;                  ///< [TICs] whether it has a host
  // The following arrays are indexed [destinations][TICs].
  std::vector<u16> level_;   ///< hops from the TIC to the destination in the graph
  std::vector<u16> nearer_;  ///< set of the TIC's queues that lead to nearer TICs; bit 2 * port + virtual channel
  std::vector<u8> label_;
  std::vector<u32> where_;    ///< index of the pair in missing_
  std::vector<u32> missing_;  ///< pairs (TIC with a host, destination) without a shortest path, as pair_index()
  std::vector<u32> lacks_;    ///< [destinations] number of TICs with hosts that have no shortest path
  std::vector<std::pair<std::size_t, u8>>
      changed_;  ///< labels changed by the current move: pair_index() of the pair, and its previous label
  std::vector<u32> behind_, lacked_;
  u64 work_ = 0, draws_ = 0, kept_ = 0;
};

}  // namespace flitlab
