#include "tests/cuda_on_host/calls.hpp"

#include <atomic>

namespace {
std::atomic<std::uint64_t> launches, copies, copied_bytes, blocks, block_barriers, grid_barriers;
}

CudaOnHostCalls cuda_on_host_calls() {
  return {launches.exchange(0), copies.exchange(0),         copied_bytes.exchange(0),
          blocks.exchange(0),   block_barriers.exchange(0), grid_barriers.exchange(0)};
}

namespace cuda_on_host {

void count_launch_call() { ++launches; }
void count_blocks(std::size_t more) { blocks += more; }
void count_block_barrier() { ++block_barriers; }
void count_grid_barrier() { ++grid_barriers; }

void count_copy_call(std::size_t bytes) {
  ++copies;
  copied_bytes += bytes;
}

}  // namespace cuda_on_host
