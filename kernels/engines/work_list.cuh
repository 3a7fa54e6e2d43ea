#pragma once
/// The items of a block of threads that have something to do, one after the other, so that warps are full of them: a
/// thread whose item is idle can only wait for the other threads of its warp.
#include <cuda_runtime.h>

#include "kernels/common/bits.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// Whether a phase's items are listed on a device (kernels/engines/phases.hpp).
template <class Phase>
constexpr bool kListed = requires { requires Phase::listed; };

/// `work`, or `run` of a phase that has none.
template <class Phase, class View>
__device__ inline __attribute__((always_inline)) void work_on(const View& v, u32 item, Cycle now) {
  if constexpr (requires { Phase::work(v, item, now); })
    Phase::work(v, item, now);
  else
    Phase::run(v, item, now);
}

class WorkList {
 public:
  /// Shared memory that a block of `threads` needs.
  static constexpr u32 bytes(u32 threads) { return (2 + 2 * threads) * static_cast<u32>(sizeof(u32)); }

  __device__ explicit WorkList(std::byte* shared)
      : counts_(reinterpret_cast<u32*>(shared)), items_(reinterpret_cast<u32*>(shared) + 2) {
    if (threadIdx.x < 2) counts_[threadIdx.x] = 0;
    __syncthreads();
  }

  /// Works on those of the items `first`, `first` + 1, ... that are due, so many of each `stride` as the block has
  /// threads. All threads of the block come here, and leave when all is done.
  template <class Due, class Work>
  __device__ inline __attribute__((always_inline)) void visit(u32 first, u32 end, u32 stride, Due&& due, Work&& work) {
    FLITLAB_ROLLED for (u32 left = first < end ? end - first : 0; left;) {
      const u32 mine = end - left + threadIdx.x;
      add(mine, threadIdx.x < left && due(mine));
      left -= stride < left ? stride : left;
      __syncthreads();
      const u32 n = counts_[turn_];
      const bool enough = n >= blockDim.x || !left;
      if (enough) {
        if (threadIdx.x == 0) counts_[turn_ ^ 1] = 0;  // of the next list; nobody counts this one any more
        FLITLAB_ROLLED for (u32 i = threadIdx.x; i < n; i += blockDim.x) work(items_[i]);
      }
      __syncthreads();
      turn_ ^= u32{enough};
    }
  }

 private:
  /// In the order of threads within a warp; of warps, in any.
  __device__ inline __attribute__((always_inline)) void add(u32 item, bool due) {
    const u32 all = __ballot_sync(~0u, due), lane = threadIdx.x % 32;
    u32 place = 0;
    if (lane == 0 && all) place = atomicAdd(&counts_[turn_], bit_count(all));
    place = __shfl_sync(~0u, place, 0);
    if (due) items_[place + bit_count(all & ((1u << lane) - 1))] = item;
  }

  u32* counts_;  ///< of this list, and of the one before or after it
  u32* items_;   ///< up to two for each thread: a list is worked on when it has one
  u32 turn_ = 0;
};

}  // namespace flitlab
