#pragma once
/// Networks whose rates tests/perf/gpu_report.cpp measures. Their names are also in docs/gpu_h200.json, so that reports
/// of different dates can be compared: a network that changes gets another name.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/networks.hpp"

namespace flitlab::testing {

/// A network to measure as one job, at each of its loads.
struct Measured {
  std::string name;
  RawConfig config;
  u32 replicas = 1;
  std::vector<double> loads{0.2};
  std::string model{};  ///< model in the table of docs/gpu.md; "": the network is not in this table
  u32 run_in = 1000;    ///< cycles before states are compared and rates are measured
  double times = 1;     ///< time of a measurement on a GPU, in times of a usual one
  bool on_cpu = true;   ///< false: only a GPU runs it
  std::string sync{};   ///< FLITLAB_GPU_SYNC (kernels/engines/cuda_lane_engine.cuh); "": not set
};

/// Returns canonical networks with lane state whose GPU kernels are others than those of networks_of_models()
/// (kernels/routers/vc/cuda.cu): a thousand small networks and a large one of each kind.
inline std::vector<Measured> networks_with_other_kernels() {
  struct Kind {
    const char *name, *settings, *small, *large;
    double load = 0.2;  ///< below saturation of both
  };
  const char *flat = "topology.shape=[8,8]", *large_torus = "topology.shape=[24,24,24]";
  std::vector<Measured> all;
  for (const Kind& kind : std::initializer_list<Kind>{
           {"16-vcs", "router.vcs=16", flat, large_torus},
           {"islip", "router.vcs=4 router.vc_allocator=islip router.switch_allocator=islip", flat, large_torus},
           {"16-vcs-islip",
            "router.vcs=16 router.vc_allocator=islip router.switch_allocator=islip traffic.packet_flits=1", flat,
            large_torus},
           {"concentration", "router.vcs=4 topology.concentration=4", flat, "topology.shape=[32,32]", 0.05},
           {"dragonfly", "topology.kind=dragonfly router.vcs=4", "topology.groups=9",
            "topology.groups=25 topology.group_routers=8 topology.global_channels=3"},
           {"fat-tree", "topology.kind=fat_tree router.vcs=4", "topology.children=[4,4]",
            "topology.children=[4,4,4,4] topology.parents=[4,4,4,4]"},
           {"closed-loop", "router.vcs=4 traffic.mode=request_reply", flat, large_torus, 0.1},
           {"west-first", "topology.kind=mesh router.vcs=4 routing.algorithm=west_first", flat,
            "topology.shape=[32,32]", 0.05},
           {"8-vcs", "router.vcs=8", flat, large_torus},
           {"long-packets", "router.vcs=4 router.buffer_flits=16 traffic.packet_flits=16", flat, large_torus}}) {
    const std::string name = std::string("lanes/") + kind.name;
    all.push_back({name + "/thousand", Settings(kind.settings, " ", kind.small), 1000, {kind.load}});
    all.push_back({name + "/large", Settings(kind.settings, " ", kind.large), 1, {kind.load}, "", 300});
  }
  return all;
}

/// Returns large networks with lane state, each with both ways in which tiles synchronise: of about two
/// tiles for each multiprocessor of an H200, of one, and of eight tiles.
inline std::vector<Measured> networks_with_both_syncs() {
  std::vector<Measured> all;
  for (const auto& [name, settings] : {std::pair{"torus", "topology.shape=[32,32,32]"},
                                       {"mesh", "topology.kind=mesh topology.shape=[128,128]"},
                                       {"small-torus", "topology.shape=[32,32]"}})
    for (const char* sync : {"flags", "barrier"}) {
      Measured network{
          std::string("lanes/") + sync + "/" + name, Settings("router.vcs=4 ", settings), 1, {0.2}, "", 300};
      network.sync = sync;
      all.push_back(std::move(network));
    }
  return all;
}

/// Returns the networks of the table in docs/gpu.md, Blue Gene/L first. "vc-scalar": canonical routers in scalar state
/// (one router at a time), forced by a delay that lane state does not support.
inline std::vector<Measured> networks_of_models() {
  const auto job = [](const std::string& kind, const char* size, u32 replicas) {
    const std::string model = kind == "vc-scalar" ? "vc" : kind;
    RawConfig config = size == std::string("large") ? large_network(model) : network_of_64(model);
    if (kind != model) config["router.routing_delay"] = std::int64_t{8};
    const u32 run_in = size == std::string("large") ? 500 : 1000;  // 16 cores take up to a second for them
    return Measured{"model/" + kind + "/" + size, std::move(config), replicas, {0.2, 0.05, 0.5}, kind, run_in};
  };
  std::vector<std::string> ordered{"bgl", "vc", "vc-scalar"};
  for (const std::string& kind : kinds())
    if (kind != "bgl" && kind != "vc") ordered.push_back(kind);
  std::vector<Measured> all;
  for (const auto& [size, replicas] : {std::pair{"large", 1u}, {"thousand", 1000u}, {"one", 1u}})
    for (const std::string& kind : ordered)
      if (kind != "switch" || size != std::string("large")) all.push_back(job(kind, size, replicas));
  return all;
}

/// Returns the mesh of FNoC's authors.
inline Measured network_of_fnoc() {
  return {"scale/fnoc",
          Settings("topology.shape=[128,128] topology.kind=mesh router.vcs=2 router.buffer_flits=4 "
                   "traffic.packet_flits=4"),
          1,
          {0.05, 0.2}};
}

/// Returns a torus of a million routers. On a CPU its first cycles take half a minute, because they allocate the state,
/// so there are two measurements: a long one on a GPU alone, and a short one that compares the engines.
inline Measured network_of_a_million(bool on_cpu) {
  Measured network{on_cpu ? "scale/million-compared" : "scale/million",
                   Settings("topology.shape=[100,100,100]"),
                   1,
                   {0.05},
                   "",
                   on_cpu ? 24u : 1000u};
  network.times = on_cpu ? 1 : 50;
  network.on_cpu = on_cpu;
  return network;
}

inline constexpr std::size_t kStructures = 500;

/// Returns a job of 20 loads on one of `kStructures` networks of about 64 canonical routers, which differ in kind,
/// shape, virtual channels and buffers. A run has 10,000 cycles, and then waits for the measured packets.
inline std::vector<Experiment> structure(std::size_t number) {
  static const std::array<IntList, 10> kShapes{
      {{8, 8}, {16, 4}, {13, 5}, {9, 7}, {11, 6}, {21, 3}, {4, 4, 4}, {5, 4, 3}, {3, 3, 7}, {10, 6}}};
  constexpr std::array kVcs{2, 3, 4, 6, 8}, kBuffers{4, 6, 8, 12, 16};
  const auto next = [&](std::size_t choices) { return std::exchange(number, number / choices) % choices; };
  RawConfig config = Settings("topology.shape=", kShapes[next(10)], " run.warmup_cycles=1000 run.measure_cycles=9000");
  config["topology.kind"] = word(next(2) ? "mesh" : "torus");
  config["router.vcs"] = integer(kVcs[next(5)]);
  config["router.buffer_flits"] = integer(kBuffers[next(5)]);
  std::vector<Experiment> job;
  for (u32 i = 1; i <= 20; ++i) {
    config["traffic.load"] = 0.02 * i;
    job.push_back(Experiment::resolve(config, "."));
  }
  return job;
}

/// Returns the points of `flitlab bench vc-mesh-8x8 --sweep RUNS`: loads of 0.05, 0.25 and 0.45 in turn,
/// and a seed for each.
inline std::vector<Experiment> sweep_of_meshes(u32 runs) {
  std::vector<Experiment> points;
  for (u32 i = 0; i < runs; ++i)
    points.push_back(Experiment::resolve(Settings("topology.kind=mesh topology.shape=[8,8] router.vcs=4 run.seed=",
                                                  i + 1, " traffic.load=", std::array{0.05, 0.25, 0.45}[i % 3]),
                                         "."));
  return points;
}

}  // namespace flitlab::testing
