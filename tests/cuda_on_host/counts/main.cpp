/// Counts what warps do in every model, at several loads, and prints it as JSON:
/// `flitlab_gpu_counts`, or of some: `flitlab_gpu_counts vc t3e`.
#include <iostream>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

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
  std::vector<Experiment> replicas;
  const u32 count = kind == "vc" ? 2 : 1;  // in lanes two share a warp
  for (u32 seed = 1; seed <= count; ++seed) {
    config["run.seed"] = testing::integer(seed);
    replicas.push_back(testing::experiment(config));
  }
  const auto plan = make_plan(replicas.front());
  const auto cpu = plan->make_engine(replicas, {"cpu", 1, false, 1});
  const auto gpu = plan->make_engine(replicas, {"cuda", 1, false, 1});
  std::vector<u32> all(count);
  std::iota(all.begin(), all.end(), 0u);
  cpu->advance(kWarmup - 1, all);
  for (u32 r : all) gpu->set_state(r, cpu->state(r));
  gpu->set_now(cpu->now());
  cpu->advance(1, all);
  gpu->advance(1, all);   // lanes are filled
  cuda_on_host_counts();  // from here on
  gpu->advance(kCycles, all);
  const CudaOnHostCounts c = cuda_on_host_counts();
  cpu->advance(kCycles, all);
  for (u32 r : all)
    if (gpu->state_hash(r) != cpu->state_hash(r)) throw std::runtime_error(kind + ": another state");
  const std::pair<const char*, u64> numbers[] = {{"routers", plan->topology().routers * count},
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
