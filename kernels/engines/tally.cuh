#pragma once
/// What threads that work in lanes count between two looks of the host, to be added to the replica's shard
/// (kernels/common/counters.hpp) at the end: not in registers, of which there are few. Histograms have too many bins,
/// and are counted where they lie.
#include "kernels/common/counters.hpp"

namespace flitlab {

/// For work that counts moves of flits, and nothing else.
class MoveTally {
 public:
  __device__ __forceinline__ void begin(CounterShard*) {}
  __device__ __forceinline__ void collect() {}
  __device__ __forceinline__ void end(CounterShard* shard) {
    if (moves_) count(shard->total[static_cast<u32>(Total::kFlitMoves)], moves_);
    moves_ = 0;
  }

  u32 moves_ = 0;  ///< a few in a cycle
};
__device__ __forceinline__ void count(MoveTally& tally, Total, u64 amount = 1) {
  tally.moves_ += static_cast<u32>(amount);
}

/// For work that counts many things; it lies in shared memory, of a team of threads. The numbers of a few cycles are
/// counted in halves of 16 bits, so that none passes the end of a word.
template <u32 kTeam>
class TeamTally {
 public:
  u64* latency;
  u64* network_latency;

  /// What comes is of this shard.
  __device__ __forceinline__ void begin(CounterShard* shard) {
    latency = shard->latency;
    network_latency = shard->network_latency;
    for (u32 i = me(); i < kCommonTotals; i += kTeam) low_[i] = high_[i] = 0, sum_[i] = 0;
  }
  /// What was counted lately is added to the sums. Few cycles may lie between two calls.
  __device__ __forceinline__ void collect() {
    __syncwarp();
    for (u32 i = me(); i < kCommonTotals; i += kTeam) {
      const u64 lately = low_[i] + (u64{high_[i]} << 16);
      if (!lately) continue;
      if (is_maximum(i))
        sum_[i] = sum_[i] < lately ? lately : sum_[i];
      else
        sum_[i] += lately;
      low_[i] = high_[i] = 0;
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

template <u32 kTeam>
__device__ __forceinline__ void count(TeamTally<kTeam>& tally, Total total, u64 amount = 1) {
  tally.add(total, amount);
}
template <u32 kTeam>
__device__ __forceinline__ void raise_to(TeamTally<kTeam>& tally, Total total, u64 value) {
  tally.raise(total, value);
}

}  // namespace flitlab
