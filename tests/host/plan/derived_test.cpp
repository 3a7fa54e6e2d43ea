/// Numbers that flitlab derives from a configuration, compared with runs. Also tests input files whose contents change.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::plan_derived_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::word;

double derived(const Experiment& e, const std::string& name) {
  for (const auto& [key, value] : make_plan(e)->derived())
    if (key == name) return value;
  return -1;
}

/// The zero-load latency that `inspect` prints is that of a nearly idle network.
TEST(Derived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{
      {},
      {{"router.flow_control", word("store_and_forward")}},
      {{"router.flow_control", word("virtual_cut_through")}, {"router.routing_delay", integer(3)}},
      {{"routing.algorithm", word("valiant")}},
      {{"router.speculative", true}},
      {{"router.speculative", true}, {"router.vc_allocation_delay", integer(0)}},
      {{"topology.kind", word("mesh")}, {"routing.algorithm", word("romm")}, {"topology.channel_delay", integer(2)}},
  };
  for (RawConfig config : settings) {
    config["traffic.load"] = 0.004;
    config["run.measure_cycles"] = integer(60000);
    config["run.warmup_cycles"] = integer(1000);
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"),
                0.01 * r.latency_cycles.mean + 1.5 * r.latency_cycles.ci95)
        << e.structure_key();
  }
}

TEST(Derived, ZeroLoadLatencyOfAT3eIsMeasured) {
  for (const bool open : {true, false}) {
    const Experiment e = experiment({{"router.kind", word("t3e")},
                                     {"topology.shape", IntList{8, 4, 2}},
                                     {"router.short_circuit", open},
                                     {"traffic.load", 0.002},
                                     {"run.warmup_cycles", integer(1000)},
                                     {"run.measure_cycles", integer(100000)}});
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"), 0.01 * r.latency_cycles.mean) << open;
  }
}

/// Derived hops and latency agree with runs at low load, for any pattern, routing, packet length and model.
TEST(Derived, HopsAndLatencyAreThoseOfTheExperiment) {
  std::string clockwise, ring;
  for (u32 r = 0; r < 8; ++r) {
    ring += std::to_string(r) + "," + std::to_string((r + 1) % 8) + "\n";
    // Ports have the order of the edges in the list. So port 1 leads clockwise, but port 0 at router 0, whose first
    // edge is the one to router 1.
    for (u32 to = 0; to < 8; ++to)
      if (r != to) clockwise += std::to_string(r) + "," + std::to_string(to) + "," + (r == 0 ? "0" : "1") + "\n";
  }
  const testing::TextFile edges(ring), routes(clockwise);
  const Lengths mixed{{1, 15.0}, {16, 1.0}};
  const std::vector<RawConfig> settings{
      {{"traffic.pattern", word("neighbour")}, {"topology.kind", word("mesh")}},
      {{"traffic.pattern", word("transpose")}, {"routing.algorithm", word("valiant")}},
      {{"traffic.pattern", word("tornado")}, {"routing.algorithm", word("minimal_adaptive")}},
      {{"traffic.pattern", word("bit_reverse")}, {"traffic.self", false}, {"topology.concentration", integer(4)}},
      {{"traffic.pattern", word("divide")},
       {"topology.kind", word("hypercube")},
       {"topology.channel_delay", integer(5)}},
      {{"topology.kind", word("graph")},
       {"topology.file", edges.path},
       {"routing.algorithm", word("table")},
       {"routing.table_file", routes.path}},
      {{"router.flow_control", word("store_and_forward")},
       {"router.buffer_flits", integer(32)},
       {"traffic.packet_flits", mixed}},
      {{"traffic.mode", word("request_reply")}, {"traffic.pattern", word("hot_spot")}, {"traffic.hot_fraction", 0.9}},
      {{"router.kind", word("bless")}, {"traffic.pattern", word("hot_region")}, {"traffic.packet_flits", mixed}},
      {{"router.kind", word("bless")}, {"traffic.pattern", word("transpose")}},
      {{"router.kind", word("t3e")}, {"traffic.pattern", word("bit_reverse")}},
      {{"router.kind", word("t3e")},
       {"traffic.pattern", word("fft")},
       {"traffic.packet_flits", Lengths{{2, 3.0}, {10, 1.0}}},
       {"router.deterministic_buffer_flits", integer(16)}},
      {{"router.kind", word("bgl")}, {"traffic.pattern", word("bit_reverse")}},
      {{"router.kind", word("bgl")}, {"traffic.pattern", word("neighbour")}},
      {{"router.kind", word("adaptive")}, {"traffic.pattern", word("neighbour")}},
      {{"router.kind", word("sconnect")}, {"traffic.pattern", word("neighbour")}},
      {{"router.kind", word("metro")}, {"topology.kind", word("fat_tree")}, {"traffic.pattern", word("neighbour")}},
  };
  for (RawConfig config : settings) {
    const bool slow = config.count("router.kind") && config.at("router.kind") == word("bgl");  // 32 cycles per flit
    config["traffic.load"] = slow ? 0.0006 : 0.004;
    config["run.measure_cycles"] = integer(slow ? 2000000 : 100000);
    config["run.warmup_cycles"] = integer(1000);
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.hops_mean, derived(e, "hops_mean"), 0.03 * r.hops_mean) << e.structure_key();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"),
                0.02 * r.latency_cycles.mean + 1.5 * r.latency_cycles.ci95)
        << e.structure_key();
  }
}

/// Derived numbers of 65,536 routers are computed without visiting all pairs.
TEST(Derived, LargeNetworksAreSummedByCoordinates) {
  const Experiment e = experiment({{"topology.shape", IntList{256, 256}},
                                   {"traffic.pattern", word("hot_region")},
                                   {"traffic.hot_shape", IntList{128, 256}},
                                   {"traffic.self", false}});
  EXPECT_NEAR(derived(e, "hops_mean"), 128, 0.01);
}

TEST(Derived, TopologyNumbersKeepTheirOwnNames) {
  const Experiment e = experiment({{"topology.kind", word("mesh")}, {"traffic.pattern", word("neighbour")}});
  EXPECT_EQ(derived(e, "topology_hops_mean"), 2.5);
  EXPECT_EQ(derived(e, "hops_mean"), 3);
  const Experiment hot = experiment({{"router.kind", word("bgl")}, {"traffic.pattern", word("hot_spot")}});
  EXPECT_GT(derived(hot, "uniform_load_bound"), 0);
  EXPECT_TRUE(std::isnan(derived(hot, "saturation_load_bound")));
}

TEST(Derived, ZeroLoadLatencyIsNotGuessed) {
  EXPECT_TRUE(std::isnan(derived(experiment({{"router.buffer_flits", integer(3)}}), "zero_load_latency_cycles")));
}

/// A matrix file of the same name and size but with other contents makes another configuration.
TEST(Files, ContentsBelongToTheConfiguration) {
  const std::string path = std::filesystem::absolute(testing::temporary(".csv")).string();
  const auto write = [&](int distance) {
    std::ofstream file(path);
    for (int s = 0; s < 16; ++s) file << s << ',' << (s + distance) % 16 << ",1\n";
    file.close();
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() + std::chrono::hours(distance));
  };
  const RawConfig config{{"traffic.pattern", word("matrix")}, {"traffic.matrix_file", path}};
  const std::string checkpoint = testing::temporary(".checkpoint");
  write(1);
  const Experiment e = experiment(config);
  const u64 before = e.files_hash();
  SteppedNetwork net(e, "cpu", 1, false);
  net.step(100);
  net.save(checkpoint);
  write(2);
  EXPECT_NE(e.files_hash(), before);
  EXPECT_THROW(net.load(checkpoint), ConfigError);
  write(1);
  EXPECT_EQ(e.files_hash(), before);
  net.load(checkpoint);
}

}  // namespace
}  // namespace flitlab::plan_derived_test
