#pragma once
/// Divergence of warps on the emulated device, for builds with FLITLAB_DIVERGENCE: how many basic blocks of a kernel
/// the threads of a warp execute, and how many the warp issues. Counting starts anew at each barrier. A warp is assumed
/// to issue a basic block as often as the thread that executes it most often between two barriers. A GPU issues at
/// least as many, because threads that execute a block at different times cannot share it. A basic block counts once,
/// whatever its number of instructions.
#include <cstdint>
#include <unordered_map>

struct CudaOnHostDivergence {
  std::uint64_t issued;    ///< basic blocks that warps have issued
  std::uint64_t executed;  ///< basic blocks that threads have executed; executed / issued: active threads of 32
};

/// Returns the counts since the last call. The library of the emulated device exports this function.
extern "C" CudaOnHostDivergence cuda_on_host_divergence();

namespace cuda_on_host {

using BasicBlocks = std::unordered_map<const void*, unsigned>;  ///< executions of each basic block by one thread

/// Sets the counts of the thread that runs now; null: none runs.
void count_basic_blocks_of(BasicBlocks* thread);

void add_to_divergence(std::uint64_t issued, std::uint64_t executed);

/// Adds the counts of a warp's threads, `blocks_of(0)` to `blocks_of(threads - 1)`, to the totals, and clears them.
template <class BlocksOf>
void end_of_warp_phase(unsigned threads, BlocksOf&& blocks_of) {
  BasicBlocks most;
  std::uint64_t issued = 0, executed = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    BasicBlocks& blocks = blocks_of(thread);
    for (const auto& [block, times] : blocks) {
      executed += times;
      unsigned& so_far = most[block];
      if (times > so_far) issued += times - so_far, so_far = times;
    }
    blocks.clear();
  }
  add_to_divergence(issued, executed);
}

}  // namespace cuda_on_host
