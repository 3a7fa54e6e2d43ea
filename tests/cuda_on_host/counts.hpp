#pragma once
/// What warps do, counted while threads run one by one (README.md, "Counts").
#include <cstddef>
#include <cstdint>

/// Sums over all warps since the last reset. An access is one of a lane; a sector is 32 bytes that a warp's access
/// needs.
struct CudaOnHostCounts {
  std::uint64_t lane_blocks;    ///< basic blocks that lanes went through
  std::uint64_t warp_blocks;    ///< that warps went through: each as often as the lane that did so most often
  std::uint64_t loads, stores;  ///< of the device's memory
  std::uint64_t warp_loads, warp_stores;
  std::uint64_t load_sectors, store_sectors;
  std::uint64_t load_bytes, store_bytes;  ///< that lanes asked for
  std::uint64_t atomics;
  std::uint64_t longest;  ///< loads of the lane that has most, added up over the barriers of the block where it is
};

/// In the library of the emulated device: what came since the last call.
extern "C" CudaOnHostCounts cuda_on_host_counts();
/// Shows each basic block that warps came to in the span of the last counts: the end of the call at its head, in bytes
/// from the library's beginning, and how often.
extern "C" void cuda_on_host_visits(void (*show)(void* to, std::uintptr_t place, std::uint64_t warps), void* to);

namespace cuda_on_host {

#ifdef CUDA_ON_HOST_COUNTS
/// A launch begins: threads are numbered from 0.
void count_launch(std::size_t threads);
/// This thread runs from now on.
void count_thread(std::size_t thread);
/// The host does.
void count_nobody();
/// Threads `first` to `last` - 1 have all come to a barrier, or to their end. Blocks have `block` threads.
void count_barrier(std::size_t first, std::size_t last, std::size_t block);
#else
inline void count_launch(std::size_t) {}
inline void count_thread(std::size_t) {}
inline void count_nobody() {}
inline void count_barrier(std::size_t, std::size_t, std::size_t) {}
#endif

}  // namespace cuda_on_host
