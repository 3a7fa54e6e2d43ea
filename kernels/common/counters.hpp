#pragma once
/// What a run counts, kept where the state is. A shard belongs to one worker (a CPU thread, a thread block); shards
/// are added up at epoch boundaries. Sums and maxima of integers do not depend on order, so neither do results.
#include "kernels/common/histogram.hpp"

namespace flitlab {

/// Totals since cycle 0, unless "measured": only packets created inside the measurement window.
enum class Total : u32 {
  kPacketsCreated,
  kFlitsCreated,
  kPacketsInjected,  ///< head has left the source queue
  kFlitsInjected,
  kPacketsDelivered,  ///< tail has arrived
  kFlitsDelivered,
  kPacketsMisdelivered,  ///< to another terminal than software meant, its tables being wrong
  kPacketsDropped,
  kFlitsDropped,
  kFlitMoves,   ///< crossbar traversals
  kLatencySum,  ///< creation to tail arrival, all delivered packets, cycles
  kMeasuredCreated,
  kMeasuredDelivered,
  kMeasuredDropped,
  kMeasuredLatencySum,
  kMeasuredNetworkLatencySum,  ///< head's entry to tail arrival
  kMeasuredHops,
  kRoundTrips,          ///< closed loop: transactions completed whose request was created in the window
  kRoundTripSum,        ///< creation of the request to arrival of the reply's tail, cycles
  kTransactions,        ///< transactions completed since cycle 0
  kProgramsFinished,    ///< message-passing programs that have ended
  kBarriers,            ///< completions of barriers that PEs have seen
  kBarrierWaitSum,      ///< joining to completion, cycles
  kChannelErrors,       ///< hits of flits on links that routers have detected
  kFlitsCorrected,      ///< flits hit once on their way, put right by the destination's router
  kFlitsUncorrectable,  ///< flits hit more than once
  kSpecialSent,         ///< T3E: special packets
  kSpecialArrived,
  kSpecialLost,  ///< to another one, at an open link, or where software wants them ignored
  kVc0Flits,     ///< BG/L: flits sent on VC 0 of any link, and on the VCs after it
  kVc7Flits = kVc0Flits + 7,
  kTokenMessages,        ///< BG/L: token messages to a node where a packet in a receiver could enter no VC
  kUnblocking,           ///< of these, those that let a blocked packet move
  kRepeated,             ///< BG/L: packets that links have sent again
  kOutOfSequence,        ///< of what receivers got, those out of sequence
  kAcknowledgmentsLost,  ///< hit on their way
  kNotValid,             ///< copies of spoiled packets that had gone on, thrown away
  kCopies,               ///< BG/L: copies of broadcast packets that software has taken
  kMetroAttempts,        ///< METRO: connections that sources have asked for
  kMetroRefused,         ///< attempts whose message came damaged
  kMetroShut,            ///< connections shut by routers: cascaded ones that disagreed, or a backward port switched off
  kMetroAccepted,        ///< messages that destinations have taken
  kMetroDuplicates,      ///< and those that they had already
  kMetroAcceptedWrong,   ///< messages taken though they were damaged, their check fitting by chance
  kMetroReplyWords,      ///< of replies that have come whole
  kMetroBlocked0,        ///< attempts blocked by a router of stage 0, and after it by those of stages 1 to 7 and later
  kMetroBlocked7 = kMetroBlocked0 + 7,
  kMetroLost0,  ///< attempts from which no more was heard than from so many routers
  kMetroLost7 = kMetroLost0 + 7,
  kMetroDamaged0,  ///< attempts in which the checksum of the router of a stage was the first not to fit
  kMetroDamaged7 = kMetroDamaged0 + 7,
  kSlotsSent,           ///< S-Connect: slots of serial channels that carried a message or part of one
  kSlotsHit,            ///< slots that arrived damaged
  kRejected,            ///< messages refused by a receiver without a buffer for them
  kFailed,              ///< messages that came damaged, by what their sender was told
  kAnswersLost,         ///< slots whose outcome the sender could not read
  kSentAgain,           ///< messages sent again in their slot for that
  kDuplicates,          ///< and those that had arrived the first time, discarded by their sequence bit
  kAborted,             ///< messages on their way out annihilated since they came in damaged
  kSlips,               ///< slots lost to clocks that drifted apart
  kControlMessages,     ///< control messages that routers have carried out
  kPriority0Delivered,  ///< packets of priority 0, and after it of 1 to 3
  kPriority3Delivered = kPriority0Delivered + 3,
  kPriority0LatencySum,  ///< of measured packets, and after it of priorities 1 to 3
  kPriority3LatencySum = kPriority0LatencySum + 3,
  kPriority0Measured,  ///< measured packets delivered, and after it of priorities 1 to 3
  kPriority3Measured = kPriority0Measured + 3,
  kClocksSum,       ///< measured packets: 6 + clock of the port where they left, less that where they entered
  kMisrouted,       ///< adaptive router: messages sent to a channel that their table does not name
  kSentByAdaptive,  ///< and all that were sent
  kLastDelivery,    ///< maximum, not a sum: cycle of the latest delivery
  kLastProgramEnd,  ///< maximum: cycle in which the latest program ended
  kLatencyMax,      ///< maximum over measured packets
  kNetworkLatencyMax,
  kRoundTripMax,
  kAuditedFlits,    ///< grows at every audit by the flits then inside the network
  kAuditedPackets,  ///< and by the packets whose head has been injected and whose tail has not been delivered
  kAuditedSpecial,  ///< and by the special packets on their way
  kCount
};

inline constexpr u32 kTotals = static_cast<u32>(Total::kCount);

FLITLAB_HD constexpr bool is_maximum(u32 total) {
  return total >= static_cast<u32>(Total::kLastDelivery) && total <= static_cast<u32>(Total::kRoundTripMax);
}

struct alignas(64) CounterShard {
  u64 total[kTotals];
  u64 latency[kHistogramBins];          ///< measured packets by latency
  u64 network_latency[kHistogramBins];  ///< measured packets by network latency
};

FLITLAB_HD inline void count(u64& cell, u64 amount = 1) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(&cell), static_cast<unsigned long long>(amount));
#else
  cell += amount;
#endif
}

FLITLAB_HD inline void count(CounterShard& shard, Total total, u64 amount = 1) {
  count(shard.total[static_cast<u32>(total)], amount);
}

FLITLAB_HD inline void raise_to(CounterShard& shard, Total total, u64 value) {
  u64& cell = shard.total[static_cast<u32>(total)];
#if defined(__CUDA_ARCH__)
  atomicMax(reinterpret_cast<unsigned long long*>(&cell), static_cast<unsigned long long>(value));
#else
  if (cell < value) cell = value;
#endif
}

}  // namespace flitlab
