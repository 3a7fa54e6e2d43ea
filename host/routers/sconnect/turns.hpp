#pragma once
/// Permitted turns on a virtual channel. A turn leads from one channel into the next. If the graph of permitted turns
/// is acyclic, messages cannot deadlock (Dally & Towles 14.2).
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// Permitted turns of one virtual channel. A channel is numbered 6 * TIC + port, where TIC and port are its
/// transmitter's.
class SconnectTurns {
 public:
  explicit SconnectTurns(const SconnectFabric& fabric);

  /// Return whether a turn is permitted, and whether it may still be permitted because it has not been rejected.
  bool allowed(u32 channel, u32 next_port) const { return turns_[channel * sconnect::kPorts + next_port] == kAllowed; }
  bool possible(u32 channel, u32 next_port) const { return turns_[channel * sconnect::kPorts + next_port] != kRefused; }
  /// Permits the turn from a channel into the channel at port `next_port` of the TIC to which it leads. Returns false
  /// if that would close a cycle; the turn is then rejected and stays so.
  bool allow(u32 channel, u32 next_port);

 private:
  enum : unsigned char { kOpen, kAllowed, kRefused };

  const SconnectFabric& fabric_;
  /// [channels][ports] whether the turn from the channel into the port is permitted or rejected.
  std::vector<unsigned char> turns_;
  std::vector<std::vector<u32>> after_, before_;  ///< [channels] channels that permitted turns lead to, and come from
  /// [channels] position in a topological order of the permitted turns, maintained incrementally (Pearce and Kelly, "A
  /// dynamic topological sort algorithm for directed acyclic graphs", 2006).
  std::vector<u32> rank_;
  std::vector<u32> seen_;
  u32 search_ = 0;
};

/// Returns tables made by permitting turns. For each destination, from it outwards, every TIC takes its nearest
/// neighbours whose turns can be permitted. It uses virtual channel 1 if the rest of the path is on virtual channel 1,
/// otherwise virtual channel 0. A turn is permitted when a path first needs it. Several orders of the destinations are
/// tried; the tables with the shortest paths are returned.
std::vector<u16> sconnect_tables_by_turns(const SconnectFabric& fabric);

}  // namespace flitlab
