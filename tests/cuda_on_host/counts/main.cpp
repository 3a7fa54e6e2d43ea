/// Counts what warps do in every model, at several loads, and prints it as JSON: `flitlab_gpu_counts`, or of some:
/// `flitlab_gpu_counts vc t3e`.
#include <iostream>
#include <set>
#include <stdexcept>
#include <utility>

#include "host/config/registry.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/cuda_on_host/counts.hpp"
#include "tests/support/build.hpp"

namespace flitlab {
namespace {

constexpr u32 kWarmup = 1000, kCycles = 20;

/// Networks of about 64 routers; a switch is one.
RawConfig network_of(const std::string& kind) {
  if (kind == "switch") return {{"topology.ports", std::int64_t{64}}};
  if (kind == "metro") return {{"topology.radix", IntList{4, 4, 4}}, {"topology.dilation", IntList{2, 2, 1}}};
  if (kind == "t3e" || kind == "bgl") return {{"topology.shape", IntList{4, 4, 4}}};
  return {{"topology.shape", IntList{8, 8}}};
}

void print(const std::string& kind, double load) {
  RawConfig config = network_of(kind);
  config["router.kind"] = kind;
  config["traffic.load"] = load;
  const Experiment e = testing::experiment(config);
  testing::Network cpu(e), gpu(e, {"cuda", 1, false, 1});
  cpu.step(kWarmup);
  gpu.engine->set_state(0, cpu.engine->state(0));
  gpu.engine->set_now(cpu.engine->now());
  cpu.step(1);
  gpu.step(1);            // lanes are filled
  cuda_on_host_counts();  // from here on
  gpu.step(kCycles);
  const CudaOnHostCounts c = cuda_on_host_counts();
  cpu.step(kCycles);
  if (gpu.engine->state_hash(0) != cpu.engine->state_hash(0)) throw std::runtime_error(kind + ": another state");
  const std::pair<const char*, u64> numbers[] = {{"routers", gpu.plan->topology().routers},
                                                 {"cycles", kCycles},
                                                 {"lane_blocks", c.lane_blocks},
                                                 {"warp_blocks", c.warp_blocks},
                                                 {"loads", c.loads},
                                                 {"stores", c.stores},
                                                 {"warp_loads", c.warp_loads},
                                                 {"warp_stores", c.warp_stores},
                                                 {"load_sectors", c.load_sectors},
                                                 {"store_sectors", c.store_sectors},
                                                 {"load_bytes", c.load_bytes},
                                                 {"store_bytes", c.store_bytes},

                                                 {"atomics", c.atomics},
                                                 {"longest", c.longest}};
  std::cout << "{\"model\": \"" << kind << "\", \"load\": " << load;
  for (const auto& [name, number] : numbers) std::cout << ", \"" << name << "\": " << number;
  std::cout << "}";
}

}  // namespace
}  // namespace flitlab

int main(int arguments, char** words) {
  const std::set<std::string> wanted(words + 1, words + arguments);
  std::cout << "{\"warmup\": " << flitlab::kWarmup << ", \"cycles\": " << flitlab::kCycles << ", \"networks\": [";
  const char* separator = "\n  ";
  for (const auto& model : flitlab::models()) {
    if (!wanted.empty() && !wanted.contains(std::string(model.kind))) continue;
    for (double load : {0.05, 0.2, 0.5}) {
      std::cout << std::exchange(separator, ",\n  ");
      flitlab::print(std::string(model.kind), load);
    }
  }
  std::cout << "\n]}\n";
}
