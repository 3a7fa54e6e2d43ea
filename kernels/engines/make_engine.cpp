#include "kernels/engines/make_engine.hpp"

#include <algorithm>
#include <thread>

#include "kernels/common/error.hpp"
#include "kernels/engines/device.hpp"

namespace flitlab {

namespace {

/// Whether the device in use is likely to be faster than the CPU, and has room. One that refuses to say (another
/// process has it for itself, for example) is no use.
bool cuda_pays(const JobSize& job, u64 bytes, u32 threads, const EngineCost& cost) try {
  const std::vector<CudaDevice> devices = cuda_devices();
  if (devices.empty() || bytes > cuda_free_memory()) return false;
  const DeviceSize device{devices.front().multiprocessors, kBlockThreads};
  return cuda_cycle_ns(job, device, cost) < cpu_cycle_ns(job, threads, cost);
} catch (const RunError&) {
  return false;
}

}  // namespace

/// As CudaEngine allocates it: blocks of 32 items, replicas at multiples of 256; beside them counters, rows, and what
/// totals and audits are read through.
u64 cuda_bytes(const StateLayout& layout) {
  return (layout.bytes(32) + 255) / 256 * 256 + sizeof(CounterShard) + sizeof(ReplicaRow) + sizeof(Totals) +
         layout.kinds.size() * sizeof(u64);
}

EngineChoice resolve_backend(EngineChoice choice, const JobSize& job, u64 bytes, const EngineCost& cost) {
  if (choice.backend == "cuda" && choice.traced)
    throw ConfigError(
        "backend cuda: only CPU engines write events. Use backend cpu or auto for a trace; its states "
        "are the same.");
  const std::string why_not = choice.backend == "cpu" ? "" : cuda_unavailable();
  if (choice.backend == "cuda" && !why_not.empty())
    throw ConfigError("backend cuda cannot be used: " + why_not + " Use backend cpu or auto.");
  if (choice.threads == 0) choice.threads = std::max(1u, std::thread::hardware_concurrency());
  if (choice.backend == "auto")
    choice.backend = why_not.empty() && !choice.traced && cuda_pays(job, bytes, choice.threads, cost) ? "cuda" : "cpu";
  return choice;
}

void no_wide_engines() {
  throw ConfigError("the layout of GPUs on a CPU is there in builds with tests only: configure with FLITLAB_TESTS=ON.");
}

#ifndef FLITLAB_CUDA
std::string cuda_unavailable() { return "this build has no CUDA engine (no CUDA compiler was found)."; }
std::vector<CudaDevice> cuda_devices() { return {}; }
u64 cuda_free_memory() { return 0; }
#endif

}  // namespace flitlab
