/// Counts what warps do in every model, at several loads, and prints it as JSON:
/// `flitlab_gpu_counts`, or of some: `flitlab_gpu_counts vc t3e`.
#include <iostream>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "host/config/registry.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "tests/cuda_on_host/calls.hpp"
#include "tests/cuda_on_host/counts.hpp"
#include "tests/support/networks.hpp"

namespace flitlab {
namespace {

constexpr u32 kWarmup = 1000, kCycles = 100;  // an epoch: what is done once in one counts as well

/// Networks of a job: one, but of those that share a crew.
u32 networks_of(const std::string& kind) { return kind == "vc" ? 2 : 1; }

/// Cycles that those who share a network may go on without one another.
u32 lookahead_of(const Plan& plan) {
  const auto* const vc = dynamic_cast<const VcPlan*>(&plan);
  return vc && vc::lanes::fits_device_lanes(vc->table()) ? vc::lanes::lookahead_of(vc->table()).cycles : 1;
}

/// `kind`: a model, or "vc, one by one": plain routers that are not in lanes, for a delay that lanes do not have.
void print(const std::string& kind, double load) {
  const bool apart = kind == "vc, one by one";
  RawConfig config = testing::network_of_64(apart ? "vc" : kind);
  if (apart) config["router.routing_delay"] = std::int64_t{2};
  const std::vector<Experiment> jobs = testing::replicas_of(config, load, networks_of(kind));
  const u32 replicas = static_cast<u32>(jobs.size());
  const std::vector<u32> all = testing::first(replicas);
  const auto plan = make_plan(jobs.front());
  const auto cpu = plan->make_engine(jobs, {"cpu", 1}), gpu = plan->make_engine(jobs, {"cuda"});
  cpu->advance(kWarmup - 1, all);
  for (u32 r : all) gpu->set_state(r, cpu->state(r));
  gpu->set_now(cpu->now());
  cpu->advance(1, all);
  gpu->advance(1, all);   // lanes are filled
  cuda_on_host_counts();  // from here on
  cuda_on_host_calls();
  gpu->advance(kCycles, all);
  const CudaOnHostCounts c = cuda_on_host_counts();
  const CudaOnHostCalls calls = cuda_on_host_calls();
  cpu->advance(kCycles, all);
  for (u32 r : all)
    if (gpu->state_hash(r) != cpu->state_hash(r)) throw std::runtime_error(kind + ": another state");
  const std::pair<const char*, u64> numbers[] = {{"routers", plan->topology().routers},
                                                 {"replicas", replicas},
                                                 {"crew", kind == "vc" ? 192 : 0},  // threads for 128 routers in lanes
                                                 {"lookahead", lookahead_of(*plan)},
                                                 {"cycles", kCycles},
                                                 {"state_bytes", plan->layout().bytes(1)},
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
                                                 {"longest", c.longest},
                                                 {"blocks", calls.blocks},
                                                 {"block_barriers", calls.block_barriers},
                                                 {"named_barriers", calls.named_barriers},
                                                 {"grid_barriers", calls.grid_barriers}};
  std::cout << "{\"model\": \"" << kind << "\", \"load\": " << load;
  for (const auto& [name, number] : numbers) std::cout << ", \"" << name << "\": " << number;
  std::cout << ", \"visits\": [";
  const char* separator = "";
  cuda_on_host_visits(
      [](void* to, std::uintptr_t place, std::uint64_t warps) {
        std::cout << std::exchange(*static_cast<const char**>(to), ", ") << "[" << place << ", " << warps << "]";
      },
      &separator);
  std::cout << "]}";
}

}  // namespace
}  // namespace flitlab

int main(int arguments, char** words) {
  const std::set<std::string> wanted(words + 1, words + arguments);
  std::cout << "{\"warmup\": " << flitlab::kWarmup << ", \"cycles\": " << flitlab::kCycles << ", \"networks\": [";
  const char* separator = "\n  ";
  std::vector<std::string> kinds{"vc, one by one"};
  for (const auto& model : flitlab::models()) kinds.emplace_back(model.kind);
  for (const std::string& kind : kinds) {
    if (!wanted.empty() && !wanted.contains(kind)) continue;
    for (double load : {0.05, 0.2, 0.5}) {
      std::cout << std::exchange(separator, ",\n  ");
      flitlab::print(kind, load);
    }
  }
  std::cout << "\n]}\n";
}
