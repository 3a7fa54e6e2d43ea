/// Router-cycles per second of the CPU and CUDA engines for every model, and whether their states agree, as one JSON
/// list: the measured column of docs/gpu.md (tests/cuda_on_host/counts/report.py --measured).
#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

#include "host/config/registry.hpp"
#include "kernels/engines/make_engine.hpp"
#include "tests/support/networks.hpp"

namespace flitlab {
namespace {

constexpr double kSeconds = 0.5;  ///< that a measurement lasts, at least
constexpr u32 kRunIn = 500, kCompared = 8;

/// Router-cycles per second after a run-in, and how many cycles that took.
std::pair<double, u32> rate(Engine& engine, double routers, const std::vector<u32>& all, u32 most_cycles) {
  engine.advance(kRunIn, all);
  u32 cycles = 0;
  double seconds = 0;
  const auto start = std::chrono::steady_clock::now();
  for (u32 piece = 16; seconds < kSeconds && cycles < most_cycles; piece *= 2) {
    const u32 step = std::min(piece, most_cycles - cycles);
    engine.advance(step, all);
    cycles += step;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return {routers * cycles / seconds, cycles};
}

bool report(const RawConfig& config, double load, u32 replicas) {
  std::vector<Experiment> jobs = testing::replicas_of(config, load, replicas);
  std::vector<u32> all = testing::first(replicas);
  const auto plan = make_plan(jobs.front());
  std::cout << "{\"model\": \"" << jobs.front().kind() << "\", \"load\": " << load
            << ", \"routers\": " << plan->topology().routers << ", \"replicas\": " << replicas;
  u32 cycles = 1u << 20;
  std::vector<u64> hashes;
  if (cuda_unavailable().empty()) {
    const auto engine = plan->make_engine(jobs, {"cuda"});
    const auto [per_second, done] =
        rate(*engine, static_cast<double>(plan->topology().routers) * replicas, all, cycles);
    cycles = done;
    for (u32 r = 0; r < std::min(replicas, kCompared); ++r) hashes.push_back(engine->state_hash(r));
    std::cout << ", \"device\": \"" << engine->device() << "\", \"cuda\": " << per_second;
  }
  // The CPU does as many cycles of the first replicas, to compare states; its rate is that of those.
  jobs.resize(std::min<std::size_t>(jobs.size(), kCompared));
  all.resize(jobs.size());
  const auto cpu = plan->make_engine(jobs, {"cpu"});
  const auto start = std::chrono::steady_clock::now();
  cpu->advance(kRunIn + (hashes.empty() ? kRunIn : cycles), all);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bool equal = true;  // too, where the device has run nothing
  for (u32 r = 0; r < hashes.size(); ++r) equal = equal && cpu->state_hash(r) == hashes[r];
  std::cout << ", \"cpu_threads\": " << cpu->threads() << ", \"cpu\": "
            << static_cast<double>(plan->topology().routers) * static_cast<double>(all.size()) * cpu->now() / seconds;
  if (!hashes.empty()) std::cout << ", \"equal\": " << (equal ? "true" : "false");
  std::cout << "}" << std::flush;
  return equal;
}

}  // namespace
}  // namespace flitlab

/// Fails if a state at the end differs between the engines.
int main() {
  bool equal = true;
  const char* separator = "[\n  ";
  for (const auto& model : flitlab::models())
    for (const double load : {0.05, 0.2, 0.5}) {
      const std::string kind(model.kind);
      for (const flitlab::u32 replicas : {1u, 1000u}) {
        std::cout << std::exchange(separator, ",\n  ");
        equal &= flitlab::report(flitlab::testing::network_of_64(kind), load, replicas);
      }
      const flitlab::RawConfig large = flitlab::testing::network_of_32768(kind);
      if (large.empty()) continue;
      std::cout << std::exchange(separator, ",\n  ");
      equal &= flitlab::report(large, load, 1);
    }
  std::cout << "\n]\n";
  return equal ? 0 : 1;
}
