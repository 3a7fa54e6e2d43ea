#pragma once
/// A search for an order of all queues (queue_order.hpp) that leaves shortest ways.
///
/// In a given order the ways to a destination follow: from it outwards, every TIC takes the latest of its queues that
/// leads to a nearer TIC and comes before that one's. No other choice leaves more to those behind it, so an order has
/// one number: of hosts' TICs and destinations, how many have no shortest way. Where one has none, a queue and the next
/// one after it are the wrong way round. The search puts the one just before the other, or the other just behind it,
/// and keeps what that gives if no more are missing; by chance also if some more are, ever less often (Kirkpatrick,
/// Gelatt and Vecchi, "Optimization by simulated annealing", 1983).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class SconnectQueueSearch {
 public:
  /// Begins with an order: `rank` of all queues, by 12 TIC + 2 port + virtual channel.
  SconnectQueueSearch(const SconnectFabric& fabric, const std::vector<u32>& rank);

  /// Ends with the best order found.
  void run();
  /// TICs with hosts, for each destination, that have no shortest way.
  u32 missing() const { return static_cast<u32>(missing_.size()); }
  /// The queue of a TIC's way to a destination, 2 port + virtual channel; kNoQueue: it has none.
  u8 label(u32 tic, u32 d) const { return label_[place(tic, d)]; }
  std::vector<u32> rank() const;

  static constexpr u8 kNoQueue = 0xFF;

 private:
  std::size_t place(u32 tic, u32 d) const { return std::size_t{d} * f_.tics + tic; }
  u32 far(u32 tic, u32 bit) const { return f_.link(tic, bit / 2).far; }
  u32 random(u32 n);

  void place_all();
  u64 value(u32 tic, u32 d) const;
  u8 latest(u32 tic, u32 d);
  void set_label(std::size_t place, u8 label);
  void update(u32 tic, u32 d, u64 before);
  bool move(u32 queue, u64 key, u32 most);
  void try_one(u32 heat);
  void spread_keys();

  const SconnectFabric& f_;
  std::vector<u64> key_;  ///< [queues] later ones have greater keys; of two with the same, neither follows the other
  std::vector<std::vector<u16>> used_for_;  ///< [queues] destinations that they lead nearer to
  std::vector<bool> host_;                  ///< [TICs] has hosts
  // [destinations][TICs]
  std::vector<u16> level_;   ///< hops of the graph
  std::vector<u16> nearer_;  ///< queues that lead nearer, by 2 port + virtual channel
  std::vector<u8> label_;
  std::vector<u32> where_;                           ///< in `missing_`
  std::vector<u32> missing_;                         ///< places
  std::vector<u32> lacks_;                           ///< [destinations] places among the missing ones
  std::vector<std::pair<std::size_t, u8>> changed_;  ///< places and what they were, since the last change of a key
  std::vector<u32> behind_, lacked_;
  u64 work_ = 0, draws_ = 0, kept_ = 0;
};

}  // namespace flitlab
