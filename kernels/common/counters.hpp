#pragma once
/// Totals and latency histograms of a run. Each worker (a CPU thread or a block of GPU threads) counts in its own
/// shard, and the host adds up the shards after each epoch. Integer sums and maxima do not depend on the order of the
/// shards, so results do not depend on it either.
#include <array>
#include <type_traits>

#include "kernels/common/histogram.hpp"
#include "kernels/common/total.hpp"

namespace flitlab {

/// Totals of all models since cycle 0. "Measured" totals count the packets that were created in the measurement window.
/// A model declares its own totals beside its parameters (kernels/routers/<name>/totals.hpp); their indices begin at
/// kCommonTotals.
FLITLAB_TOTALS(
    Total, kCommonTotalTable, 0,
    (kPacketsCreated, 1, .name = "packets_created", .unit = "packets", .help = "Packets created by terminals."),
    (kFlitsCreated, 1, .name = "flits_created", .unit = "flits", .help = "Flits created by terminals."),
    (kPacketsInjected, 1, .name = "packets_injected", .unit = "packets",
     .help = "Packets whose head has left the source queue."),
    (kFlitsInjected, 1, .name = "flits_injected", .unit = "flits", .help = "Flits that have entered the network."),
    (kPacketsDelivered, 1, .name = "packets_delivered", .unit = "packets", .help = "Packets whose tail has arrived."),
    (kFlitsDelivered, 1, .name = "flits_delivered", .unit = "flits", .help = "Flits that have arrived."),
    (kPacketsMisdelivered, 1, .name = "packets_misdelivered", .unit = "packets",
     .help = "Packets delivered to another terminal than software intended, because its tables are wrong."),
    (kPacketsDropped, 1, .name = "packets_dropped", .unit = "packets", .help = "Packets that were dropped or lost."),
    (kFlitsDropped, 1, .name = "flits_dropped", .unit = "flits", .help = "Flits that were dropped or lost."),
    (kFlitMoves, 1, .name = "flit_moves", .unit = "flits", .help = "Crossbar traversals."),
    (kLatencySum, 1, .name = "latency_sum", .unit = "cycles",
     .help = "Sum of latencies (creation to tail arrival), all delivered packets."),
    (kNetworkLatencySum, 1, .name = "network_latency_sum", .unit = "cycles",
     .help = "Sum of network latencies (head's injection to tail arrival), all delivered packets."),
    (kMeasuredCreated, 1, .name = "measured_created", .unit = "packets", .help = "Measured packets created."),
    (kMeasuredDelivered, 1, .name = "measured_delivered", .unit = "packets", .help = "Measured packets delivered."),
    (kMeasuredDropped, 1, .name = "measured_dropped", .unit = "packets", .help = "Measured packets lost."),
    (kMeasuredLatencySum, 1, .name = "measured_latency_sum", .unit = "cycles",
     .help = "Sum of latencies of measured packets."),
    (kMeasuredNetworkLatencySum, 1, .name = "measured_network_latency_sum", .unit = "cycles",
     .help = "Sum of network latencies of measured packets."),
    (kMeasuredHops, 1, .name = "measured_hops", .unit = "hops", .help = "Hops of measured packets."),
    (kRoundTrips, 1, .name = "round_trips", .unit = "transactions",
     .help = "Closed loop: completed transactions whose request was created in the window."),
    (kRoundTripSum, 1, .name = "round_trip_sum", .unit = "cycles",
     .help = "Sum of round trips (creation of the request to arrival of the reply's tail)."),
    (kTransactions, 1, .name = "transactions", .unit = "transactions", .help = "Transactions completed."),
    (kProgramsFinished, 1, .name = "programs_finished", .unit = "programs",
     .help = "Message-passing programs that ended."),
    (kAuditedFlits, 1, .name = "audited_flits", .unit = "flits",
     .help = "Sum over audits of the flits inside the network at that time."),
    (kAuditedPackets, 1, .name = "audited_packets", .unit = "packets",
     .help = "Sum over audits of the packets inside the network (head injected, tail not delivered)."),
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

/// Largest number of totals that a model may add.
inline constexpr u32 kOwnTotals = 64;
inline constexpr u32 kTotals = kCommonTotals + kOwnTotals;

/// Returns how many elements of a shard's totals a model uses. `own`: the totals that the model adds to the common
/// ones.
constexpr u32 totals_in_use(TotalTable own) {
  return own.empty() ? kCommonTotals : own.back().first + own.back().count;
}

/// Returns the record that describes element `index` of a shard, or null if no total has that element. `own`, here and
/// below: the totals that the model adds to the common ones.
constexpr const TotalRecord* total_record(TotalTable own, u32 index) {
  for (TotalTable table : {kCommonTotalTable, own})
    for (const TotalRecord& record : table)
      if (index - record.first < record.count) return &record;
  return nullptr;
}

/// Returns, for each element of a shard, whether shards are combined by maximum instead of sum.
constexpr std::array<bool, kTotals> maxima(TotalTable own) {
  std::array<bool, kTotals> which{};
  for (u32 i = 0; i < totals_in_use(own); ++i) which[i] = total_record(own, i)->maximum;
  return which;
}

/// Returns a model's own totals; empty if the model has no `totals`.
template <class Model>
constexpr TotalTable totals_of() {
  if constexpr (requires { Model::totals; })
    return Model::totals;
  else
    return {};
}

struct alignas(64) CounterShard {
  u64 total[kTotals];
  u64 latency[kHistogramBins];          ///< [bin] measured packets, by cycles from creation to arrival of the tail
  u64 network_latency[kHistogramBins];  ///< [bin] measured packets, by cycles from injection to arrival of the tail
};

FLITLAB_HD inline void count(u64& cell, u64 amount = 1) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(&cell), static_cast<unsigned long long>(amount));
#else
  cell += amount;
#endif
}

/// Adds `amount` to a total. `total` is a value of Total or of the model's own enumeration. `element` is the index
/// within a total that has several elements, one per VC for example.
template <class E>
  requires std::is_enum_v<E>
FLITLAB_HD inline void count(CounterShard& shard, E total, u64 amount = 1, u32 element = 0) {
  count(shard.total[static_cast<u32>(total) + element], amount);
}

/// Raises a total that is a maximum to `value` if it is lower.
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

/// Index of a total in a shard. Values of Total and of a model's own enumeration convert to it.
struct TotalIndex {
  u32 value;

  constexpr explicit TotalIndex(u32 index) : value(index) {}
  template <class E>
    requires std::is_enum_v<E>
  constexpr TotalIndex(E total) : value(static_cast<u32>(total)) {}
};

/// Totals of a replica, without histograms: all that the host reads after an epoch.
using Totals = std::array<u64, kTotals>;

constexpr u64 total_of(const Totals& totals, TotalIndex total, u32 element = 0) {
  return totals[total.value + element];
}

/// Returns the value of a total in a shard.
constexpr u64 total_of(const CounterShard& shard, TotalIndex total, u32 element = 0) {
  return shard.total[total.value + element];
}

}  // namespace flitlab
