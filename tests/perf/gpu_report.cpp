/// Router-cycles per second of the CPU and CUDA engines, and whether their states agree, as one JSON object.
#include <chrono>
#include <cstdio>
#include <vector>

#include "kernels/engines/make_engine.hpp"
#include "tests/support/build.hpp"

namespace flitlab {
namespace {

struct Case {
  const char* name;
  IntList shape;
  u32 replicas;
  u32 cycles;
};

double rate(Engine& engine, u32 routers, u32 cycles) {
  std::vector<u32> all(engine.replicas());
  for (u32 r = 0; r < all.size(); ++r) all[r] = r;
  engine.advance(cycles / 4 + 1, all);
  const auto start = std::chrono::steady_clock::now();
  engine.advance(cycles, all);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return static_cast<double>(routers) * cycles * static_cast<double>(all.size()) / seconds;
}

void report(const Case& c, double load, bool last) {
  std::vector<Experiment> replicas;
  for (u32 r = 0; r < c.replicas; ++r)
    replicas.push_back(testing::experiment({{"topology.shape", c.shape},
                                            {"traffic.load", load},
                                            {"routing.vc_assignment", std::string("balanced")},
                                            {"run.seed", static_cast<std::int64_t>(r + 1)}}));
  const auto plan = make_plan(replicas.front());
  const auto cpu = plan->make_engine(replicas, {"cpu", 0, false});
  const u32 routers = plan->topology().routers;
  const double cpu_rate = rate(*cpu, routers, c.cycles);
  std::printf("  {\"network\": \"%s\", \"replicas\": %u, \"load\": %g, \"cpu_threads\": %u, \"cpu\": %.4g", c.name,
              c.replicas, load, cpu->threads(), cpu_rate);
  if (cuda_unavailable().empty()) {
    const auto cuda = plan->make_engine(replicas, {"cuda", 1, false, 1});
    const double cuda_rate = rate(*cuda, routers, c.cycles);
    bool equal = true;
    for (u32 r = 0; r < c.replicas; ++r) equal = equal && cpu->state_hash(r) == cuda->state_hash(r);
    std::printf(", \"cuda\": %.4g, \"device\": \"%s\", \"equal\": %s", cuda_rate, cuda->device().c_str(),
                equal ? "true" : "false");
  }
  std::printf("}%s\n", last ? "" : ",");
}

}  // namespace
}  // namespace flitlab

int main() {
  using flitlab::Case;
  const std::vector<Case> cases{{"8x8x8 torus", {8, 8, 8}, 1, 2000},
                                {"8x8x8 torus", {8, 8, 8}, 64, 400},
                                {"32x32x32 torus", {32, 32, 32}, 1, 100}};
  std::printf("[\n");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    flitlab::report(cases[i], 0.05, false);
    flitlab::report(cases[i], 0.10, i + 1 == cases.size());
  }
  std::printf("]\n");
}
