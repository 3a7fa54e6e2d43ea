/// Router-cycles per second of the CPU engine at low, medium and high load. Goal: 30 times BookSim 2
/// (docs/benchmarks.md).
#include <benchmark/benchmark.h>

#include "tests/support/build.hpp"

namespace flitlab {
namespace {

void run(benchmark::State& state, const RawConfig& config, u32 warmup = 1000, u32 threads = 1) {
  testing::Network net(testing::experiment(config), {"cpu", threads, false, 1});
  net.step(warmup);
  for (auto _ : state) net.step(100);
  state.counters["router_cycles/s"] = benchmark::Counter(
      100.0 * net.plan->topology().routers * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void step(benchmark::State& state, IntList shape, const char* kind, double load) {
  run(state, {{"topology.kind", std::string(kind)}, {"topology.shape", std::move(shape)}, {"traffic.load", load}});
}

/// A network of the fewest routers that two threads share, so phases with a barrier after each are shortest.
void step_together(benchmark::State& state, double load) {
  run(state, {{"topology.kind", std::string("torus")}, {"topology.shape", IntList{16, 16, 16}}, {"traffic.load", load}},
      300, 2);
}

/// A T3E with the traffic of configs/t3e-512.toml.
void step_t3e(benchmark::State& state, IntList shape, double load) {
  run(state, {{"router.kind", std::string("t3e")},
              {"topology.shape", std::move(shape)},
              {"routing.vc_select", std::string("optimised")},
              {"traffic.load", load},
              {"traffic.packet_flits", Lengths{{2, 0.5}, {10, 0.5}}}});
}

/// A Blue Gene/L torus with packets of full size, which take hundreds of cycles per hop.
void step_bgl(benchmark::State& state, IntList shape, double load) {
  run(state,
      {{"router.kind", std::string("bgl")},
       {"topology.shape", std::move(shape)},
       {"traffic.load", load},
       {"traffic.packet_flits", std::int64_t{8}}},
      5000);
}

/// A BLESS network with the traffic of configs/bless-mesh-8x8.toml. Large networks set the number of reassembly
/// buffers.
void step_bless(benchmark::State& state, IntList shape, const char* kind, double load) {
  RawConfig config{{"router.kind", std::string("bless")},
                   {"topology.kind", std::string(kind)},
                   {"topology.shape", shape},
                   {"traffic.load", load},
                   {"traffic.packet_flits", std::int64_t{4}}};
  if (shape == IntList{32, 32}) config["router.reassembly_packets"] = std::int64_t{64};
  run(state, config, 2000);
}

/// The network of adaptive routers in configs/sconnect-figure5.toml, with any number of dimensions.
void step_adaptive(benchmark::State& state, std::int64_t dimensions, double load) {
  run(state,
      {{"router.kind", std::string("adaptive")},
       {"topology.kind", std::string("hypercube")},
       {"topology.dimensions", dimensions},
       {"topology.concentration", std::int64_t{2}},
       {"router.ejection", std::int64_t{2}},
       {"traffic.load", load}},
      2000);
}

/// A switch with the traffic of configs/sconnect-figure1.toml, or with messages of one flit.
void step_switch(benchmark::State& state, std::int64_t ports, std::int64_t flits, double load) {
  run(state,
      {{"router.kind", std::string("switch")},
       {"topology.ports", ports},
       {"router.organisation", std::string("buffer_pool")},
       {"traffic.packet_flits", flits},
       {"traffic.load", load}},
      2000);
}

/// A METRO network with messages of 20 bytes, as in configs/metro-figure3.toml, between processors that do not stall.
void step_metro(benchmark::State& state, IntList radix, IntList dilation, double load) {
  run(state,
      {{"router.kind", std::string("metro")},
       {"topology.radix", std::move(radix)},
       {"topology.dilation", std::move(dilation)},
       {"router.width", std::int64_t{8}},
       {"endpoint.checksum", std::string("crc32")},
       {"traffic.load", load},
       {"traffic.packet_flits", std::int64_t{20}}},
      2000);
}

/// An S-Connect mesh of single TICs with one host each.
void step_sconnect(benchmark::State& state, IntList shape, double load) {
  run(state, {{"router.kind", std::string("sconnect")}, {"topology.shape", std::move(shape)}, {"traffic.load", load}},
      2000);
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
BENCHMARK_CAPTURE(step_together, torus_4096_two_threads_low, 0.05)->UseRealTime();
BENCHMARK_CAPTURE(step_together, torus_4096_two_threads_medium, 0.2)->UseRealTime();
BENCHMARK_CAPTURE(step_t3e, t3e_64, IntList{4, 4, 4}, 0.35);
BENCHMARK_CAPTURE(step_t3e, t3e_512_low, IntList{8, 8, 8}, 0.1);
BENCHMARK_CAPTURE(step_t3e, t3e_512_medium, IntList{8, 8, 8}, 0.35);
BENCHMARK_CAPTURE(step_t3e, t3e_512_high, IntList{8, 8, 8}, 0.6);
BENCHMARK_CAPTURE(step_bgl, bgl_512_low, IntList{8, 8, 8}, 0.0074);
BENCHMARK_CAPTURE(step_bgl, bgl_512_high, IntList{8, 8, 8}, 0.025);
BENCHMARK_CAPTURE(step_bgl, bgl_32768_low, IntList{32, 32, 32}, 0.0037);
BENCHMARK_CAPTURE(step_bgl, bgl_32768_high, IntList{32, 32, 32}, 0.007);
BENCHMARK_CAPTURE(step_metro, metro_64_low, IntList{4, 4, 4}, IntList{2, 2, 1}, 0.05);
BENCHMARK_CAPTURE(step_metro, metro_64_high, IntList{4, 4, 4}, IntList{2, 2, 1}, 0.3);
BENCHMARK_CAPTURE(step_metro, metro_1024_medium, IntList{4, 4, 4, 4, 4}, IntList{2, 2, 2, 2, 1}, 0.2);
BENCHMARK_CAPTURE(step_sconnect, sconnect_64_low, IntList{8, 8}, 0.05);
BENCHMARK_CAPTURE(step_sconnect, sconnect_64_high, IntList{8, 8}, 0.2);
BENCHMARK_CAPTURE(step_bless, bless_8x8_low, IntList{8, 8}, "mesh", 0.05);
BENCHMARK_CAPTURE(step_bless, bless_8x8_medium, IntList{8, 8}, "mesh", 0.2);
BENCHMARK_CAPTURE(step_bless, bless_8x8_high, IntList{8, 8}, "mesh", 0.3);
BENCHMARK_CAPTURE(step_bless, bless_16x16_low, IntList{16, 16}, "torus", 0.1);
BENCHMARK_CAPTURE(step_bless, bless_16x16_high, IntList{16, 16}, "torus", 0.3);
BENCHMARK_CAPTURE(step_bless, bless_32x32, IntList{32, 32}, "torus", 0.08);
BENCHMARK_CAPTURE(step_adaptive, adaptive_64_low, 6, 0.2);
BENCHMARK_CAPTURE(step_adaptive, adaptive_64_medium, 6, 0.5);
BENCHMARK_CAPTURE(step_adaptive, adaptive_64_high, 6, 0.8);
BENCHMARK_CAPTURE(step_adaptive, adaptive_1024_medium, 10, 0.5);
BENCHMARK_CAPTURE(step_switch, switch_16_low, 16, 100, 0.2);
BENCHMARK_CAPTURE(step_switch, switch_16_high, 16, 100, 0.7);
BENCHMARK_CAPTURE(step_switch, switch_64_medium, 64, 100, 0.5);
BENCHMARK_CAPTURE(step_switch, switch_16_slots, 16, 1, 0.5);

}  // namespace
}  // namespace flitlab
