#pragma once
/// Totals that the threads of warp groups count between two epochs, and add to the replica's shard
/// (kernels/common/counters.hpp) at the end. They are in shared memory, because registers are scarce. Histograms have
/// too many bins for shared memory, so threads count them in the shard.
#include "kernels/common/counters.hpp"

namespace flitlab {

/// A tally in shared memory for a block of items. The recent count of each total is stored as two halves of 16 bits,
/// each in a separate word, so that additions cannot overflow. A half-warp adds the recent counts to 64-bit sums.
template <u32 kHalfWarpThreads>
class SharedTally {
 public:
  u64* latency;
  u64* network_latency;

  /// Starts counting for a shard. A barrier must follow before the first count.
  __device__ __forceinline__ void begin(CounterShard* shard) {
    if (me() == 0) latency = shard->latency, network_latency = shard->network_latency;
    for (u32 i = me(); i < kCommonTotals; i += kHalfWarpThreads) low_[i] = high_[i] = 0, sum_[i] = 0;
  }
  /// Adds the recent counts to the sums. At most a few cycles may lie between two calls.
  __device__ __forceinline__ void collect() {
    __syncwarp();
    for (u32 i = me(); i < kCommonTotals; i += kHalfWarpThreads) {
      const u64 recent = atomicExch(low_ + i, 0u) + (u64{atomicExch(high_ + i, 0u)} << 16);  // others may be counting
      if (is_maximum(i))
        sum_[i] = sum_[i] < recent ? recent : sum_[i];
      else
        sum_[i] += recent;
    }
    __syncwarp();
  }
  __device__ __forceinline__ void end(CounterShard* shard) {
    for (u32 i = me(); i < kCommonTotals; i += kHalfWarpThreads) {
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
  /// Adds the sums of a warp's two half-warps, one in each half of a word: one atomic per half-warp instead of 16 on
  /// the same word. All threads of the warp must call it.
  __device__ __forceinline__ void add_for_both_half_warps(Total total, u32 amount) {
    static_assert(kHalfWarpThreads == 16);
    const u32 half = threadIdx.x % 32 / kHalfWarpThreads * 16, sums = __reduce_add_sync(~0u, amount << half);
    if (me() == 0) atomicAdd(low_ + static_cast<u32>(total), sums >> half & 0xFFFF);
  }
  __device__ __forceinline__ void raise(Total total, u64 value) {
    atomicMax(low_ + static_cast<u32>(total), static_cast<u32>(value));  // a cycle number or a latency, both of 32 bits
  }

 private:
  static __device__ __forceinline__ u32 me() { return threadIdx.x % kHalfWarpThreads; }
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

/// Access to the tally that `Of::tally()` returns, for one part of a warp group's work. `kKeeps`: the half-warp of
/// this part keeps the sums.
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
/// Adds `amount`, which must be small, to a total. All threads of the warp must call it.
template <class Of>
__device__ __forceinline__ void count(TallyOf<Of, false>&, Total total, u64 amount = 1) {
  Of::tally()->add_for_both_half_warps(total, static_cast<u32>(amount));
}
template <class Of, bool kKeeps>
__device__ __forceinline__ void raise_to(TallyOf<Of, kKeeps>&, Total total, u64 value) {
  Of::tally()->raise(total, value);
}

}  // namespace flitlab
