#pragma once
/// Channel dependency graph of a network. An edge leads from a virtual channel that a packet may hold to a virtual
/// channel that this packet may wait for. Without a cycle, the network is free of deadlock (Dally & Towles 14.1.3).
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

class DependencyGraph {
 public:
  explicit DependencyGraph(u32 channels) : after_(channels) {}

  bool has(u32 from, u32 to) const;
  void add(u32 from, u32 to);
  void remove(u32 from, u32 to);

  /// Returns the channels of a path from `from` to `to`, including both; empty if there is no path. If from == to, only
  /// a path with at least one edge counts.
  std::vector<u32> path(u32 from, u32 to) const;
  /// Returns the channels of a cycle, with the first channel repeated at the end; empty if the graph is acyclic.
  std::vector<u32> cycle() const;

 private:
  std::vector<std::vector<u32>> after_;
};

}  // namespace flitlab
