#pragma once
/// Lists the due items (routers or terminals with work in this cycle) of a block of GPU threads, so that all threads of
/// a warp have work. Without the list, a thread whose item is idle would wait for the other threads of its warp.
#include <cuda_runtime.h>

#include "kernels/common/block_lists.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// Whether a GPU lists the due items of a phase in every cycle (`listed`, kernels/engines/phases.hpp).
template <class Phase>
constexpr bool kListed = requires { requires Phase::listed; };
/// Whether a GPU lists the due items of a phase, in every cycle or only while few items are due.
template <class Phase, class View>
constexpr bool kMayBeListed =
    requires(const View& v) { Phase::due(v, 0u, Cycle{}); } && (kListed<Phase> || !requires { Phase::listed; });

/// Processes an item: calls `work`, or `run` for a phase without `work`.
template <class Phase, class View>
__device__ inline __attribute__((always_inline)) void work_on(const View& v, u32 item, Cycle now) {
  if constexpr (requires { Phase::work(v, item, now); })
    Phase::work(v, item, now);
  else
    Phase::run(v, item, now);
}

/// Whether a block processes the items of a phase together (`work_in_block`).
template <class Phase>
constexpr bool kInBlock = requires { typename Phase::InBlock; };

/// The items that a block processes with `work_in_block`. `list`: the numbers of the items that are due; null: all
/// `count` items from number `begin` on. The items of a replica have consecutive numbers.
template <class Job>
struct DueItems {
  const Job& job;
  u32 replica_of_block;  ///< position of the block's first replica in the list of active replicas
  u32 per_replica;       ///< number of items of a replica
  const u32* list;
  u32 begin;
  u32 count;

  /// Returns the range of at most kGpuBlock items from `from` on, with one thread for each of them if the block has as
  /// many, in whole warps.
  __device__ inline ItemRange<kGpuBlock> range(u32 from) const {
    const u32 left = count - from, n = left < kGpuBlock ? left : kGpuBlock, threads = (n + 31) / 32 * 32;
    return {n, threads < blockDim.x ? threads : blockDim.x};
  }
  __device__ inline u32 index(u32 k) const { return item(k) % per_replica; }
  __device__ inline u32 replica(u32 k) const { return job.active[replica_of_block + item(k) / per_replica]; }
  __device__ inline auto view(u32 replica) const { return job.view(replica); }
  __device__ inline const auto& table() const { return job.table; }

 private:
  __device__ inline u32 item(u32 k) const { return list ? list[k] : begin + k; }
};

class WorkList {
 public:
  /// Returns the shared memory that a block of `threads` threads needs, bytes.
  static constexpr u32 bytes(u32 threads) { return (2 + 2 * threads) * static_cast<u32>(sizeof(u32)); }

  __device__ explicit WorkList(std::byte* shared)
      : counts_(reinterpret_cast<u32*>(shared)), items_(reinterpret_cast<u32*>(shared) + 2) {
    if (threadIdx.x < 2) counts_[threadIdx.x] = 0;
    __syncthreads();
  }

  /// Calls work(items, n) with lists of the due items among this block's share of the items `first` to `end` - 1; see
  /// visit(). A list has at most 2 blockDim.x - 1 items. All threads of the block must call this function, and all call
  /// `work`.
  template <class Due, class Work>
  __device__ inline __attribute__((always_inline)) void collect(u32 first, u32 end, u32 stride, Due&& due,
                                                                Work&& work) {
    FLITLAB_ROLLED for (u32 left = first < end ? end - first : 0; left;) {
      const u32 candidate = end - left + threadIdx.x;
      add(candidate, threadIdx.x < left && due(candidate));
      left -= stride < left ? stride : left;
      __syncthreads();
      const u32 n = counts_[turn_];
      const bool enough = n >= blockDim.x || !left;
      if (enough && n) work(items_, n);
      if (enough && threadIdx.x == 0) counts_[turn_ ^ 1] = 0;  // no thread uses this list's count any more
      __syncthreads();
      turn_ ^= u32{enough};
    }
  }

  /// Processes the due items among this block's share of the items `first` to `end` - 1. Of every `stride` items the
  /// block has the first ones, one per thread. All threads of the block must call this function; they return together.
  /// `packs`: the due items are listed first; otherwise each thread processes its own item, due or not. Returns to all
  /// threads whether most of the checked items were due.
  template <class Due, class Work>
  __device__ inline __attribute__((always_inline)) bool visit(u32 first, u32 end, u32 stride, bool packs, Due&& due,
                                                              Work&& work) {
    u32 seen = 0, found = 0;
    FLITLAB_ROLLED for (u32 left = first < end ? end - first : 0; left;) {
      const u32 candidate = end - left + threadIdx.x;
      const bool is_candidate = threadIdx.x < left;
      seen += left < blockDim.x ? left : blockDim.x;
      left -= stride < left ? stride : left;
      u32 i = is_candidate ? 0 : 1, n = 1, step = 1;
      bool enough = false;
      if (packs) {
        add(candidate, is_candidate && due(candidate));
        __syncthreads();
        n = counts_[turn_];
        enough = n >= blockDim.x || !left;
        if (enough) found += n;
        i = enough ? threadIdx.x : n, step = blockDim.x;
        if (enough && threadIdx.x == 0)
          counts_[turn_ ^ 1] = 0;  // the count of the next list; no thread writes this
                                   // list's count any more
      }
      FLITLAB_ROLLED for (; i < n; i += step) work(packs ? items_[i] : candidate);
      if (packs) __syncthreads();
      turn_ ^= u32{enough};
    }
    return 4 * found >= 3 * seen;
  }

 private:
  /// Appends the due items of a warp to the list, in thread order; the order of warps is arbitrary.
  __device__ inline __attribute__((always_inline)) void add(u32 item, bool due) {
    const u32 all = __ballot_sync(~0u, due), lane = threadIdx.x % 32;
    u32 position = 0;
    if (lane == 0 && all) position = atomicAdd(&counts_[turn_], bit_count(all));
    position = __shfl_sync(~0u, position, 0);
    if (due) items_[position + bit_count(all & ((1u << lane) - 1))] = item;
  }

  u32* counts_;  ///< lengths of the present list and of the next list
  u32* items_;   ///< room for two items per thread, because a list is processed once it has one per thread
  u32 turn_ = 0;
};

}  // namespace flitlab
