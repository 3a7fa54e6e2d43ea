#pragma once
/// Channel dependency graph: a network is free of deadlock if the graph of "holds one, waits for the other" among its
/// virtual channels has no cycle (Dally & Towles 14.1.3).
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

class DependencyGraph {
 public:
  explicit DependencyGraph(u32 channels) : after_(channels) {}

  bool has(u32 from, u32 to) const;
  void add(u32 from, u32 to);
  void remove(u32 from, u32 to);

  /// Returns the channels of a path from `from` to `to`, both included; empty if there is no path. If from == to, only
  /// a path with at least one edge counts.
  std::vector<u32> path(u32 from, u32 to) const;
  /// Returns the channels of a cycle, the first one repeated at the end; empty if the graph is acyclic.
  std::vector<u32> cycle() const;

 private:
  std::vector<std::vector<u32>> after_;
};

}  // namespace flitlab
