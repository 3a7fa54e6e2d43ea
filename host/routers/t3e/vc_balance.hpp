#pragma once
/// Virtual-channel assignments for one direction of a T3E ring, how evenly they use the two virtual channels of every
/// link, and a search for good ones ("The Cray T3E Network", sections 3.2 and 4, Table 1).
///
/// Nodes are numbered 0 to k - 1 in the direction of travel; node 0 is the dateline unless a table says otherwise. A
/// route takes the shorter way round; half-way round, sources of even number (unless the table says otherwise) take
/// this direction and the others the other one, which is the mirror image. A route that passes through the dateline
/// (and neither starts nor ends there) must start on VC0 and goes on on VC1 from the link that leaves the dateline; it
/// is *constrained*. Every other route keeps the VC that its source's table gives it. A table has one bit for every
/// destination, or 8 bits of which a destination uses the one of its number modulo 8; an entry that any constrained
/// route uses is 0.
///
/// A *subring* is an aligned block of the ring, without wrap-around: a partition of the machine.
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::t3e {

/// VC bits of all sources of a ring.
struct VcTable {
  u32 ring = 8;          ///< nodes, a power of two from 4 to 256
  u32 entries = 8;       ///< per source: `ring`, or 8 if that is less
  u32 half_way = 1;      ///< sources whose half-way routes take this direction: 1 even ones, 2 odd ones (bits)
  u32 dateline = 0;      ///< node; at an edge of all subrings, so 0 or ring - 1
  std::vector<u8> bits;  ///< [ring][entries]: VC of unconstrained routes

  u8& bit(u32 source, u32 destination) { return bits[source * entries + destination % entries]; }
  u8 bit(u32 source, u32 destination) const { return bits[source * entries + destination % entries]; }
};

/// All zeros: VC0 until the dateline is crossed. `limited`: at most 8 entries a source. ConfigError for a bad ring.
VcTable time_of_crossing(u32 ring, bool limited, u32 half_way = 1, u32 dateline = 0);

/// Entries that a constrained route uses, [ring][entries]; they must be 0.
std::vector<bool> constrained_entries(const VcTable& table);

/// |VC0 routes - VC1 routes| of a link over the most routes on any link of the ring or subring.
struct Balance {
  u32 subring = 0;
  double average = 0;  ///< over all links of the ring, those between subrings included (they carry nothing)
  double maximum = 0;
};

/// Balance if every node sends one packet to every other node of its subring (`subring` == ring: of the ring).
Balance vc_balance(const VcTable& table, u32 subring);

/// Simulated annealing over the hierarchical traffic model: the ring and all its subrings of power-of-two size from 4
/// on. `goals`: wanted balances, at most one for each subring size; 0 for sizes without one. A level that misses its
/// goal weighs more at the next restart. `blank`: a table of zeros, for its ring, entries, half-way routes and
/// dateline. Returns the table of the first restart that meets all goals, else the one that exceeds them least. The
/// result is a function of the arguments. ConfigError for bad arguments.
VcTable optimise(const VcTable& blank, const std::vector<Balance>& goals, u64 seed, u32 restarts, u32 steps);

/// The table that machines are loaded with, found once per process: `optimise` with the balances of the paper's Table 1
/// as goals. A ring of 4, 8, 16 or 32. `seed`: of the search (routing.vc_seed).
const VcTable& machine_table(u32 ring, bool limited, u32 half_way, u32 dateline, u64 seed);

}  // namespace flitlab::t3e
