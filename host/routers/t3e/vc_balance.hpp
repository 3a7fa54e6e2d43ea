#pragma once
/// Virtual-channel tables for one direction of a T3E ring, how evenly they use the two virtual channels of every link,
/// and a search for good tables ("The Cray T3E Network", sections 3.2 and 4, Table 1).
///
/// Nodes are numbered 0 to k - 1 in the direction of travel; node 0 is the dateline unless a table has another one. A
/// route takes the shorter direction. Routes half-way round the ring take this direction if their source is even (or
/// odd, if the table says so); the others take the opposite direction, which is the mirror image. A route that passes
/// through the dateline, and neither starts nor ends there, is *constrained*: it must start on VC0, and changes to VC1
/// on the link that leaves the dateline. Every other route stays on the VC that its source's table gives for the
/// destination. A source's table has one bit for every destination, or 8 bits that destinations use modulo 8. Such a
/// bit is an *entry*. An entry that any constrained route uses is 0.
///
/// A *subring* is an aligned block of the ring, without wrap-around: a partition of the machine.
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::t3e {

/// VC bits (entries) of all sources of a ring.
struct VcTable {
  u32 ring = 8;          ///< nodes, a power of two from 4 to 256
  u32 entries = 8;       ///< number of entries of each source: `ring`, or 8 if that is less
  u32 half_way = 1;      ///< sources whose half-way routes take this direction, as bits: 1 even sources, 2 odd sources
  u32 dateline = 0;      ///< number of the dateline node: 0 or ring - 1, so that it is at an edge of all subrings
  std::vector<u8> bits;  ///< [ring][entries]: VC of unconstrained routes

  u8& bit(u32 source, u32 destination) { return bits[source * entries + destination % entries]; }
  u8 bit(u32 source, u32 destination) const { return bits[source * entries + destination % entries]; }
};

/// Returns a table of zeros, in which all routes use VC0 until they cross the dateline. `limited`: each source has at
/// most 8 entries. ConfigError if the ring is not a power of two from 4 to 256.
VcTable time_of_crossing(u32 ring, bool limited, u32 half_way = 1, u32 dateline = 0);

/// Returns which entries, [ring][entries], constrained routes use. These entries must be 0.
std::vector<bool> constrained_entries(const VcTable& table);

/// Balance of links. The balance of a link is |VC0 routes - VC1 routes| over this link, divided by the number of routes
/// on the busiest link of the ring or subring.
struct Balance {
  u32 subring = 0;
  double average = 0;  ///< mean over all links of the ring; links between subrings carry no routes and count as 0
  double maximum = 0;
};

/// Returns the balance if every node sends one packet to every other node of its subring; if `subring` == ring, to
/// every other node of the ring.
Balance vc_balance(const VcTable& table, u32 subring);

/// Searches for a table by simulated annealing. The traffic model is hierarchical: it has one level for the ring, and
/// one for all its subrings of each power-of-two size from 4 on. `goals`: wanted balances, at most one for each level;
/// a level without a goal has the goal 0. A level that misses its goal gets a higher weight in the next restart.
/// `blank`: a table of zeros, which defines ring, number of entries, half-way routes and dateline. Returns the table of
/// the first restart that meets all goals; if no restart meets them, the table that exceeds them least. The result
/// depends on the arguments only. ConfigError for bad arguments.
VcTable optimise(const VcTable& blank, const std::vector<Balance>& goals, u64 seed, u32 restarts, u32 steps);

/// Returns the table that machines of this ring size use: the result of `optimise` with the balances of the paper's
/// Table 1 as goals. It is computed once per process. `ring`: 4, 8, 16 or 32. `seed`: seed of the search
/// (routing.vc_seed).
const VcTable& machine_table(u32 ring, bool limited, u32 half_way, u32 dateline, u64 seed);

}  // namespace flitlab::t3e
