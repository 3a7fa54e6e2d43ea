/// Plain virtual-channel routers in lane state (64 routers per lane block) on a GPU, or on the device that the host
/// emulates, against scalar state (one router at a time) on a CPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "host/routers/vc/plan.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/routers/vc/lanes/lanes.hpp"
#include "tests/support/build.hpp"
#include "tests/support/device_calls.hpp"
#include "tests/support/plain_routers.hpp"
#include "tests/support/same.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::lanes_gpu_test {
namespace {

using namespace testing;

const EngineChoice kGpu{"cuda", 1, false, 1};

EngineChoice one_by_one() {
  EngineChoice choice{"cpu", 1, false, 2048};
  choice.lanes = LaneUse::kNever;
  return choice;
}

/// Returns the name of the GPU form of lane state that a plan uses (kernels/routers/vc/cuda.cu), if the form has
/// exactly the plan's sizes.
std::string lanes_of(const Plan& plan) {
  const vc::VcTable& t = dynamic_cast<const VcPlan&>(plan).table();
  EXPECT_EQ(plan.facts().cost.warp_group, vc::lanes::fits_device_lanes(t) ? 1024u / vc::lanes::element_bits(t) : 0u);
  if (!vc::lanes::fits_device_lanes(t)) return "";
  if (!vc::lanes::has_exact_sizes(t)) return "";
  const bool fixed = vc::FixedVcTable<5, 4>::fits(t) || vc::FixedVcTable<7, 4>::fits(t);
  const std::string kind = fixed       ? (vc::lanes::room_of(t) == vc::lanes::Room::kRoomy ? "fixed, roomy" : "fixed")
                           : t.vcs > 4 ? "8 VCs"
                                       : "4 VCs";
  return std::to_string(t.ports) + " ports, " + kind;
}

class GpuLanes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << "needs a GPU: " << why;
  }
  void TearDown() override { unsetenv("CUDA_ON_HOST_THREADS"); }
};

/// Blocks of all sizes: one half-warp, several half-warps in a block, and the whole grid if blocks have few threads. If
/// a sanitizer slows the test, it runs one network of each kind.
TEST_F(GpuLanes, AnyNetworkAgrees) {
  std::map<std::string, u64> moves, packets;
  for (u32 seed = 0; seed < 40; ++seed) {
    setenv("CUDA_ON_HOST_THREADS", seed % 3 ? "768" : "256", 1);
    const Experiment e = experiment(testing::plain_routers(seed));
    const std::string kind = lanes_of(*make_plan(e));
    if (kind.empty() || (trials(40) < 40 && moves.contains(kind))) continue;
    Network cpu(e, one_by_one()), gpu(e, kGpu);
    measure_until(200, {cpu.engine.get(), gpu.engine.get()});
    for (u32 part = 0; part < 12; ++part) {
      const u32 cycles = part < 8 ? 1 + part % 3 : 60;
      cpu.step(cycles);
      gpu.step(cycles);
      if (part == 5) gpu.engine->set_state(0, cpu.engine->state(0));
      ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine)) << "seed " << seed;
    }
    moves[kind] += gpu.total(Total::kFlitMoves);
    packets[kind] += measured(*gpu.engine);
  }
  for (const char* ports : {"5 ports, ", "7 ports, "})
    for (const char* kind : {"fixed", "fixed, roomy", "4 VCs", "8 VCs"}) {
      EXPECT_GT(moves[std::string(ports) + kind], trials(2000)) << ports << kind;
      EXPECT_GT(packets[std::string(ports) + kind], trials(100)) << ports << kind;
    }
}

/// Returns a network of any options, with at least 16 routers, most of at most 16 ports and 16 virtual channels. A
/// third of the networks have a trace, which is written to `file`.
RawConfig any_network(u32 seed, const std::string& file) {
  RawConfig config = testing::any_routers(seed);
  if (seed % 3) return config;
  for (auto at = config.begin(); at != config.end();)
    at = at->first.starts_with("traffic.") ? config.erase(at) : std::next(at);
  config["router.buffer_flits"] = integer(20);  // for whole packets
  const u32 terminals = make_plan(experiment(config))->facts().active_terminals;
  std::mt19937 random(seed);
  std::ofstream lines(file);
  for (u32 n = 0; n < 3 * terminals; ++n)
    lines << n * 20 / terminals << ',' << random() % terminals << ',' << random() % terminals << ','
          << 1 + random() % (config.contains("router.flow_control") || n % 40 ? 6 : 300) << '\n';
  set(config, "traffic.mode=trace traffic.self=true traffic.trace_file=", file);
  return config;
}

/// In a wavefront a packet that waits for its first choice keeps its other choices from packets that it precedes. This
/// matters where requests overlap in part: with balanced VCs, and if free VCs depend on a packet's length.
TEST_F(GpuLanes, WavefrontsServePartlyOverlappingRequests) {
  for (const char* requests : {"router.vcs=2 routing.vc_assignment=balanced traffic.packet_flits=1",
                               "router.vcs=6 router.flow_control=virtual_cut_through router.buffer_flits=6 "
                               "traffic.packet_flits=[[1,1.0],[6,1.0]]"}) {
    const Experiment e =
        experiment(testing::Settings("topology.shape=[6,6] traffic.load=0.9 router.vc_allocator=wavefront ", requests));
    Network cpu(e, one_by_one()), gpu(e, kGpu);
    for (u32 cycles = 0; cycles < trials(60); ++cycles) {
      cpu.step(2);
      gpu.step(2);
      ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine)) << requests;
    }
  }
}

/// In a network without regular structure, routers write to the rows of receivers. Blocks run apart; the last one may
/// be empty.
TEST_F(GpuLanes, IrregularNetworksAgree) {
  for (u32 seed = 0; seed < trials(10); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    setenv("CUDA_ON_HOST_THREADS", seed % 3 ? "768" : "256", 1);
    const std::string file = testing::temporary(".csv");
    const Experiment e = experiment(testing::irregular_routers(seed, file));
    const auto plan = make_plan(e);
    const vc::VcTable& t = dynamic_cast<const VcPlan&>(*plan).table();
    ASSERT_TRUE(vc::lanes::fits_device_lanes(t) && !vc::lanes::has_exact_sizes(t));
    ASSERT_TRUE(vc::lanes::has_many_rows(t, 512 / vc::lanes::element_bits(t)) && t.ports <= 12);
    Network cpu(e, one_by_one()), gpu(e, kGpu);
    for (u32 cycles : {1u, 1u, 2u, 31u, 1u, 66u}) {
      cpu.step(cycles);
      gpu.step(cycles);
      ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine));
      if (cycles == 31) gpu.engine->set_state(0, cpu.engine->state(0));
    }
    EXPECT_GT(gpu.total(Total::kPacketsDelivered), 20u);
  }
}

/// All options of the router, in closed loops, traces and open traffic, with reads and changes of the state in between.
TEST_F(GpuLanes, AnyOptionsAgree) {
  std::map<std::string, u64> moves;  // flits moved, by feature of the network
  u64 delivered = 0;
  u32 seed = 0;
  for (u32 run = 0; run < trials(24); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string trace = testing::temporary(".csv");
    const RawConfig config = any_network(seed, trace);
    const Experiment e = experiment(config);
    const auto plan = make_plan(e);
    const vc::VcTable& t = dynamic_cast<const VcPlan&>(*plan).table();
    if (!vc::lanes::fits_device_lanes(t) || t.routers > 130) continue;
    ++run;
    Network cpu(e, one_by_one()), gpu(e, kGpu);
    measure_until(60, {cpu.engine.get(), gpu.engine.get()});
    for (u32 cycles : {1u, 1u, 2u, 21u, 1u, 36u, 40u}) {
      testing::device_calls();  // counts from here on
      cpu.step(cycles);
      gpu.step(cycles);
      if (const auto calls = testing::device_calls()) {  // scalar state needs several barriers per cycle
        ASSERT_LE(calls->block_barriers + calls->grid_barriers, cycles);
      }
      ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine));
      if (cycles == 21) gpu.engine->set_state(0, cpu.engine->state(0));
      if (cycles == 36) {
        ASSERT_EQ(gpu.engine->audit(0).bits, 0u);
        ASSERT_EQ(cpu.engine->audit(0).bits, 0u);
      }
    }
    const u64 flits = gpu.total(Total::kFlitMoves);
    delivered += gpu.total(Total::kPacketsDelivered);
    for (const char* what : {"router.vc_allocator", "router.switch_allocator", "router.arbiter"})
      moves[std::string(what) + " " + std::get<std::string>(config.at(what))] += flits;
    moves["mode " + std::to_string(int(t.mode))] += flits;
    moves[vc::lanes::element_bits(t) > 8 ? "16 bits" : "8 bits"] += flits;
    if (t.concentration > 1) moves["concentration"] += flits;
    if (t.channel) moves["channels"] += flits;
    if (t.narrow) moves["narrow channels"] += flits;
    if (t.speculative) moves["speculation"] += flits;
    if (t.routers > 64) moves["several blocks"] += flits;
  }
  EXPECT_GT(delivered, trials(24) * 20u);
  if (trials(24) < 24) return;
  for (const auto& [what, flits] : moves) EXPECT_GT(flits, 1000u) << what;
  EXPECT_EQ(moves.size(), 4u + 4u + 7u + 3u + 2u + 5u);
}

/// If a network has more lane blocks than a block of threads has half-warps, it uses the whole grid on any device, with
/// flags of neighbouring tiles or the grid's barrier. The default is flags if tiles have few neighbours.
class GpuLanesOfAGrid : public GpuLanes, public ::testing::WithParamInterface<const char*> {
 protected:
  void TearDown() override { unsetenv("FLITLAB_GPU_SYNC"); }
};
INSTANTIATE_TEST_SUITE_P(Sync, GpuLanesOfAGrid, ::testing::Values("", "flags", "barrier"));

TEST_P(GpuLanesOfAGrid, ANetworkLargerThanABlockAgrees) {
  const Experiment e = experiment("topology.shape=[35,33] router.vcs=4 traffic.load=0.05");
  setenv("FLITLAB_GPU_SYNC", GetParam(), 1);
  Network cpu(e, one_by_one()), gpu(e, kGpu);
  ASSERT_EQ(lanes_of(*gpu.plan), "5 ports, fixed");
  measure_until(40, {cpu.engine.get(), gpu.engine.get()});
  testing::device_calls();  // counts from here on
  for (u32 cycles : {1u, 2u, 60u}) {
    for (Network* net : {&cpu, &gpu}) net->engine->advance(cycles, std::vector<u32>{0});
    if (const auto calls = testing::device_calls()) {
      // One barrier for each lookahead.
      EXPECT_EQ(calls->grid_barriers, GetParam() == std::string("barrier") ? (cycles + 2) / 3 : 0);
    }
    ASSERT_NO_FATAL_FAILURE(expect_the_same(*gpu.engine, *cpu.engine));
  }
  EXPECT_GT(measured(*gpu.engine), 20u);
  EXPECT_GT(gpu.total(Total::kFlitMoves), 1000u);
}

/// Finished replicas are frozen and keep their pending events while other replicas continue.
TEST_F(GpuLanes, FinishedReplicasAreFrozen) {
  for (const IntList& shape : {IntList{6, 5}, IntList{12, 11}}) {
    std::vector<Experiment> replicas;
    for (int seed = 1; seed <= 5; ++seed)
      replicas.push_back(
          experiment("topology.shape=", shape, " router.vcs=4 run.seed=", seed, " traffic.load=", 0.12 * seed));
    const auto plan = make_plan(replicas.front());
    ASSERT_EQ(lanes_of(*plan), "5 ports, fixed");
    const auto gpu = plan->make_engine(replicas, kGpu), cpu = plan->make_engine(replicas, one_by_one());
    const std::vector<u32> all{0, 1, 2, 3, 4};
    measure_until(90, {gpu.get(), cpu.get()});
    for (Engine* engine : {gpu.get(), cpu.get()}) {
      engine->advance(70, all);
      engine->advance(17, std::vector<u32>{4, 1, 2});
      engine->advance(26, std::vector<u32>{1, 4});
    }
    for (u32 r : all) expect_the_same(*gpu, *cpu, r);
    EXPECT_NE(gpu->totals(std::vector<u32>{1}), gpu->totals(std::vector<u32>{4}));  // separate counters
    EXPECT_GT(measured(*gpu, 1), 10u);
  }
}

/// An audit checks the state of the current cycle.
TEST_F(GpuLanes, AuditsCheckTheCurrentState) {
  const Experiment e = experiment("topology.shape=[9,9] router.vcs=4 traffic.load=0.3");
  Network cpu(e, one_by_one()), gpu(e, kGpu);
  const FieldInfo& output = cpu.plan->layout().kinds[0].field("output");
  std::vector<vc::OutputVc> outputs(81 * 5 * 4);
  for (Network* net : {&gpu, &cpu}) {
    net->step(201);
    EXPECT_EQ(net->engine->audit(0).bits, 0u);
    net->step(44);
    net->engine->get_field(0, 0, output, outputs.data());
    outputs[21].credits = static_cast<u16>(outputs[21].credits ? outputs[21].credits - 1 : 1);
    net->engine->set_field(0, 0, output, outputs.data());
    net->step(77);
  }
  expect_the_same(*gpu.engine, *cpu.engine);
  EXPECT_EQ(gpu.engine->audit(0).bits, kFaultCreditLost);
  EXPECT_EQ(cpu.engine->audit(0).bits, kFaultCreditLost);
  for (Network* net : {&gpu, &cpu}) net->step(5);  // continues: the fault is in the lane state, too
  expect_the_same(*gpu.engine, *cpu.engine);
}

}  // namespace
}  // namespace flitlab::lanes_gpu_test
