#include "tests/cuda_on_host/divergence.hpp"

namespace {
CudaOnHostDivergence totals;
cuda_on_host::BasicBlocks* running = nullptr;
}  // namespace

CudaOnHostDivergence cuda_on_host_divergence() {
  const CudaOnHostDivergence since = totals;
  totals = {};
  return since;
}

/// GCC calls this function at the start of each basic block of a kernel (-fsanitize-coverage=trace-pc).
extern "C" void __sanitizer_cov_trace_pc();
void __sanitizer_cov_trace_pc() {
  if (running) ++(*running)[__builtin_return_address(0)];
}

namespace cuda_on_host {

void count_basic_blocks_of(BasicBlocks* thread) { running = thread; }

void add_to_divergence(std::uint64_t issued, std::uint64_t executed) {
  totals.issued += issued;
  totals.executed += executed;
}

}  // namespace cuda_on_host
