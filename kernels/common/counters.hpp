#pragma once
/// What a run counts, kept where the state is. A shard belongs to one worker (a CPU thread, a thread block); shards
/// are added up at epoch boundaries. Sums and maxima of integers do not depend on order, so neither do results.
#include <array>
#include <type_traits>

#include "kernels/common/histogram.hpp"
#include "kernels/common/total.hpp"

namespace flitlab {

/// Totals of all models since cycle 0; those of "measured" packets are of packets created in the measurement window. A
/// model declares its own beside its parameters (kernels/routers/<name>/totals.hpp), from kCommonTotals on.
FLITLAB_TOTALS(
    Total, kCommonTotalTable, 0,
    (kPacketsCreated, 1, .name = "packets_created", .unit = "packets", .help = "Created by terminals."),
    (kFlitsCreated, 1, .name = "flits_created", .unit = "flits", .help = "Created by terminals."),
    (kPacketsInjected, 1, .name = "packets_injected", .unit = "packets",
     .help = "Whose head has left the source queue."),
    (kFlitsInjected, 1, .name = "flits_injected", .unit = "flits", .help = "That have entered the network."),
    (kPacketsDelivered, 1, .name = "packets_delivered", .unit = "packets", .help = "Whose tail has arrived."),
    (kFlitsDelivered, 1, .name = "flits_delivered", .unit = "flits", .help = "That have arrived."),
    (kPacketsMisdelivered, 1, .name = "packets_misdelivered", .unit = "packets",
     .help = "Delivered to another terminal than software meant, since its tables are wrong."),
    (kPacketsDropped, 1, .name = "packets_dropped", .unit = "packets", .help = "Lost on their way."),
    (kFlitsDropped, 1, .name = "flits_dropped", .unit = "flits", .help = "Lost on their way."),
    (kFlitMoves, 1, .name = "flit_moves", .unit = "flits", .help = "Crossbar traversals."),
    (kLatencySum, 1, .name = "latency_sum", .unit = "cycles",
     .help = "Creation to tail arrival, all delivered packets."),
    (kNetworkLatencySum, 1, .name = "network_latency_sum", .unit = "cycles",
     .help = "Head's entry to tail arrival, all delivered packets."),
    (kMeasuredCreated, 1, .name = "measured_created", .unit = "packets", .help = "Measured packets created."),
    (kMeasuredDelivered, 1, .name = "measured_delivered", .unit = "packets", .help = "Measured packets delivered."),
    (kMeasuredDropped, 1, .name = "measured_dropped", .unit = "packets", .help = "Measured packets lost."),
    (kMeasuredLatencySum, 1, .name = "measured_latency_sum", .unit = "cycles",
     .help = "Creation to tail arrival, measured packets."),
    (kMeasuredNetworkLatencySum, 1, .name = "measured_network_latency_sum", .unit = "cycles",
     .help = "Head's entry to tail arrival, measured packets."),
    (kMeasuredHops, 1, .name = "measured_hops", .unit = "hops", .help = "Of measured packets."),
    (kRoundTrips, 1, .name = "round_trips", .unit = "transactions",
     .help = "Closed loop: completed transactions whose request was created in the window."),
    (kRoundTripSum, 1, .name = "round_trip_sum", .unit = "cycles",
     .help = "Creation of the request to arrival of the reply's tail."),
    (kTransactions, 1, .name = "transactions", .unit = "transactions", .help = "Transactions completed."),
    (kProgramsFinished, 1, .name = "programs_finished", .unit = "programs",
     .help = "Message-passing programs that ended."),
    (kAuditedFlits, 1, .name = "audited_flits", .unit = "flits",
     .help = "Grows at every audit by the flits then inside the network."),
    (kAuditedPackets, 1, .name = "audited_packets", .unit = "packets",
     .help = "Grows at every audit by the packets then inside the network: head injected, tail not delivered."),
    (kLastDelivery, 1, .name = "last_delivery", .unit = "cycle", .help = "Cycle of the latest delivery.",
     .maximum = true),
    (kLastProgramEnd, 1, .name = "last_program_end", .unit = "cycle",
     .help = "Cycle in which the latest program ended.", .maximum = true),
    (kLatencyMax, 1, .name = "latency_max", .unit = "cycles", .help = "Largest latency of a measured packet.",
     .maximum = true),
    (kNetworkLatencyMax, 1, .name = "network_latency_max", .unit = "cycles",
     .help = "Largest network latency of a measured packet.", .maximum = true),
    (kRoundTripMax, 1, .name = "round_trip_max", .unit = "cycles", .help = "Longest measured round trip.",
     .maximum = true))

inline constexpr u32 kCommonTotals = static_cast<u32>(Total::kEnd);

/// Totals that a model may have of its own.
inline constexpr u32 kOwnTotals = 64;
inline constexpr u32 kTotals = kCommonTotals + kOwnTotals;

/// Elements that a shard has in use, given a model's own totals.
constexpr u32 totals_in_use(TotalTable own) {
  return own.empty() ? kCommonTotals : own.back().first + own.back().count;
}

/// The record of an element of a shard; null if there is none. `own`: a model's own totals, as in what follows.
constexpr const TotalRecord* total_record(TotalTable own, u32 index) {
  for (TotalTable table : {kCommonTotalTable, own})
    for (const TotalRecord& record : table)
      if (index - record.first < record.count) return &record;
  return nullptr;
}

/// Which elements of a shard are combined by maximum, not by sum.
constexpr std::array<bool, kTotals> maxima(TotalTable own) {
  std::array<bool, kTotals> which{};
  for (u32 i = 0; i < totals_in_use(own); ++i) which[i] = total_record(own, i)->maximum;
  return which;
}

/// A model's own totals; a model that counts nothing of its own has no `totals`.
template <class Model>
constexpr TotalTable totals_of() {
  if constexpr (requires { Model::totals; })
    return Model::totals;
  else
    return {};
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

/// `total`: Total, or a model's own enumeration of totals. `element`: of a total that has several.
template <class E>
  requires std::is_enum_v<E>
FLITLAB_HD inline void count(CounterShard& shard, E total, u64 amount = 1, u32 element = 0) {
  count(shard.total[static_cast<u32>(total) + element], amount);
}

template <class E>
  requires std::is_enum_v<E>
FLITLAB_HD inline void raise_to(CounterShard& shard, E total, u64 value) {
  u64& cell = shard.total[static_cast<u32>(total)];
#if defined(__CUDA_ARCH__)
  atomicMax(reinterpret_cast<unsigned long long*>(&cell), static_cast<unsigned long long>(value));
#else
  if (cell < value) cell = value;
#endif
}

/// Any total, of all models or of one.
struct TotalIndex {
  u32 value;

  constexpr explicit TotalIndex(u32 index) : value(index) {}
  template <class E>
    requires std::is_enum_v<E>
  constexpr TotalIndex(E total) : value(static_cast<u32>(total)) {}
};

/// What has been counted of a replica, but for histograms: all that the host looks at after an epoch.
using Totals = std::array<u64, kTotals>;

constexpr u64 total_of(const Totals& totals, TotalIndex total, u32 element = 0) {
  return totals[total.value + element];
}

/// What a shard has counted.
constexpr u64 total_of(const CounterShard& shard, TotalIndex total, u32 element = 0) {
  return shard.total[total.value + element];
}

}  // namespace flitlab
