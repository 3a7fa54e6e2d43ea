#pragma once
/// Shortest ways without circles of waiting, by two orders of a fabric's TICs.
///
/// A message goes up one order on virtual channel 0, then takes one hop onto virtual channel 1, and from there goes up
/// the other order. So no circle of queues can close, whatever the orders are; they decide how many ways are left. A
/// TIC's entry is the same for messages that have come on 0 and on 1, so:
///   - On virtual channel 1 a message is only where the rest of its way is as short as the graph allows (S-Connect,
///     2.4, wants shortest ways), all the way up the second order.
///   - A TIC where that is so offers virtual channel 1 only up that order; others, to which no message comes on 1,
///     offer it to any neighbour that is so.
///   - All options of a TIC lead to ways of the same length.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

inline bool leads_to_tic(const sconnect::Link& link) {
  return link.kind == sconnect::LinkKind::kSerial || link.kind == sconnect::LinkKind::kParallel;
}

/// Whether a TIC has a queue to another: by 2 port + virtual channel.
inline bool has_queue(const SconnectFabric& f, u32 tic, u32 bit) {
  return leads_to_tic(f.link(tic, bit / 2)) && bit % 2 < f.vcs(tic, bit / 2);
}

/// Keys of TICs; of equal ones, the larger number is higher.
struct SconnectOrder {
  std::vector<u64> first;   ///< hops on virtual channel 0 lead up in it
  std::vector<u64> second;  ///< hops on virtual channel 1
};

inline bool rises(const std::vector<u64>& keys, u32 from, u32 to) {
  return keys[from] != keys[to] ? keys[from] < keys[to] : from < to;
}

/// TICs from which a node's host can be reached at once.
std::vector<std::vector<u32>> sconnect_hosts(const SconnectFabric& fabric);

/// Hops from every TIC to the nearest of some; kNone: there is no way.
std::vector<u32> sconnect_hops(const SconnectFabric& fabric, const std::vector<u32>& to);

/// All ways to one destination after another.
class SconnectWays {
 public:
  SconnectWays(const SconnectFabric& fabric, const SconnectOrder& order);

  void find(u32 destination);
  /// Hops between TICs to the destination found last: of the graph, and of a message that has come on virtual channel
  /// 0 or 1. kNone: there is no way.
  u32 direct(u32 tic) const { return direct_[tic]; }
  u32 on0(u32 tic) const { return on0_[tic]; }
  u32 on1(u32 tic) const { return on1_[tic]; }
  /// The table's entry (kernels/routers/sconnect/route.hpp).
  u16 entry(u32 tic) const;

 private:
  const SconnectFabric& fabric_;
  const SconnectOrder& order_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u32> by_first_, by_second_;  ///< TICs from the highest down
  std::vector<u32> direct_, on0_, on1_;
};

/// The sum of all ways between TICs with hosts, and of the graph's shortest ones. A pair without a way counts as kNoWay
/// hops.
struct SconnectLengths {
  u64 ways = 0, direct = 0;
};
inline constexpr u32 kNoWay = 1'000'000;
SconnectLengths sconnect_lengths(const SconnectFabric& fabric, const SconnectOrder& order);

/// A TIC in the middle of a long shortest way.
u32 sconnect_centre(const SconnectFabric& fabric);

/// Orders worth trying: toward and from TICs in the middle.
std::vector<SconnectOrder> sconnect_orders(const SconnectFabric& fabric);

}  // namespace flitlab
