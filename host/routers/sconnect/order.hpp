#pragma once
/// Deadlock-free shortest paths from two orders of a fabric's TICs.
///
/// A message first goes up the first order on virtual channel 0. Then it changes to virtual channel 1 and makes one hop
/// in any direction; from there it goes up the second order. So the queues have no cyclic dependency, whatever the two
/// orders are; the orders decide how many shortest paths remain. A TIC has one table entry for messages that arrive on
/// virtual channels 0 and 1. Therefore:
///   - A message changes to virtual channel 1 only if the rest of its path is a shortest one of the graph (S-Connect,
///   2.4) and goes up the second order.
///   - A TIC from which such a path exists offers virtual channel 1 only to neighbours that are higher in the second
///   order. At any other TIC no message arrives on virtual channel 1, so it may offer virtual channel 1 to any
///   neighbour from which such a path exists.
///   - All options of a TIC lead to paths of the same length.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Returns whether a port leads to another TIC.
inline bool leads_to_tic(const sconnect::Link& link) {
  return link.kind == sconnect::LinkKind::kSerial || link.kind == sconnect::LinkKind::kParallel;
}

/// Returns whether a TIC has a queue to another TIC; `bit`: 2 * port + virtual channel.
inline bool has_queue(const SconnectFabric& f, u32 tic, u32 bit) {
  return leads_to_tic(f.link(tic, bit / 2)) && bit % 2 < f.vcs(tic, bit / 2);
}

/// Two orders of the TICs, as keys [tics]. A TIC with a greater key is higher; of equal keys, the TIC with the larger
/// number.
struct SconnectOrder {
  std::vector<u64> first;   ///< hops on virtual channel 0 lead to higher TICs of this order
  std::vector<u64> second;  ///< hops on virtual channel 1 lead to higher TICs of this order
};

/// Returns whether TIC `to` is higher than TIC `from` in an order.
inline bool rises(const std::vector<u64>& keys, u32 from, u32 to) {
  return keys[from] != keys[to] ? keys[from] < keys[to] : from < to;
}

/// Returns for each node the TICs that have a port to the node's host.
std::vector<std::vector<u32>> sconnect_hosts(const SconnectFabric& fabric);

/// Returns for each TIC the hops to the nearest of the TICs `to`; kNone: unreachable.
std::vector<u32> sconnect_hops(const SconnectFabric& fabric, const std::vector<u32>& to);

/// Shortest paths from all TICs to a destination that the two orders allow, for one destination at a time.
class SconnectPaths {
 public:
  SconnectPaths(const SconnectFabric& fabric, const SconnectOrder& order);

  void find(u32 destination);
  /// Return the hops from a TIC to the destination of the last find(): on the graph's shortest path; for a message on
  /// virtual channel 0; for a message on virtual channel 1. kNone: no path.
  u32 direct(u32 tic) const { return direct_[tic]; }
  u32 on0(u32 tic) const { return on0_[tic]; }
  u32 on1(u32 tic) const { return on1_[tic]; }
  /// Returns a TIC's table entry (kernels/routers/sconnect/route.hpp).
  u16 entry(u32 tic) const;

 private:
  const SconnectFabric& fabric_;
  const SconnectOrder& order_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u32> by_first_, by_second_;  ///< TICs in descending order, of the first and of the second order
  std::vector<u32> direct_, on0_, on1_;
};

/// Sums of path lengths from TICs with hosts to all destinations: on the paths that an order allows, and in the graph.
/// A pair without a path counts as kNoPath hops.
struct SconnectLengths {
  u64 ways = 0, direct = 0;
};
inline constexpr u32 kNoPath = 1'000'000;
SconnectLengths sconnect_lengths(const SconnectFabric& fabric, const SconnectOrder& order);

/// Returns a TIC in the middle of a long shortest path.
u32 sconnect_centre(const SconnectFabric& fabric);

/// Returns a few pairs of orders to try: toward and away from different root TICs.
std::vector<SconnectOrder> sconnect_orders(const SconnectFabric& fabric);

}  // namespace flitlab
