/// Router-cycles per second of the CPU engine at low, medium and high load. Goal: 30 times BookSim 2
/// (docs/benchmarks.md).
#include <benchmark/benchmark.h>

#include "tests/support/build.hpp"

namespace flitlab {
namespace {

void step(benchmark::State& state, IntList shape, const char* kind, double load) {
  testing::Network net(testing::experiment(
      {{"topology.kind", std::string(kind)}, {"topology.shape", std::move(shape)}, {"traffic.load", load}}));
  net.step(1000);
  for (auto _ : state) net.step(100);
  state.counters["router_cycles/s"] = benchmark::Counter(
      100.0 * net.plan->topology().routers * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(step, mesh_8x8_low, IntList{8, 8}, "mesh", 0.04);
BENCHMARK_CAPTURE(step, mesh_8x8_medium, IntList{8, 8}, "mesh", 0.20);
BENCHMARK_CAPTURE(step, mesh_8x8_high, IntList{8, 8}, "mesh", 0.36);
BENCHMARK_CAPTURE(step, torus_16x16_low, IntList{16, 16}, "torus", 0.03);
BENCHMARK_CAPTURE(step, torus_16x16_medium, IntList{16, 16}, "torus", 0.16);
BENCHMARK_CAPTURE(step, torus_16x16_high, IntList{16, 16}, "torus", 0.29);
BENCHMARK_CAPTURE(step, torus_8x8x8_low, IntList{8, 8, 8}, "torus", 0.05);
BENCHMARK_CAPTURE(step, torus_8x8x8_medium, IntList{8, 8, 8}, "torus", 0.27);
BENCHMARK_CAPTURE(step, torus_8x8x8_high, IntList{8, 8, 8}, "torus", 0.49);

}  // namespace
}  // namespace flitlab
