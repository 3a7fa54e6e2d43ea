#pragma once
/// Paths to all destinations. Each TIC uses one queue for each destination, and one order of all queues is consistent
/// with every path: messages move to later queues only.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queue_order.hpp"

namespace flitlab {

class SconnectPlacing {
 public:
  explicit SconnectPlacing(const SconnectFabric& fabric);

  /// Finds shortest paths as far as an order of the queues allows. The first pass does not change the initial order,
  /// because queues that paths already use are hard to move.
  void fill();

  /// Finds longer paths for the TICs without a shortest path; TICs with hosts come first. Returns false if a TIC has no
  /// path.
  bool make_detours();

  /// Returns the tables: the paths, and additional options that agree with the same order of queues.
  std::vector<u16> tables();

 private:
  static constexpr u32 kMostAtOnce = 60;          ///< most destinations whose paths one forced step may displace
  static constexpr u64 kMostWork = u64{1} << 21;  ///< limit of work, in calls of settle()
  static constexpr u8 kNoPathYet = 0xFF;

  std::size_t pair_index(u32 tic, u32 d) const { return std::size_t{d} * f_.tics + tic; }
  u32 level(u32 tic, u32 d) const { return level_[pair_index(tic, d)]; }
  u8& label(u32 tic, u32 d) { return label_[pair_index(tic, d)]; }
  u16& entry(u32 tic, u32 d) { return entry_[std::size_t{tic} * f_.nodes + d]; }
  u32 far(u32 tic, u32 bit) const { return f_.link(tic, bit / 2).far; }

  u32 random(u32 n);

  /// Lets a TIC use a queue for destination `d`. Returns false if that would close a cycle.
  bool use(u32 tic, u32 bit, u32 d);

  /// Removes all paths to a destination.
  void remove_paths(u32 d);

  /// Calls f(bit) for each queue of a TIC to a neighbour that is nearer to the destination and has a path to it.
  template <class F>
  void for_each_nearer(u32 tic, u32 d, F f) {
    for (u32 port = 0; port < sconnect::kPorts; ++port) {
      const sconnect::Link& link = f_.link(tic, port);
      if (!leads_to_tic(link) || level(link.far, d) + 1 != level(tic, d)) continue;
      if (level(link.far, d) && label(link.far, d) == kNoPathYet) continue;
      for (u32 vc = 0; vc < f_.vcs(tic, port); ++vc) f(2 * port + vc);
    }
  }

  /// Gives a TIC a shortest path. Prefers a step from queue to queue that other paths use already, else the latest
  /// queue that is consistent with the order, because it restricts earlier queues least. With `move`, it may reorder
  /// queues to make a step possible. Returns whether it has found a path.
  bool settle(u32 tic, u32 d, bool move);

  /// Gives all TICs paths to a destination. Returns the number of TICs without a shortest path.
  u32 complete(u32 d, bool move);

  /// Repeatedly forces a missing step into the order, computes the paths that this displaces again, and keeps the
  /// result unless more paths are missing than before. The first rounds tolerate slightly more missing paths.
  void improve();

  /// Returns the number of pairs (TIC with a host, destination) without a shortest path.
  u32 hosts_missing();

  /// Starts again with another order of the queues if SconnectQueueSearch finds an order with more shortest paths for
  /// hosts.
  void reorder();

  /// Returns the label of every TIC for a destination: the queue that the TIC uses.
  std::vector<u8> labels(u32 d) const {
    return {label_.begin() + pair_index(0, d), label_.begin() + pair_index(0, d + 1)};
  }

  /// Makes a step possible by removing all paths that conflict with it, and takes the step. Appends the destinations of
  /// the removed paths to `touched` and their labels to `old`. Returns false if there are too many such destinations,
  /// or if one of them is `d`.
  bool force(u32 tic, u32 bit, u32 d, std::vector<u32>& touched, std::vector<std::vector<u8>>& old);

  /// Returns whether a TIC has a path to a destination.
  bool has_path(u32 tic, u32 d) { return !level(tic, d) || label(tic, d) != kNoPathYet; }

  void set_lengths(u32 d) {
    for (u32 tic = 0; tic < f_.tics; ++tic) length_[pair_index(tic, d)] = static_cast<u16>(level(tic, d));
  }

  /// make_detours() for TICs with hosts only, or for all TICs. To give a TIC a path, it may displace paths of other
  /// TICs.
  bool make_detours(bool hosts_only);

  /// Returns two costs: the sum of the lengths of the paths from TICs with hosts, and the number of pairs (TIC,
  /// destination) without a path.
  std::pair<u64, u32> cost();

  /// Finds a path for a TIC without a host, whose replies to control messages need it. Rejects the path if it makes the
  /// paths of hosts longer.
  void add_path_for_hostless(u32 tic, u32 d);

  /// Finds paths of any length for TICs without a path. Returns the TICs that still have no path.
  std::vector<u32> find_longer_paths(u32 d);

  const SconnectFabric& f_;
  SconnectQueueOrder order_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<bool> is_host_;
  // The following arrays are indexed [destinations][TICs].
  std::vector<u8> label_;              ///< queue that the TIC uses for the destination: 2 * port + virtual channel
  std::vector<u16> level_, by_level_;  ///< hops in the graph; TICs in the order of increasing hops
  std::vector<u16> length_;            ///< hops of the path in use
  std::vector<u16> entry_;
  std::vector<u32> missing_;  ///< [destinations] number of TICs without a shortest path
  u64 work_ = 0, draws_ = 0;
};

}  // namespace flitlab
