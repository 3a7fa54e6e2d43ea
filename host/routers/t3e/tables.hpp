#pragma once
/// Register contents of a T3E as its software would load them: numbers of nodes and PEs, routing tables (R_NET_LUT),
/// datelines and SELECT bits (R_VCSEL), and channels that must not be used (R_CHAN).
#include <vector>

#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

struct TableOptions {
  bool adaptive = true;           ///< ADAPT bits
  bool balanced = true;           ///< half-way routes: + from even nodes; false: always +
  bool optimised = true;          ///< SELECT bits from a search; false: all 0
  bool full_select = false;       ///< SELECT bits with an entry for every node of a ring
  u64 seed = 52;                  ///< of the search for SELECT bits
  u32 lut_mode = 0;               ///< of R_NET_LUT: 0, 1 or 2
  std::vector<u32> logical = {};  ///< [nodes] logical PE numbers
  std::vector<u8> broken = {};    ///< [nodes] directions in which a node's link does not work (bits)
};

struct Tables {
  std::vector<Registers> registers;  ///< [nodes]
  std::vector<Tag> lut;              ///< [nodes][entries]
  u32 entries = 0;                   ///< R_NET_LUT registers in use per node
  std::vector<u32> full_select;      ///< [nodes][6] SELECT bits by ordinate; empty without full_select
};

/// PEs that routing tables can address, with four PEs per entry (paper, section 2).
inline constexpr u32 kMostPes = 4 * kLutRegisters;

/// Makes the tables of a machine with full planes and working links: shortest paths in every dimension.
Tables make_tables(const Shape& shape, const TableOptions& options);

/// Returns the registers of a barrier unit, [nodes]: a spanning tree of shortest working paths from `root` to the
/// routers of all `members`, the PEs that take part. `broken`: [nodes] directions of broken links (bits).
std::vector<BarrierRegister> make_barrier_tree(const Shape& shape, const std::vector<u8>& broken,
                                               const std::vector<u32>& members, u32 root);

constexpr Tag make_tag(u32 address, u32 signs, u32 initial, bool final, bool adapt) {
  return ordinate(address, 0) | (signs & 1) << 3 | ordinate(address, 1) << 4 | (signs >> 1 & 1) << 9 |
         ordinate(address, 2) << 10 | (signs >> 2 & 1) << 14 | initial << 15 | u32{final} << 17 | u32{adapt} << 18;
}

/// Returns the sign (0: +, 1: -) of the shorter path from `from` to `to` in a dimension. `plus_half_way`: a path
/// half-way round the ring goes +.
u32 shorter_sign(const Shape& shape, u32 dim, u32 from, u32 to, bool plus_half_way);

/// Returns the clocks from the input of the source's router to the input of the destination's control chip, for a head
/// flit without other traffic, by the latencies of the paper's Table 2. `dims`: dimensions in which the packet moves; 0
/// for a packet from a PE to itself.
u32 latency_formula(const Table& table, u32 hops, u32 dims);

}  // namespace flitlab::t3e
