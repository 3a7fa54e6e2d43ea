#pragma once
/// Collective operations as point-to-point calls.
#include <functional>

#include "kernels/traffic/program_state.hpp"

namespace flitlab {

enum class CollectiveKind : u8 { kBarrier, kBroadcast, kReduce, kAllreduce, kAllgather, kAlltoall };

struct Collective {
  CollectiveKind kind;
  u32 root = 0;    ///< broadcast, reduce: a member
  u32 bytes = 0;   ///< what a member contributes; alltoall: what it has for each other member
  u32 cycles = 0;  ///< reduce, allreduce: computing that combines two contributions
  bool operator==(const Collective&) const = default;
};

/// Takes a call: kCompute with cycles, kSend or kReceive with another member and bytes.
using CallSink = std::function<void(CallKind kind, u32 member, u64 amount)>;

/// Calls `sink` with what member `me` of `members` does. Barriers disseminate; broadcast and reduce use binomial trees;
/// allreduce doubles recursively, members beyond a power of two being folded into others; allgather doubles
/// recursively, or, if the members are no power of two, goes round by Bruck's distances; alltoall exchanges pairwise.
/// Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005);
/// Hensgen, Finkel and Manber, "Two Algorithms for Barrier Synchronization" (1988).
void expand(const Collective& collective, u32 members, u32 me, const CallSink& sink);

}  // namespace flitlab
