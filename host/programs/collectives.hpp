#pragma once
/// Collective operations as point-to-point calls.
#include <functional>

#include "kernels/traffic/program_state.hpp"

namespace flitlab {

enum class CollectiveKind : u8 { kBarrier, kBroadcast, kReduce, kAllreduce, kAllgather, kAlltoall };

struct Collective {
  CollectiveKind kind;
  u32 root = 0;    ///< broadcast, reduce: a member
  u32 bytes = 0;   ///< contribution of a member; alltoall: bytes for each other member
  u32 cycles = 0;  ///< reduce, allreduce: computation that combines two contributions
  bool operator==(const Collective&) const = default;
};

/// Receives a call: kCompute with cycles, or kSend or kReceive with another member and bytes.
using CallSink = std::function<void(CallKind kind, u32 member, u64 amount)>;

/// Calls `sink` with the calls of member `me` of `members`. Algorithms: barrier by dissemination; broadcast and reduce
/// by binomial trees; allreduce by recursive doubling, with members beyond a power of two folded into others; allgather
/// by recursive doubling, or by Bruck's algorithm if the number of members is not a power of two; alltoall by pairwise
/// exchange.
/// Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005);
/// Hensgen, Finkel and Manber, "Two Algorithms for Barrier Synchronization" (1988).
void expand(const Collective& collective, u32 members, u32 me, const CallSink& sink);

}  // namespace flitlab
