#pragma once
/// Collective operations, expanded to point-to-point calls.
#include <functional>

#include "kernels/traffic/program_state.hpp"

namespace flitlab {

enum class CollectiveKind : u8 { kBarrier, kBroadcast, kReduce, kAllreduce, kAllgather, kAlltoall };

struct Collective {
  CollectiveKind kind;
  u32 root = 0;  ///< broadcast, reduce: number of the root among the members
  /// Size of each member's contribution, bytes; alltoall: bytes that each member sends to each other member.
  u32 bytes = 0;
  u32 cycles = 0;  ///< reduce, allreduce: time to combine two contributions, cycles
  bool operator==(const Collective&) const = default;
};

/// Receives one call: kCompute with a number of cycles, or kSend or kReceive with the other member and a number of
/// bytes.
using CallSink = std::function<void(CallKind kind, u32 member, u64 amount)>;

/// Passes to `sink` the calls that member `me` of `members` members makes for a collective operation. Algorithms:
/// barrier by dissemination; broadcast and reduce by binomial trees; allreduce by recursive doubling, in which members
/// beyond a power of two combine with others first; allgather by recursive doubling, or by Bruck's algorithm if the
/// number of members is not a power of two; alltoall by pairwise exchange.
/// Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005);
/// Hensgen, Finkel and Manber, "Two Algorithms for Barrier Synchronization" (1988).
void expand(const Collective& collective, u32 members, u32 me, const CallSink& sink);

}  // namespace flitlab
