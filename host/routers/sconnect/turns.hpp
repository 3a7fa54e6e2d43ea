#pragma once
/// Which turns messages may make on a virtual channel: from one channel into the next. As long as the graph of all
/// turns that are in use has no circle, nor can messages wait in one (Dally & Towles 14.2).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Channels by 6 TIC + port where they begin.
class SconnectTurns {
 public:
  explicit SconnectTurns(const SconnectFabric& fabric);

  /// Whether a turn has been allowed already; or may still be asked for.
  bool allowed(u32 channel, u32 next_port) const { return turns_[channel * sconnect::kPorts + next_port] == kAllowed; }
  bool possible(u32 channel, u32 next_port) const { return turns_[channel * sconnect::kPorts + next_port] != kRefused; }
  /// Allows the turn from a channel into the one that begins at `next_port` of the TIC where it ends, unless that would
  /// close a circle. Once refused, a turn stays so.
  bool allow(u32 channel, u32 next_port);

 private:
  enum : unsigned char { kOpen, kAllowed, kRefused };

  const SconnectFabric& fabric_;
  std::vector<unsigned char> turns_;              ///< [channels][ports]
  std::vector<std::vector<u32>> after_, before_;  ///< [channels] by allowed turns
  /// Channels in an order that agrees with all allowed turns, kept as turns come (Pearce and Kelly, "A dynamic
  /// topological sort algorithm for directed acyclic graphs", 2006).
  std::vector<u32> rank_;
  std::vector<u32> seen_;
  u32 search_ = 0;
};

/// Tables by turns: for each destination, from it outwards, every TIC takes the neighbours nearest to it whose turns
/// can be allowed, on virtual channel 1 if the whole rest of the way is on it, else on 0. Which turns there are is
/// decided as they are wanted; of several orders of the destinations the one with the shortest ways is taken. Empty if
/// some pair is left without a way.
std::vector<u16> sconnect_tables_by_turns(const SconnectFabric& fabric);

}  // namespace flitlab
