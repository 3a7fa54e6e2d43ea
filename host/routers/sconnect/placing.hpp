#pragma once
/// Paths to all destinations, one queue for each TIC and destination, such that one order of all queues is consistent
/// with every path.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"

namespace flitlab {

class SconnectPlacing {
 public:
  explicit SconnectPlacing(const SconnectFabric& fabric);

  /// Finds shortest paths as far as an order of the queues allows. The first pass uses the initial order, because
  /// queues in use are hard to move.
  void fill();

  /// Finds longer paths for the remaining TICs, TICs with hosts first. Returns false if some have no path.
  bool make_detours();

  /// Returns the tables: the paths, and alternates in the same order of queues.
  std::vector<u16> tables();

 private:
  static constexpr u32 kMostAtOnce = 60;          ///< most destinations displaced by one forced step
  static constexpr u64 kMostWork = u64{1} << 21;  ///< limit of work, in calls of settle()
  static constexpr u8 kNoPathYet = 0xFF;

  std::size_t pair_index(u32 tic, u32 d) const { return std::size_t{d} * f_.tics + tic; }
  u32 level(u32 tic, u32 d) const { return level_[pair_index(tic, d)]; }
  u8& label(u32 tic, u32 d) { return label_[pair_index(tic, d)]; }
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }
  u32 far(u32 tic, u32 bit) const { return f_.link(tic, bit / 2).far; }

  u32 random(u32 n);

  /// Assigns a queue to a TIC. Returns false if that would close a cycle.
  bool use(u32 tic, u32 bit, u32 d);

  /// Removes all paths to a destination.
  void remove_paths(u32 d);

  /// Calls f(bit) for the queues of a TIC to neighbours that are nearer to a destination and have a path.
  template <class F>
  void for_each_nearer(u32 tic, u32 d, F f) {
    for (u32 port = 0; port < sconnect::kPorts; ++port) {
      const sconnect::Link& link = f_.link(tic, port);
      if (!leads_to_tic(link) || level(link.far, d) + 1 != level(tic, d)) continue;
      if (level(link.far, d) && label(link.far, d) == kNoPathYet) continue;
      for (u32 vc = 0; vc < f_.vcs(tic, port); ++vc) f(2 * port + vc);
    }
  }

  /// Gives a TIC a shortest path: by a step in use, else by the latest queue that is consistent with the order, because
  /// that restricts earlier queues least. With `move`, else by a step for which queues can be reordered. Returns
  /// whether it has found one.
  bool settle(u32 tic, u32 d, bool move);

  /// Gives all TICs paths to a destination. Returns how many have no shortest path.
  u32 complete(u32 d, bool move);

  /// Repeatedly forces a missing step into the order, computes the displaced paths again, and keeps the result unless
  /// more paths are missing than before (at first, slightly more are tolerated).
  void improve();

  /// Returns the pairs of a TIC with a host and a destination that have no shortest path.
  u32 hosts_missing();

  /// Restarts with another order of the queues if SconnectQueueSearch finds one with more shortest paths for hosts.
  void reorder();

  /// Returns the labels of all TICs for a destination.
  std::vector<u8> labels(u32 d) const {
    return {label_.begin() + pair_index(0, d), label_.begin() + pair_index(0, d + 1)};
  }

  /// Makes a step possible by removing the conflicting paths, and takes it. Appends the destinations of these paths to
  /// `touched` and their labels to `old`. Returns false if there are too many, or one leads to `d`.
  bool force(u32 tic, u32 bit, u32 d, std::vector<u32>& touched, std::vector<std::vector<u8>>& old);

  /// Returns whether a TIC has a path to a destination.
  bool has_path(u32 tic, u32 d) { return !level(tic, d) || label(tic, d) != kNoPathYet; }

  void set_lengths(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) length_[pair_index(tic, d)] = static_cast<u16>(level(tic, d));
  }

  /// make_detours() for TICs with hosts only, or all. A TIC without a path displaces paths of others.
  bool make_detours(bool hosts_only);

  /// Returns the sum of the lengths of hosts' paths, and the number of TICs and destinations without a path.
  std::pair<u64, u32> cost();

  /// Finds a path for a TIC without a host, used by its replies to control messages, if hosts' paths get no longer.
  void add_path_for_hostless(u32 tic, u32 d);

  /// Finds paths of any length for TICs without one. Returns the TICs that have none.
  std::vector<u32> find_longer_paths(u32 d);

  const SconnectFabric& f_;
  SconnectQueueOrder order_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<bool> is_host_;
  // [destinations][TICs]
  std::vector<u8> label_;              ///< queue of a TIC for the destination: 2 port + virtual channel
  std::vector<u16> level_, by_level_;  ///< hops in the graph; TICs by increasing hops
  std::vector<u16> length_;            ///< hops of the paths
  std::vector<u16> entry_;
  std::vector<u32> missing_;  ///< [destinations] TICs without a shortest path
  u64 work_ = 0, draws_ = 0;
};

}  // namespace flitlab
