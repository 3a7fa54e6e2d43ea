#pragma once
/// Permitted turns, from one channel into the next, on a virtual channel. If the graph of permitted turns is acyclic,
/// messages cannot deadlock (Dally & Towles 14.2).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Permitted turns of one virtual channel. A channel is 6 TIC + port of its transmitter.
class SconnectTurns {
 public:
  explicit SconnectTurns(const SconnectFabric& fabric);

  /// Return whether a turn is permitted, and whether it is not rejected.
  bool allowed(u32 channel, u32 next_port) const { return turns_[channel * sconnect::kPorts + next_port] == kAllowed; }
  bool possible(u32 channel, u32 next_port) const { return turns_[channel * sconnect::kPorts + next_port] != kRefused; }
  /// Permits the turn from a channel into the one at `next_port` of its far TIC. Returns false if that would close a
  /// cycle; the turn then stays rejected.
  bool allow(u32 channel, u32 next_port);

 private:
  enum : unsigned char { kOpen, kAllowed, kRefused };

  const SconnectFabric& fabric_;
  std::vector<unsigned char> turns_;              ///< [channels][ports]
  std::vector<std::vector<u32>> after_, before_;  ///< [channels] channels linked by permitted turns
  /// [channels] position in a topological order of the permitted turns, maintained incrementally (Pearce and Kelly, "A
  /// dynamic topological sort algorithm for directed acyclic graphs", 2006).
  std::vector<u32> rank_;
  std::vector<u32> seen_;
  u32 search_ = 0;
};

/// Returns tables by turns. For each destination, from it outwards, every TIC takes the nearest neighbours whose turns
/// can be permitted: on virtual channel 1 if the rest of the path is on 1, otherwise on 0. Turns are permitted when
/// they are first needed. Of several orders of the destinations the result with the shortest paths is returned.
std::vector<u16> sconnect_tables_by_turns(const SconnectFabric& fabric);

}  // namespace flitlab
