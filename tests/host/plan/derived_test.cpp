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

using namespace testing;

/// The zero-load latency that `inspect` prints is that of a nearly idle network.
TEST(Derived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{
      {},
      Settings("router.flow_control=store_and_forward"),
      Settings("router.flow_control=virtual_cut_through router.routing_delay=3"),
      Settings("routing.algorithm=valiant"),
      Settings("router.speculative=true"),
      Settings("router.speculative=true router.vc_allocation_delay=0"),
      Settings("topology.kind=mesh routing.algorithm=romm topology.channel_delay=2"),
  };
  for (RawConfig config : settings) {
    set(config, "traffic.load=0.004 run.measure_cycles=60000 run.warmup_cycles=1000");
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency_cycles.mean, derived(e, "zero_load_latency_cycles"),
                0.01 * r.latency_cycles.mean + 1.5 * r.latency_cycles.ci95)
        << e.structure_key();
  }
}

TEST(Derived, ZeroLoadLatencyOfAT3eIsMeasured) {
  for (const bool open : {true, false}) {
    const Experiment e = experiment("router.kind=t3e topology.shape=[8,4,2] router.short_circuit=", open,
                                    " traffic.load=0.002 run.warmup_cycles=1000 run.measure_cycles=100000");
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
  const testing::TextFile channels("0,1,9\n1,2,3,0.5\n2,3\n3,4,1,0.3333\n4,0,20\n1,3,0,0.6667\n");
  const Lengths mixed{{1, 15.0}, {16, 1.0}};
  const std::vector<RawConfig> settings{
      Settings("traffic.pattern=neighbour topology.kind=mesh"),
      Settings("traffic.pattern=transpose routing.algorithm=valiant"),
      Settings("traffic.pattern=tornado routing.algorithm=minimal_adaptive"),
      Settings("traffic.pattern=bit_reverse traffic.self=false topology.concentration=4"),
      Settings("traffic.pattern=divide topology.kind=hypercube topology.channel_delay=5"),
      Settings("topology.kind=graph topology.file=", edges.path,
               " routing.algorithm=table routing.table_file=", routes.path),
      Settings("router.flow_control=store_and_forward router.buffer_flits=32 traffic.packet_flits=", mixed),
      Settings("topology.channel_delay=[3,11] router.buffer_flits=32"),
      Settings("topology.channel_width=[0.5,0.75] router.buffer_flits=32 traffic.packet_flits=", mixed),
      Settings("topology.kind=mesh routing.algorithm=valiant topology.channel_delay=[5,1] router.buffer_flits=32"),
      Settings("topology.kind=graph topology.channel_delay=2 topology.file=", channels.path,
               " router.buffer_flits=64 traffic.packet_flits=", mixed),
      Settings("traffic.mode=request_reply traffic.pattern=hot_spot traffic.hot_fraction=0.9"),
      Settings("router.kind=bless traffic.pattern=hot_region traffic.packet_flits=", mixed),
      Settings("router.kind=bless traffic.pattern=transpose"),
      Settings("router.kind=t3e traffic.pattern=bit_reverse"),
      Settings("router.kind=t3e traffic.pattern=fft traffic.packet_flits=[[2,3.0],[10,1.0]] "
               "router.deterministic_buffer_flits=16"),
      Settings("router.kind=bgl traffic.pattern=bit_reverse"),
      Settings("router.kind=bgl traffic.pattern=neighbour"),
      Settings("router.kind=adaptive traffic.pattern=neighbour"),
      Settings("router.kind=sconnect traffic.pattern=neighbour"),
      Settings("router.kind=metro topology.kind=fat_tree traffic.pattern=neighbour"),
  };
  for (RawConfig config : settings) {
    const bool slow = config.count("router.kind") && config.at("router.kind") == word("bgl");  // 32 cycles per flit
    set(config, "traffic.load=", slow ? 0.0006 : 0.004, " run.measure_cycles=", slow ? 2000000 : 100000,
        " run.warmup_cycles=1000");
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
  const Experiment e =
      experiment("topology.shape=[256,256] traffic.pattern=hot_region traffic.hot_shape=[128,256] traffic.self=false");
  EXPECT_NEAR(derived(e, "hops_mean"), 128, 0.01);
}

TEST(Derived, TopologyNumbersKeepTheirOwnNames) {
  const Experiment e = experiment("topology.kind=mesh traffic.pattern=neighbour");
  EXPECT_EQ(derived(e, "topology_hops_mean"), 2.5);
  EXPECT_EQ(derived(e, "hops_mean"), 3);
  const Experiment hot = experiment("router.kind=bgl traffic.pattern=hot_spot");
  EXPECT_GT(derived(hot, "uniform_load_bound"), 0);
  EXPECT_TRUE(std::isnan(derived(hot, "saturation_load_bound")));
}

TEST(Derived, ZeroLoadLatencyIsNotGuessed) {
  EXPECT_TRUE(std::isnan(derived(experiment("router.buffer_flits=3"), "zero_load_latency_cycles")));
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
  const RawConfig config = Settings("traffic.pattern=matrix traffic.matrix_file=", path);
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
