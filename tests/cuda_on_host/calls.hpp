#pragma once
/// Counts of launches, copies and barriers of the emulated device. On a GPU each launch and each copy costs the host
/// some microseconds, even if it is small.
#include <cstddef>
#include <cstdint>

struct CudaOnHostCalls {
  std::uint64_t launches;  ///< kernel launches; a cudaMemset counts as one
  std::uint64_t copies;
  std::uint64_t copied_bytes;
  std::uint64_t blocks;          ///< blocks of all launches
  std::uint64_t block_barriers;  ///< __syncthreads, counted once per block
  std::uint64_t grid_barriers;
};

/// Returns the counts since the last call. The library of the emulated device exports this function.
extern "C" CudaOnHostCalls cuda_on_host_calls();

namespace cuda_on_host {

void count_launch_call();
void count_blocks(std::size_t blocks);
void count_block_barrier();
void count_grid_barrier();
void count_copy_call(std::size_t bytes);

}  // namespace cuda_on_host
