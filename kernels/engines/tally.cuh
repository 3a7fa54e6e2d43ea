#pragma once
/// What threads that work in lanes count between two looks of the host, to be added to the replica's shard
/// (kernels/common/counters.hpp) at the end: not in registers, of which there are few. Histograms have too many bins,
/// and are counted where they lie.
#include "kernels/common/counters.hpp"

namespace flitlab {

/// In shared memory, of a block of items: the numbers of a few cycles, in halves of 16 bits, so that none passes the
/// end of a word, and their sums, which a team of threads keeps.
template <u32 kTeam>
class SharedTally {
 public:
  u64* latency;
  u64* network_latency;

  /// What comes after a barrier is of this shard.
  __device__ __forceinline__ void begin(CounterShard* shard) {
    if (me() == 0) latency = shard->latency, network_latency = shard->network_latency;
    for (u32 i = me(); i < kCommonTotals; i += kTeam) low_[i] = high_[i] = 0, sum_[i] = 0;
  }
  /// What was counted lately is added to the sums. Few cycles may lie between two calls.
  __device__ __forceinline__ void collect() {
    __syncwarp();
    for (u32 i = me(); i < kCommonTotals; i += kTeam) {
      const u64 lately = atomicExch(low_ + i, 0u) + (u64{atomicExch(high_ + i, 0u)} << 16);  // others may go on
      if (is_maximum(i))
        sum_[i] = sum_[i] < lately ? lately : sum_[i];
      else
        sum_[i] += lately;
    }
    __syncwarp();
  }
  __device__ __forceinline__ void end(CounterShard* shard) {
    for (u32 i = me(); i < kCommonTotals; i += kTeam) {
      if (!sum_[i]) continue;
      if (is_maximum(i))
        raise_to(*shard, static_cast<Total>(i), sum_[i]);
      else
        count(shard->total[i], sum_[i]);
    }
  }

  __device__ __forceinline__ void add(Total total, u64 amount) {
    const u32 i = static_cast<u32>(total), high = static_cast<u32>(amount >> 16);
    atomicAdd(low_ + i, static_cast<u32>(amount & 0xFFFF));
    if (high) atomicAdd(high_ + i, high);
  }
  /// The same of all threads of a warp, whose two teams have a half of a word each for their sums: one change, not 16
  /// of the same word.
  __device__ __forceinline__ void add_of_teams(Total total, u32 amount) {
    static_assert(kTeam == 16);
    const u32 half = threadIdx.x % 32 / kTeam * 16, sums = __reduce_add_sync(~0u, amount << half);
    if (me() == 0) atomicAdd(low_ + static_cast<u32>(total), sums >> half & 0xFFFF);
  }
  __device__ __forceinline__ void raise(Total total, u64 value) {
    atomicMax(low_ + static_cast<u32>(total), static_cast<u32>(value));  // a cycle, or cycles: of 32 bits
  }

 private:
  static __device__ __forceinline__ u32 me() { return threadIdx.x % kTeam; }
  static __device__ __forceinline__ bool is_maximum(u32 total) {
    static_assert(kCommonTotals <= 32 && kCommonTotalTable.size() == kCommonTotals);
    constexpr u32 kMaxima = [] {
      u32 set = 0;
      for (u32 i = 0; i < kCommonTotals; ++i) set |= u32{kCommonTotalTable[i].maximum} << i;
      return set;
    }();
    return kMaxima >> total & 1;
  }

  u64 sum_[kCommonTotals];
  u32 low_[kCommonTotals], high_[kCommonTotals];
};

/// What a part of the work has of it. `Of::tally()` says where it is. `kKeeps`: the part whose team keeps the sums.
template <class Of, bool kKeeps>
struct TallyOf {
  template <u64* Of::Tally::* kBins>
  struct Histogram {
    __device__ __forceinline__ u64& operator[](u32 bin) const { return (Of::tally()->*kBins)[bin]; }
  };
  [[no_unique_address]] Histogram<&Of::Tally::latency> latency;
  [[no_unique_address]] Histogram<&Of::Tally::network_latency> network_latency;

  __device__ __forceinline__ void begin(CounterShard* shard) {
    if (kKeeps) Of::tally()->begin(shard);
  }
  __device__ __forceinline__ void collect() {
    if (kKeeps) Of::tally()->collect();
  }
  __device__ __forceinline__ void end(CounterShard* shard) {
    if (kKeeps) Of::tally()->end(shard);
  }
};
template <class Of>
__device__ __forceinline__ void count(TallyOf<Of, true>&, Total total, u64 amount = 1) {
  Of::tally()->add(total, amount);
}
/// All threads of a warp come here, with a few each.
template <class Of>
__device__ __forceinline__ void count(TallyOf<Of, false>&, Total total, u64 amount = 1) {
  Of::tally()->add_of_teams(total, static_cast<u32>(amount));
}
template <class Of, bool kKeeps>
__device__ __forceinline__ void raise_to(TallyOf<Of, kKeeps>&, Total total, u64 value) {
  Of::tally()->raise(total, value);
}

}  // namespace flitlab
