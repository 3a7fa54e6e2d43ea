#pragma once
/// Virtual-channel tables for one direction of a T3E ring, how evenly they use the two virtual channels of every link,
/// and a search for good tables ("The Cray T3E Network", sections 3.2 and 4, Table 1).
///
/// Nodes are numbered 0 to k - 1 in the direction of travel; node 0 is the dateline unless a table has another one. A
/// route takes the shorter direction. Of routes half-way round the ring, the ones from even sources (unless the table
/// has odd ones) take this direction and the others the opposite one, which is the mirror image. A route that passes
/// through the dateline (and neither starts nor ends there) is *constrained*: it must start on VC0 and uses VC1 from
/// the link that leaves the dateline. Every other route keeps the VC that its source's table gives it. A table has one
/// bit for every destination, or 8 bits that destinations use modulo 8. An entry that any constrained route uses is 0.
///
/// A *subring* is an aligned block of the ring, without wrap-around: a partition of the machine.
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::t3e {

/// VC bits of all sources of a ring.
struct VcTable {
  u32 ring = 8;          ///< nodes, a power of two from 4 to 256
  u32 entries = 8;       ///< per source: `ring`, or 8 if that is less
  u32 half_way = 1;      ///< sources whose half-way routes take this direction (bits): 1 even, 2 odd
  u32 dateline = 0;      ///< node; at an edge of all subrings, so 0 or ring - 1
  std::vector<u8> bits;  ///< [ring][entries]: VC of unconstrained routes

  u8& bit(u32 source, u32 destination) { return bits[source * entries + destination % entries]; }
  u8 bit(u32 source, u32 destination) const { return bits[source * entries + destination % entries]; }
};

/// Returns a table of zeros: VC0 until the dateline is crossed. `limited`: at most 8 entries per source. ConfigError if
/// the ring is not a power of two from 4 to 256.
VcTable time_of_crossing(u32 ring, bool limited, u32 half_way = 1, u32 dateline = 0);

/// Returns the entries that constrained routes use, [ring][entries]; they must be 0.
std::vector<bool> constrained_entries(const VcTable& table);

/// Balance of links: |VC0 routes - VC1 routes| of a link over the most routes on any link of the ring or subring.
struct Balance {
  u32 subring = 0;
  double average = 0;  ///< over all links of the ring, including links between subrings, which carry nothing
  double maximum = 0;
};

/// Returns the balance if every node sends one packet to every other node of its subring (`subring` == ring: of the
/// ring).
Balance vc_balance(const VcTable& table, u32 subring);

/// Searches for a table by simulated annealing over the hierarchical traffic model: the ring and all its subrings of
/// power-of-two size from 4 on. `goals`: wanted balances, at most one for each subring size; 0 for sizes without a
/// goal. A level that misses its goal gets more weight at the next restart. `blank`: a table of zeros, which gives the
/// ring, entries, half-way routes and dateline. Returns the table of the first restart that meets all goals, else the
/// table that exceeds them least. The result is a function of the arguments. ConfigError for bad arguments.
VcTable optimise(const VcTable& blank, const std::vector<Balance>& goals, u64 seed, u32 restarts, u32 steps);

/// Returns the table with which machines are loaded, found once per process: `optimise` with the balances of the
/// paper's Table 1 as goals. `ring`: 4, 8, 16 or 32. `seed`: of the search (routing.vc_seed).
const VcTable& machine_table(u32 ring, bool limited, u32 half_way, u32 dateline, u64 seed);

}  // namespace flitlab::t3e
