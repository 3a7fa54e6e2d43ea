/// Tiles of a network that takes the whole grid of a GPU, or of the device that the host emulates: they synchronise
/// with their neighbours by flags (kernels/engines/tile_flags.cuh).
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "host/routers/vc/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/plain_routers.hpp"
#include "tests/support/same.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::tiles_gpu_test {
namespace {

using namespace testing;

constexpr u32 kWidth = 64;  ///< routers of a lane block on a GPU, with elements of 8 bits

const vc::VcTable& table_of(const Plan& plan) { return dynamic_cast<const VcPlan&>(plan).table(); }

TileNeighbours neighbours_in(const vc::VcTable& t, u32 width) {
  return vc::lanes::neighbours_of_tiles(t, width, 2 * vc::lanes::blocks_of(t.routers, 2 * width),
                                        vc::lanes::has_many_rows(t, width));
}
u32 most_neighbours(const RawConfig& config, u32 width = kWidth) {
  return neighbours_in(table_of(*make_plan(experiment(config))), width).most;
}

TEST(TileNeighbours, IncludeTheTilesOfAllPeersInBothDirections) {
  u32 pairs = 0;
  const u32 seeds = testing::trials(60);
  for (u32 seed = 0; seed < seeds; ++seed) {
    const std::string file = testing::temporary(".csv");
    const auto plan = make_plan(experiment(seed % 3 ? testing::any_routers(seed) : irregular_routers(seed, file)));
    const vc::VcTable& t = table_of(*plan);
    const TileNeighbours found = neighbours_in(t, kWidth);
    std::set<std::pair<u32, u32>> listed;
    for (u32 tile = 0; tile + 1 < found.first.size(); ++tile) {
      EXPECT_LE(found.first[tile + 1] - found.first[tile], found.most);
      for (u32 i = found.first[tile]; i < found.first[tile + 1]; ++i) listed.emplace(tile, found.list[i]);
    }
    EXPECT_EQ(listed.size(), found.list.size());
    for (u32 i = 0; i < t.routers * t.ports; ++i) {
      if (i % t.ports >= t.network_ports || t.peers[i].item == kNone) continue;
      const u32 a = i / t.ports / (2 * kWidth), b = t.peers[i].item / (2 * kWidth);
      EXPECT_TRUE(a == b || listed.contains({a, b})) << "seed " << seed << ", tiles " << a << " and " << b;
    }
    for (const auto& [a, b] : listed) {
      EXPECT_TRUE(a != b && listed.contains({b, a})) << "seed " << seed << ", tiles " << a << " and " << b;
      ++pairs;
    }
  }
  if (seeds == 60) {
    EXPECT_GT(pairs, 20u);
  }
}

TEST(TileNeighbours, AreFewInMeshesAndToriAndManyInAFlattenedButterfly) {
  EXPECT_EQ(most_neighbours(Settings("topology.kind=mesh topology.shape=[128,128]")), 4u);
  EXPECT_EQ(most_neighbours(Settings("topology.shape=[128,128]")), 4u);
  EXPECT_EQ(most_neighbours(Settings("topology.shape=[32,32,32]")), 8u);
  EXPECT_LE(most_neighbours(Settings("topology.shape=[24,24,24]")), kMostNeighbours);
  // Small blocks, because large networks of this kind take long to make.
  EXPECT_GT(most_neighbours(Settings("topology.kind=flattened_butterfly topology.shape=[24,24]"), 8), kMostNeighbours);
}

/// Sets an environment variable for the lifetime of this object.
struct With {
  With(const char* setting, const std::string& value) : name(setting) { setenv(name, value.c_str(), 1); }
  ~With() { unsetenv(name); }
  const char* name;
};

class GpuTiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  }

  /// Compares three replicas with the CPU's, in pieces that are whole windows or not. Returns the lookahead. `threads`:
  /// of the largest block of the emulated device, so that each tile needs another block.
  static u32 compare(const RawConfig& config, const char* threads, u32 seed) {
    const With block("CUDA_ON_HOST_THREADS", threads), order("CUDA_ON_HOST_SEED", std::to_string(seed));
    const With sync("FLITLAB_GPU_SYNC", "flags");
    std::vector<Experiment> replicas;
    for (u32 r = 0; r < 3; ++r) {
      RawConfig changed = config;
      changed["run.seed"] = integer(seed + r);
      replicas.push_back(experiment(changed));
    }
    const auto plan = make_plan(replicas.front());
    EXPECT_TRUE(vc::lanes::fits_device_lanes(table_of(*plan)));
    EXPECT_GT(table_of(*plan).routers, 2 * kWidth);
    const u32 lookahead = vc::lanes::lookahead_of(table_of(*plan)).cycles;
    EngineChoice one_by_one{"cpu", 1, false, 2048};
    one_by_one.lanes = LaneUse::kNever;
    const auto cpu = plan->make_engine(replicas, one_by_one);
    const auto gpu = plan->make_engine(replicas, {"cuda", 1, false, 1});
    measure_until(40, {cpu.get(), gpu.get()});
    for (const auto& [cycles, active] : std::initializer_list<std::pair<u32, std::vector<u32>>>{
             {1, {0, 1, 2}}, {22, {0, 1, 2}}, {2, {2, 0}}, {31, {2}}}) {
      cpu->advance(cycles, active);
      device_calls();  // counts from here on
      gpu->advance(cycles, active);
      if (const auto calls = device_calls()) {
        EXPECT_EQ(calls->grid_barriers + calls->block_barriers, 0u);
      }
      for (u32 r = 0; r < 3; ++r) expect_the_same(*gpu, *cpu, r);
      if (cycles == 22) gpu->set_state(2, cpu->state(2));
    }
    EXPECT_GT(cpu->counters(2).total[static_cast<u32>(Total::kFlitMoves)], 500u);
    return lookahead;
  }
};

/// Uneven last blocks, empty blocks, tiles in a chain, and tiles with many neighbours; a lookahead of one cycle and
/// more.
TEST_F(GpuTiles, AnyStructureAgrees) {
  std::set<u32> lookaheads;
  u32 seed = 1;
  for (const auto& [settings, threads] : std::initializer_list<std::pair<const char*, const char*>>{
           {"topology.shape=[20,17] router.vcs=4", "256"},
           {"topology.shape=[2,230] topology.kind=mesh router.vcs=4 router.credit_delay=1", "256"},
           {"topology.shape=[7,8,6] router.vcs=4 topology.channel_delay=5 router.credit_delay=6", "256"},
           {"topology.shape=[9,5,6] router.vcs=8 topology.kind=mesh routing.algorithm=minimal_adaptive "
            "router.flow_control=virtual_cut_through router.buffer_flits=8",
            "256"},
           {"topology.kind=fat_tree topology.children=[2,2,2,2,2,2] topology.parents=[2,2,2,2,2,2] router.vcs=4",
            "512"},
           {"topology.shape=[13,21] router.vcs=4 traffic.mode=request_reply topology.concentration=2 "
            "topology.channel_delay=[1,4]",
            "512"}}) {
    SCOPED_TRACE(settings);
    ASSERT_NO_FATAL_FAILURE(lookaheads.insert(compare(Settings(settings, " traffic.load=0.3"), threads, ++seed)));
  }
  for (const u32 cycles : {1u, 3u, 6u}) EXPECT_TRUE(lookaheads.contains(cycles)) << "lookahead of " << cycles;
}

/// A tile waits for each of its neighbours. With one network, each of the three tiles has a block of threads, and only
/// the flags hold it back.
TEST_F(GpuTiles, EachNeighbourIsWaitedFor) {
  const With block("CUDA_ON_HOST_THREADS", "256"), sync("FLITLAB_GPU_SYNC", "flags");
  const Experiment e = experiment("topology.shape=[20,17] router.vcs=4 traffic.load=0.5");
  Network cpu(e), gpu(e, {"cuda", 1, false, 1});
  for (u32 part = 0; part < trials(5); ++part) {
    cpu.step(60);
    gpu.step(60);
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine));
  }
}

/// Routers that write to rows of receivers. Every tile is a neighbour of every other one.
TEST_F(GpuTiles, RandomGraphsAgree) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a block reads the word behind its own row, which it ignores and another tile may clear";
#endif
  u32 compared = 0;
  for (u32 seed = 0; seed < 20 && compared < trials(4); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string file = testing::temporary(".csv");
    RawConfig config = irregular_routers(seed, file);
    config["router.vcs"] = integer(8);
    if (make_plan(experiment(config))->topology().routers <= 2 * kWidth) continue;
    ++compared;
    ASSERT_NO_FATAL_FAILURE(compare(config, "512", seed + 1));
  }
  EXPECT_EQ(compared, trials(4));
}

TEST_F(GpuTiles, AWrongSettingIsAnError) {
  const With environment("FLITLAB_GPU_SYNC", "flag"), block("CUDA_ON_HOST_THREADS", "256");
  const Experiment e = experiment("topology.shape=[35,33] router.vcs=4");
  try {
    Network(e, {"cuda", 1, false, 1});
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "the environment variable FLITLAB_GPU_SYNC is \"flag\"; it may be \"flags\" or \"barrier\", or not be "
                 "set.");
  }
}

}  // namespace
}  // namespace flitlab::tiles_gpu_test
