#pragma once
/// What a thread counts between two looks of the host, in registers: a shard (kernels/common/counters.hpp) that is
/// added to the replica's at the end. Histograms have too many bins, and are counted where they lie.
#include <utility>

#include "kernels/common/counters.hpp"

namespace flitlab {

class Tally {
 public:
  u64* latency = nullptr;
  u64* network_latency = nullptr;

  /// What comes is of another shard, or of none.
  __device__ __forceinline__ void turn_to(CounterShard* shard) {
    if (shard_ == shard) return;
    if (shard_) add(std::make_index_sequence<kCommonTotals>());
    shard_ = shard;
    if (!shard) return;
    latency = shard->latency;
    network_latency = shard->network_latency;
  }

  __device__ __forceinline__ u64& operator[](Total total) { return total_[static_cast<u32>(total)]; }

 private:
  template <std::size_t... i>
  __device__ __forceinline__ void add(std::index_sequence<i...>) {
    (add<i>(), ...);
  }
  template <std::size_t i>
  __device__ __forceinline__ void add() {
    if (!total_[i]) return;
    if constexpr (kCommonTotalTable[i].maximum)
      raise_to(*shard_, static_cast<Total>(i), total_[i]);
    else
      count(shard_->total[i], total_[i]);
    total_[i] = 0;
  }

  CounterShard* shard_ = nullptr;
  u64 total_[kCommonTotals] = {};  ///< indices are known when it is compiled, so that those in use are registers
};
static_assert(kCommonTotalTable.size() == kCommonTotals, "each has one element");

__device__ __forceinline__ void count(Tally& tally, Total total, u64 amount = 1) { tally[total] += amount; }
__device__ __forceinline__ void raise_to(Tally& tally, Total total, u64 value) {
  if (tally[total] < value) tally[total] = value;
}

}  // namespace flitlab
