#include "kernels/engines/make_engine.hpp"

#include <algorithm>
#include <thread>

#include "kernels/common/error.hpp"
#include "kernels/engines/device.hpp"

namespace flitlab {

namespace {

/// Whether the device in use is probably faster than the CPU and has enough memory. A device that cannot be queried
/// (another process uses it exclusively, for example) is not used.
bool cuda_pays(const JobSize& job, u64 bytes, const EngineChoice& choice, const EngineCost& cost) try {
  const std::vector<CudaDevice> devices = cuda_devices();
  if (devices.empty() || bytes > cuda_free_memory()) return false;
  const DeviceSize device{devices.front().multiprocessors, kBlockThreads};
  const JobSize all{job.items, job.replicas * choice.jobs};
  return cuda_cycle_ns(job, device, cost, choice.jobs) < cpu_cycle_ns(all, choice.threads, cost);
} catch (const RunError&) {
  return false;
}

}  // namespace

/// Counts the memory as CudaEngine allocates it: items in blocks of 32, replicas at multiples of 256 bytes, and in
/// addition counters, rows, and buffers for totals and audits.
u64 cuda_bytes(const StateLayout& layout) {
  return (layout.bytes(32) + 255) / 256 * 256 + sizeof(CounterShard) + sizeof(ReplicaRow) + sizeof(Totals) +
         layout.kinds.size() * sizeof(u64);
}

EngineChoice resolve_backend(EngineChoice choice, const JobSize& job, u64 bytes, const EngineCost& cost) {
  if (choice.backend == "cuda" && choice.traced)
    throw ConfigError(
        "backend cuda: only CPU engines write events. Use backend cpu or auto for a trace; the states "
        "are the same.");
  const std::string why_not = choice.backend == "cpu" ? "" : cuda_unavailable();
  if (choice.backend == "cuda" && !why_not.empty())
    throw ConfigError("backend cuda cannot be used: " + why_not + " Use backend cpu or auto.");
  if (choice.threads == 0) choice.threads = std::max(1u, std::thread::hardware_concurrency());
  if (choice.backend == "auto")
    choice.backend = why_not.empty() && !choice.traced && cuda_pays(job, bytes, choice, cost) ? "cuda" : "cpu";
  return choice;
}

void no_wide_engines() {
  throw ConfigError("a CPU engine has the memory layout of GPUs only in builds with tests. Set FLITLAB_TESTS=ON.");
}

#ifndef FLITLAB_CUDA
std::string cuda_unavailable() { return "this build has no CUDA engine (no CUDA compiler was found)."; }
std::vector<CudaDevice> cuda_devices() { return {}; }
u64 cuda_free_memory() { return 0; }
#endif

}  // namespace flitlab
