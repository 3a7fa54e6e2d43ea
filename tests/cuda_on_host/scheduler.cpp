/// Launches of kernels, and the functions that kernels call. The threads of a launch run one at a time (wave.hpp).
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cuda/atomic"
#include "cuda_runtime.h"
#include "tests/cuda_on_host/calls.hpp"
#include "tests/cuda_on_host/device.hpp"
#include "tests/cuda_on_host/memory.hpp"
#include "tests/cuda_on_host/wave.hpp"

namespace cuda_on_host {
namespace {

bool cooperates = false;  ///< the current launch is cooperative

void read_omitted() {
  const char* text = std::getenv("CUDA_ON_HOST_WITHOUT");
  const std::string_view what = text ? text : "";
  omitted = {what == "block", what == "grid", what == "warp", static_cast<unsigned>(std::atoi(text ? text : ""))};
  atomics_are_torn = what == "atomics";
  flags_are_omitted = what == "flags";
}

}  // namespace

int max_threads_per_block() { return static_cast<int>(from_environment("CUDA_ON_HOST_THREADS", 512)); }

std::byte* shared_memory() { return Wave::shared_memory(); }

const unsigned* synchronise_warp(unsigned mask, const char* operation, unsigned value, bool in_order) {
  return Wave::synchronise_warp(mask, operation, value, in_order);
}

unsigned vote(unsigned mask, const char* operation, int predicate) {
  const unsigned* values = Wave::synchronise_warp(mask, operation, predicate != 0, false);
  unsigned set = 0;
  for (unsigned thread = 0; thread < kWarp; ++thread)
    if (mask >> thread & 1) set |= values[thread] << thread;
  return set;
}

bool atomics_are_torn = false;
bool flags_are_omitted = false;
void pause() { Wave::pause(); }
void sleep() { Wave::sleep(); }

void barrier_of_block() {
  if (!omitted.block) Wave::wait(At::kBlockBarrier);
}
void named_barrier(unsigned barrier, unsigned threads) {
  if (omitted.named != barrier) Wave::wait_at(barrier, threads);
}

void barrier_of_grid() {
  if (!cooperates) fail("a grid barrier in a launch that is not cooperative.");
  if (!omitted.grid) Wave::wait(At::kGridBarrier);
}

cudaError_t launch(dim3 grid, dim3 block, std::size_t shared_bytes, bool cooperative,
                   const std::function<void()>& thread) {
  static std::uint64_t random = 0;
  static unsigned seed = ~0u;
  if (!grid.x || !block.x || block.x > static_cast<unsigned>(max_threads_per_block()))
    return cudaErrorInvalidConfiguration;
  if (shared_bytes > kSharedBytes) return cudaErrorInvalidValue;
  if (cooperative && grid.x > kMultiprocessors) return cudaErrorCooperativeLaunchTooLarge;
  const OnDevice here;  // one launch at a time
  count_launch_call();
  count_blocks(grid.x);
  read_omitted();
  if (const unsigned wanted = from_environment("CUDA_ON_HOST_SEED", 1); wanted != seed) random = seed = wanted;
  blockDim = block;
  gridDim = grid;
  cooperates = cooperative;
  const unsigned at_once = cooperative ? grid.x : std::max(1u, kConcurrentThreads / block.x);
  for (unsigned first = 0; first < grid.x; first += at_once)
    Wave(thread, first, std::min(at_once, grid.x - first), block.x, shared_bytes, random).run();
  return cudaSuccess;
}

}  // namespace cuda_on_host
