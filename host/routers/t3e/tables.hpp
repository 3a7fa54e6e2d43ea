#pragma once
/// Register contents of a T3E as its software would load them: numbers of nodes and PEs, routing tables (R_NET_LUT),
/// datelines and SELECT bits (R_VCSEL), channels that are not to be used (R_CHAN).
#include <vector>

#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

struct TableOptions {
  bool adaptive = true;           ///< ADAPT bits
  bool balanced = true;           ///< half-way routes: + from even nodes; false: always +
  bool optimised = true;          ///< SELECT bits searched for; false: all 0
  bool full_select = false;       ///< with an entry for every node of a ring
  u64 seed = 52;                  ///< of the search for SELECT bits
  u32 lut_mode = 0;               ///< of R_NET_LUT: 0, 1 or 2
  std::vector<u32> logical = {};  ///< [nodes] logical PE numbers
  std::vector<u8> broken = {};    ///< [nodes] directions in which a node's link does not work (bits)
};

struct Tables {
  std::vector<Registers> registers;  ///< [nodes]
  std::vector<Tag> lut;              ///< [nodes][entries]
  u32 entries = 0;
  std::vector<u32> full_select;  ///< [nodes][6], empty unless asked for
};

/// What the routing tables can tell apart, four PEs to an entry (paper, section 2).
inline constexpr u32 kMostPes = 4 * kLutRegisters;

/// Tables of a machine whose planes are all full and whose links all work: shortest ways in every dimension.
Tables make_tables(const Shape& shape, const TableOptions& options);

/// Registers of a barrier unit, [nodes]: a spanning tree of shortest working paths from `root` to the routers of all
/// members, which are the PEs that take part.
std::vector<BarrierRegister> make_barrier_tree(const Shape& shape, const std::vector<u8>& broken,
                                               const std::vector<u32>& members, u32 root);

constexpr Tag make_tag(u32 address, u32 signs, u32 initial, bool final, bool adapt) {
  return ordinate(address, 0) | (signs & 1) << 3 | ordinate(address, 1) << 4 | (signs >> 1 & 1) << 9 |
         ordinate(address, 2) << 10 | (signs >> 2 & 1) << 14 | initial << 15 | u32{final} << 17 | u32{adapt} << 18;
}

/// Direction bit (0: +, 1: -) of the shorter way from `from` to `to` in a dimension. `plus_half_way`: half-way round.
u32 shorter_way(const Shape& shape, u32 dim, u32 from, u32 to, bool plus_half_way);

/// Clocks from the input of the source's router to the input of the destination's control chip for a head flit that
/// meets no other traffic, by the latencies of the paper's Table 2. `dims`: dimensions in which the packet moves; a
/// packet from a PE to itself moves in none.
u32 latency_formula(const Table& table, u32 hops, u32 dims);

}  // namespace flitlab::t3e
