#pragma once
/// Wiring and register contents of a T3E, as its software would load them: shapes (manual, Node Shapes), routing tables
/// (R_NET_LUT), datelines and SELECT bits (R_VCSEL).
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// Nodes in X, Y and Z. ConfigError for a shape that the machine does not have.
struct Shape {
  u32 radix[3];
  explicit Shape(const std::vector<u32>& extents);
  u32 nodes() const { return radix[0] * radix[1] * radix[2]; }
  /// Whether a dimension's largest node is joined to its smallest: X always, Y unless it is 2, Z unless it is 1.
  bool ring(u32 dim) const { return dim == 0 || (dim == 1 ? radix[1] > 2 : radix[2] > 1); }
};

/// Nodes are numbered X fastest, Z slowest; ports as t3e::kDirections, then the PE.
Topology make_topology(const Shape& shape);

struct TableOptions {
  bool adaptive = true;      ///< ADAPT bits
  bool balanced = true;      ///< half-way routes: + from even nodes; false: always +
  bool optimised = true;     ///< SELECT bits searched for; false: all 0
  bool full_select = false;  ///< with an entry for every node of a ring
};

struct Tables {
  std::vector<Registers> registers;  ///< [nodes]
  std::vector<Tag> lut;              ///< [nodes][entries]
  u32 entries = 0;
  std::vector<u32> full_select;  ///< [nodes][6], empty unless asked for
};

/// What the routing tables can tell apart, four PEs to an entry (paper, section 2).
inline constexpr u32 kMostPes = 4 * kLutRegisters;

/// One routing table entry for every PE, in mode 0; beyond 544 PEs one for every four, in mode 1.
Tables make_tables(const Shape& shape, const Topology& topology, const TableOptions& options);

/// A spanning tree of shortest paths to `root`, [nodes]; every PE takes part.
std::vector<BarrierRegister> make_barrier_tree(const Topology& topology, u32 root);

Tag make_tag(u32 address, u32 signs, u32 initial, bool final, bool adapt);

/// Direction bit (0: +, 1: -) of the shorter way from `from` to `to` in a dimension. `plus_half_way`: half-way round.
u32 shorter_way(const Shape& shape, u32 dim, u32 from, u32 to, bool plus_half_way);

/// Clocks from the input of the source's router to the input of the destination's control chip for a head flit that
/// meets no other traffic, by the latencies of the paper's Table 2.
u32 latency_formula(const Table& table, u32 hops, u32 turns);

}  // namespace flitlab::t3e
