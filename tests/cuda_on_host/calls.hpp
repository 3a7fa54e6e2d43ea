#pragma once
/// What the host asks of the device: each launch and each copy costs a GPU's host some microseconds, whatever is in it.
/// And how often threads meet there.
#include <cstddef>
#include <cstdint>

struct CudaOnHostCalls {
  std::uint64_t launches;  ///< of kernels; memory that is set counts as one
  std::uint64_t copies;
  std::uint64_t copied_bytes;
  std::uint64_t blocks;          ///< of all launches
  std::uint64_t block_barriers;  ///< that all threads of a block have come to
  std::uint64_t grid_barriers;
};

/// In the library of the emulated device: what came since the last call.
extern "C" CudaOnHostCalls cuda_on_host_calls();

namespace cuda_on_host {

void count_launch_call();
void count_blocks(std::size_t blocks);
void count_block_barrier();
void count_grid_barrier();
void count_copy_call(std::size_t bytes);

}  // namespace cuda_on_host
