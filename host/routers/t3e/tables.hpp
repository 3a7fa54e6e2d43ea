#pragma once
/// Register contents of a T3E as its software would load them: numbers of nodes and PEs, routing tables (R_NET_LUT),
/// datelines and SELECT bits (R_VCSEL), and channels that must not be used (R_CHAN). The SELECT bit of a direction and
/// destination is the VC set (0 or 1) on which a packet enters that direction.
#include <vector>

#include "host/routers/t3e/shape.hpp"

namespace flitlab::t3e {

struct TableOptions {
  bool adaptive = true;   ///< set the ADAPT bits in routing tables, which permit adaptive routing
  bool balanced = true;   ///< routes half-way round a ring go + from even nodes and - from odd nodes; false: always +
  bool optimised = true;  ///< SELECT bits from a search that balances the VCs; false: all SELECT bits are 0
  bool full_select = false;       ///< a SELECT bit for every node of a ring as the destination; false: 8 bits, which
                                  ///< destinations use modulo 8
  u64 seed = 52;                  ///< seed of the search for SELECT bits
  u32 lut_mode = 0;               ///< mode of R_NET_LUT: 0, 1 or 2
  std::vector<u32> logical = {};  ///< [nodes] logical PE numbers
  std::vector<u8> broken = {};    ///< [nodes] directions in which a node's link does not work (bits)
};

struct Tables {
  std::vector<Registers> registers;  ///< [nodes]
  std::vector<Tag> lut;  ///< [nodes][entries] routing tags (R_NET_LUT): address, signs of the directions, initial and
                         ///< final hop, ADAPT
  u32 entries = 0;       ///< number of R_NET_LUT registers in use in each node
  std::vector<u32> full_select;  ///< [nodes][6] SELECT bits of each direction, by the destination's ordinate; empty
                                 ///< without full_select
};

/// Number of PEs that routing tables can address if an entry serves four PEs (paper, section 2).
inline constexpr u32 kMostPes = 4 * kLutRegisters;

/// Returns the tables of a machine with full planes and working links. Packets take shortest paths in every dimension.
Tables make_tables(const Shape& shape, const TableOptions& options);

/// Returns the registers of a barrier unit, [nodes]. They form a spanning tree of shortest working paths from `root` to
/// the routers of all `members`, the PEs that take part in the barrier. `broken`: [nodes] directions of broken links
/// (bits).
std::vector<BarrierRegister> make_barrier_tree(const Shape& shape, const std::vector<u8>& broken,
                                               const std::vector<u32>& members, u32 root);

constexpr Tag make_tag(u32 address, u32 signs, u32 initial, bool final, bool adapt) {
  return ordinate(address, 0) | (signs & 1) << 3 | ordinate(address, 1) << 4 | (signs >> 1 & 1) << 9 |
         ordinate(address, 2) << 10 | (signs >> 2 & 1) << 14 | initial << 15 | u32{final} << 17 | u32{adapt} << 18;
}

/// Returns the sign (0: +, 1: -) of the shorter path from `from` to `to` in a dimension. `plus_half_way`: a path
/// half-way round the ring goes +.
u32 shorter_sign(const Shape& shape, u32 dim, u32 from, u32 to, bool plus_half_way);

/// Returns the latency of a head flit without other traffic, clocks, by Table 2 of the paper: from the input of the
/// source's router to the input of the destination's control chip. `dims`: number of dimensions in which the packet
/// moves; 0 if a PE sends to itself.
u32 latency_formula(const Table& table, u32 hops, u32 dims);

}  // namespace flitlab::t3e
