#include "tests/cuda_on_host/calls.hpp"

#include <atomic>

namespace {
std::atomic<std::uint64_t> launches, copies, copied_bytes, blocks, met[3];
}

CudaOnHostCalls cuda_on_host_calls() {
  return {launches.exchange(0), copies.exchange(0), copied_bytes.exchange(0), blocks.exchange(0),
          met[0].exchange(0),   met[1].exchange(0), met[2].exchange(0)};
}

namespace cuda_on_host {

void count_launch_call() { ++launches; }
void count_blocks(std::size_t more) { blocks += more; }
void count_meeting(Met who) { ++met[static_cast<int>(who)]; }

void count_copy_call(std::size_t bytes) {
  ++copies;
  copied_bytes += bytes;
}

}  // namespace cuda_on_host
