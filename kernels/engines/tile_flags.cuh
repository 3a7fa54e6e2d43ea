#pragma once
/// Flags by which tiles of a network synchronise with their neighbours, instead of by a barrier of the grid. A tile is
/// the part of a network that a warp group processes at a time. Tiles are neighbours if they access the same data.
///
/// A tile begins a window (the cycles between two barriers) when all its neighbours have finished the window before. So
/// neighbours are never further apart than with a barrier, and tiles that are not neighbours share no data.
///
/// No deadlock is possible if all warp groups are on the device (a cooperative launch), and each processes all its
/// tiles of a window in order before any of the next one. Proof: Among the unfinished tiles of the earliest unfinished
/// window, take the first one of any warp group; all tiles have finished the window before, so this tile does not wait.
#include <cuda/atomic>

#include "kernels/common/types.hpp"

namespace flitlab {

struct TileFlags {
  static constexpr u32 kStride = 8;  ///< words from a flag to the next one, which lies in another sector of memory
  static constexpr u32 kPollNs = 20;
  using Flag = cuda::atomic_ref<u32, cuda::thread_scope_device>;

  u32* flags;             ///< [tile of all active replicas * kStride] cycles of this launch that the tile has finished
  const u32* first;       ///< [tile of a network] first entry in `neighbours`; one more at the end
  const u32* neighbours;  ///< tiles of the same network
  u32 tiles;              ///< of a network

  /// Waits until all neighbours of a tile have finished `cycles` cycles of the launch. All threads of a warp must call
  /// it, and a barrier of the warp group must follow. Each thread polls the flag of another neighbour. A poll without
  /// order keeps the first-level cache; the load that orders accesses (acquire) clears it.
  __device__ void wait(u32 tile, u32 cycles) const {
    const u32 of_network = tile % tiles;
    u32* const first_flag = flags + std::size_t{tile - of_network} * kStride;
    for (u32 i = first[of_network] + threadIdx.x % 32; i < first[of_network + 1]; i += 32) {
      const Flag flag(first_flag[neighbours[i] * kStride]);
      while (flag.load(cuda::memory_order_acquire) < cycles)
        while (flag.load(cuda::memory_order_relaxed) < cycles) __nanosleep(kPollNs);
    }
    __syncwarp();
  }
  /// Announces that a tile has finished `cycles` cycles of the launch. One thread of the warp group calls it after the
  /// group's barrier, so that the release covers what all threads of the group have written.
  __device__ void announce(u32 tile, u32 cycles) const {
    Flag(flags[std::size_t{tile} * kStride]).store(cycles, cuda::memory_order_release);
  }
};

}  // namespace flitlab
