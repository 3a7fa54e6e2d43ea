#pragma once
/// Blue Gene/L tori with dead nodes.
#include <random>
#include <string>
#include <vector>

#include "host/plan/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/grid.hpp"

namespace flitlab::testing::bgl_dead {

using Nodes = std::vector<u32>;

inline IntList listed(const Nodes& nodes) { return {nodes.begin(), nodes.end()}; }

inline RawConfig machine(const IntList& shape, const Nodes& dead, RawConfig changes = {}) {
  changes.merge(Settings{"router.kind=bgl topology.shape=", shape, " faults.nodes=", listed(dead)});
  return changes;
}

/// Draws dead nodes of which no two are on a line along a dimension.
class Draw {
 public:
  explicit Draw(u64 seed) : engine_(seed) {}
  u32 operator()() { return static_cast<u32>(engine_()); }
  Nodes dead(const Grid& grid, u32 count) {
    Nodes nodes;
    for (u32 tries = 0; nodes.size() < count && tries < 1000; ++tries) {
      const u32 node = (*this)() % grid.nodes;
      bool alone = true;
      for (u32 other : nodes) alone = alone && !in_line(grid, node, other);
      if (alone) nodes.push_back(node);
    }
    return nodes.size() == count ? nodes : dead(grid, count);
  }
  static bool in_line(const Grid& grid, u32 a, u32 b) {
    const auto p = grid.at(a), q = grid.at(b);
    u32 differ = 0;
    for (u32 d = 0; d < p.size(); ++d) differ += p[d] != q[d];
    return differ < 2;
  }

 private:
  std::mt19937_64 engine_;
};

/// Returns the error message of a configuration, "none" if it is valid.
inline std::string error_of(const RawConfig& config) {
  try {
    make_plan(experiment(config));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "none";
}

}  // namespace flitlab::testing::bgl_dead
