/// Router-cycles per second of the CPU engine at low, medium and high load. Goal: 30 times BookSim 2
/// (docs/benchmarks.md).
#include <benchmark/benchmark.h>

#include "tests/support/build.hpp"

namespace flitlab {
namespace {

void run(benchmark::State& state, const RawConfig& config, u32 warmup = 1000) {
  testing::Network net(testing::experiment(config));
  net.step(warmup);
  for (auto _ : state) net.step(100);
  state.counters["router_cycles/s"] = benchmark::Counter(
      100.0 * net.plan->topology().routers * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void step(benchmark::State& state, IntList shape, const char* kind, double load) {
  run(state, {{"topology.kind", std::string(kind)}, {"topology.shape", std::move(shape)}, {"traffic.load", load}});
}

/// The traffic of configs/t3e-512.toml.
void step_t3e(benchmark::State& state, IntList shape, double load) {
  run(state, {{"router.kind", std::string("t3e")},
              {"topology.shape", std::move(shape)},
              {"routing.vc_select", std::string("optimised")},
              {"traffic.load", load},
              {"traffic.packet_flits", Lengths{{2, 0.5}, {10, 0.5}}}});
}

/// Full packets, which take hundreds of cycles for a hop.
void step_bgl(benchmark::State& state, IntList shape, double load) {
  run(state,
      {{"router.kind", std::string("bgl")},
       {"topology.shape", std::move(shape)},
       {"traffic.load", load},
       {"traffic.packet_flits", std::int64_t{8}}},
      5000);
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
BENCHMARK_CAPTURE(step_t3e, t3e_64, IntList{4, 4, 4}, 0.35);
BENCHMARK_CAPTURE(step_t3e, t3e_512_low, IntList{8, 8, 8}, 0.1);
BENCHMARK_CAPTURE(step_t3e, t3e_512_medium, IntList{8, 8, 8}, 0.35);
BENCHMARK_CAPTURE(step_t3e, t3e_512_high, IntList{8, 8, 8}, 0.6);
BENCHMARK_CAPTURE(step_bgl, bgl_512_low, IntList{8, 8, 8}, 0.0074);
BENCHMARK_CAPTURE(step_bgl, bgl_512_high, IntList{8, 8, 8}, 0.025);
BENCHMARK_CAPTURE(step_bgl, bgl_32768_low, IntList{32, 32, 32}, 0.0037);
BENCHMARK_CAPTURE(step_bgl, bgl_32768_high, IntList{32, 32, 32}, 0.007);

}  // namespace
}  // namespace flitlab
