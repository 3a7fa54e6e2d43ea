/// Results of a run compared with numbers derived by hand: the window, hops, quantiles, channels, warm-up and drain.
#include "host/run/measurement.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_measurement_test {
namespace {

using namespace testing;

Result run(const RawConfig& config, u32 threads = 1) {
  return run_job({experiment(config)}, {"cpu", threads, false}, nullptr).front();
}

/// Configuration of an 8-ring in which every terminal sends one flit to the next terminal every 1 / load cycles.
RawConfig neighbours(double load) {
  return Settings(
      "topology.kind=ring topology.shape=8 traffic.pattern=neighbour traffic.injection=periodic traffic.packet_flits=1 "
      "traffic.load=",
      load);
}

/// At full load every terminal creates a packet in every cycle, so a window of n cycles measures n packets of each
/// terminal.
TEST(Window, HasAllCyclesFromItsBeginToBeforeItsEnd) {
  for (const auto& [begin, end] : {std::pair{0u, 40u}, {17u, 18u}, {17u, 57u}}) {
    Network net(experiment(neighbours(1)));
    ReplicaRow row = net.engine->row(0);
    row.window_begin = begin;
    row.window_end = end;
    net.engine->set_row(0, row);
    net.step(begin);
    EXPECT_EQ(net.total(Total::kMeasuredCreated), 0u);
    net.step(300 - begin);
    EXPECT_EQ(net.total(Total::kMeasuredCreated), 8u * (end - begin));
    EXPECT_EQ(net.total(Total::kMeasuredDelivered), 8u * (end - begin));
    EXPECT_EQ(net.total(Total::kPacketsCreated), 8u * 300);
  }
}

TEST(Hops, AreTheChannelsOfThePath) {
  RawConfig ring = neighbours(0.1);
  ring["run.measure_cycles"] = integer(2000);
  EXPECT_EQ(run(ring).hops_mean, 1);
  ring["topology.shape"] = integer(9);
  ring["traffic.pattern"] = word("tornado");  // to the router 4 of 9 further on
  EXPECT_EQ(run(ring).hops_mean, 4);
  set(ring, "topology.kind=torus topology.shape=[4,4]");
  ring["traffic.pattern"] = word("neighbour");  // to the next router in each dimension
  EXPECT_EQ(run(ring).hops_mean, 2);
}

/// Packets of 1, 11, 21 and 31 flits over one channel; no two of them meet. A packet of L flits takes L + 10 cycles
/// (docs/architecture/cycle.md). Of 200 packets, the median is among the shortest, the 95 % quantile (packet 190) among
/// packets of the second length, and the 99 % quantile (packet 198) among packets of the third.
TEST(Quantiles, AreThoseOfTheDistribution) {
  std::string text;
  double sum = 0;
  u32 n = 0;
  for (const auto& [packets, flits] : {std::pair{160, 1}, {34, 11}, {5, 21}, {1, 31}})
    for (int i = 0; i < packets; ++i) {
      text += std::to_string(100 * n++) + ",0,1," + std::to_string(flits) + "\n";
      sum += flits + 10;
    }
  ASSERT_EQ(n, 200u);
  const testing::TextFile trace(text);
  const Result r = run(Settings("topology.kind=mesh traffic.mode=trace traffic.trace_file=", trace.path.c_str()));
  ASSERT_EQ(r.packets.delivered, 200u);
  for (const LatencyStats& latency : {r.latency_cycles, r.network_latency_cycles}) {  // no packet waits at the source
    EXPECT_DOUBLE_EQ(latency.mean, sum / 200);
    EXPECT_EQ(latency.p50, 11);
    EXPECT_EQ(latency.p95, 21);
    EXPECT_EQ(latency.p99, 31);
    EXPECT_EQ(latency.max, 41);
  }
}

/// Packets of 336 flits that never meet all take 346 cycles. From 256 on, a bin of the histogram holds four latencies,
/// but the quantiles are exact.
TEST(Quantiles, AreExactIfAllPacketsTakeTheSameTime) {
  std::string text;
  for (u32 n = 0; n < 100; ++n) text += std::to_string(1000 * n) + ",0,1,336\n";
  const testing::TextFile trace(text);
  const Result r = run(Settings("topology.kind=mesh traffic.mode=trace traffic.trace_file=", trace.path.c_str()));
  for (const LatencyStats& latency : {r.latency_cycles, r.network_latency_cycles})
    for (const double percentile : {latency.p50, latency.p95, latency.p99, latency.max}) EXPECT_EQ(percentile, 346);
}

/// One source creates two packets in the same cycle, and the second one waits at the source for the first. Both have
/// the same network latency. Terminals of several threads receive the packets; the histograms of the threads are
/// summed.
TEST(Quantiles, OfTheNetworkLeaveOutTheWaitAtTheSource) {
  std::string text;
  for (u32 n = 0; n < 200; ++n) {
    const u32 from = n / 2 % 64 / 2 * 2;  // each even router in turn sends two packets to its neighbour
    text += std::to_string(100 * (n / 2)) + "," + std::to_string(from) + "," + std::to_string(from + 1) + ",20\n";
  }
  const testing::TextFile trace(text);
  for (u32 threads : {1u, 3u}) {
    const Result r = run(
        Settings("topology.kind=mesh topology.shape=[8,8] traffic.mode=trace traffic.trace_file=", trace.path.c_str()),
        threads);
    ASSERT_EQ(r.packets.delivered, 200u);
    EXPECT_EQ(r.network_latency_cycles.p50, 30);
    EXPECT_EQ(r.network_latency_cycles.p99, 30);
    EXPECT_EQ(r.network_latency_cycles.max, 30);
    EXPECT_EQ(r.latency_cycles.p50, 30);
    EXPECT_EQ(r.latency_cycles.p95, 50);
    EXPECT_EQ(r.latency_cycles.max, 50);
  }
}

/// Latencies differ between the parts of the network that threads process, so the histogram of one thread has another
/// median than the sum.
TEST(Quantiles, AreOfAllThreads) {
  std::string text;
  for (u32 n = 0; n < 300; ++n) {
    const u32 at = n % 3 * 16 + 16 * (n % 3 == 2);  // routers 0, 16 and 48 send 1, 11 and 21 flits
    text += std::to_string(60 * n) + "," + std::to_string(at) + "," + std::to_string(at + 1) + "," +
            std::to_string(1 + n % 3 * 10) + "\n";
  }
  const testing::TextFile trace(text);
  for (u32 threads : {1u, 2u, 3u}) {
    const Result r = run(
        Settings("topology.kind=mesh topology.shape=[8,8] traffic.mode=trace traffic.trace_file=", trace.path.c_str()),
        threads);
    for (const LatencyStats& latency : {r.latency_cycles, r.network_latency_cycles}) {
      EXPECT_EQ(latency.p50, 21) << threads;
      EXPECT_EQ(latency.p95, 31) << threads;
      EXPECT_EQ(latency.max, 31) << threads;
    }
  }
}

/// Two sources send 0.6 flits/cycle each to one port of a switch, which accepts 1, so accepted traffic falls short by
/// 0.2. Each other source sends 0.6 to a port of its own. The window has five epochs, too few to detect growing queues.
TEST(Shortfall, CountsFromTwoInAHundred) {
  for (const auto& [sources, saturated] : {std::pair{9u, true}, {15u, true}, {19u, false}, {32u, false}}) {
    std::string text;  // shortfall 0.2 / (0.6 sources): 3.7 %, 2.2 %, 1.8 %, 1.0 %
    for (u32 s = 0; s < 64; ++s)
      text += std::to_string(s) + "," + std::to_string(s == 1 ? 32 : 32 + s % 32) + (s < sources ? ",1\n" : ",0\n");
    const testing::TextFile matrix(text);
    const Result r = run(Settings(
        "router.kind=switch topology.ports=64 traffic.pattern=matrix traffic.matrix_file=", matrix.path.c_str(),
        " traffic.injection=periodic traffic.packet_flits=1 traffic.load=0.6 run.warmup_cycles=1000 "
        "run.measure_cycles=2500 run.drain_cycles=100000"));
    EXPECT_EQ(r.saturated, saturated) << sources;
  }
}

/// Each of the eight channels of one direction carries a flit every four cycles; the other channels are idle.
TEST(ChannelUtilization, LeavesOutTheWarmup) {
  RawConfig config = neighbours(0.25);
  set(config, "run.warmup_cycles=3000 run.measure_cycles=1000");
  const Result r = run(config);
  EXPECT_EQ(r.warmup_cycles, 3000u);
  EXPECT_EQ(r.measured_cycles, 1000u);
  EXPECT_DOUBLE_EQ(r.channel_utilization.max, 0.25);
  EXPECT_DOUBLE_EQ(r.channel_utilization.mean, 0.125);
  EXPECT_DOUBLE_EQ(r.accepted, 0.25);
  EXPECT_DOUBLE_EQ(r.offered, 0.25);
  EXPECT_EQ(r.channels, 16u);
}

/// Packets take 1 + 5 * 4 + 4 * 64 + 1 = 278 cycles over four long channels. Every terminal creates one every 100
/// cycles, so the last packets are created in the last 100 cycles of the window. Packets rarely meet, so the drain
/// takes between 178 and about 278 cycles.
TEST(Drain, EndsAtItsLimit) {
  RawConfig config = neighbours(0.01);
  set(config,
      "topology.shape=9 traffic.pattern=tornado topology.channel_delay=64 run.warmup_cycles=1000 "
      "run.measure_cycles=600 run.epoch_cycles=10 run.drain_cycles=1000");
  const Result whole = run(config);
  EXPECT_FALSE(whole.saturated);
  EXPECT_GT(whole.drain_cycles, 178u);
  EXPECT_LE(whole.drain_cycles, 290u);
  EXPECT_NEAR(whole.latency_cycles.mean, 278, 1);
  config["run.drain_cycles"] = integer(20);
  const Result cut = run(config);
  EXPECT_EQ(cut.verdict, Verdict::kNotDrained);
  EXPECT_FALSE(cut.saturated);
  EXPECT_EQ(cut.drain_cycles, 20u);
  EXPECT_TRUE(std::isnan(cut.latency_cycles.mean));
}

/// If no packets are measured, the result has no latency.
TEST(Latency, OfNoPacketsIsUnknown) {
  const Result r = run(Settings("traffic.load=0.0 run.measure_cycles=1000"));
  EXPECT_FALSE(r.saturated);
  for (const LatencyStats& stats : {r.latency_cycles, r.network_latency_cycles})
    for (const double x : {stats.mean, +stats.p50, +stats.p95, +stats.p99, +stats.max}) EXPECT_TRUE(std::isnan(x));
  EXPECT_TRUE(std::isnan(r.hops_mean));
}

/// Hosts refuse priority 0, so packets never arrive. The run ends with an error when no packet has arrived for
/// run.stall_cycles, not before.
TEST(Batch, ThatCannotEndIsAnError) {
  const RawConfig config = Settings(
      "router.kind=sconnect topology.kind=mesh topology.shape=[2,2] traffic.mode=batch traffic.batch_packets=20 "
      "host.refuses=[0] run.stall_cycles=4000");
  try {
    run(config);
    FAIL() << "it ended";
  } catch (const RunError& error) {
    const std::string text = error.what();
    const u64 quiet = std::stoul(text.substr(text.find("for ") + 4));
    EXPECT_GE(quiet, 4000u) << text;
    EXPECT_LT(quiet, 4000u + 2 * 500) << text;
  }
}

/// Far past saturation latency grows without end; the warm-up ends when the throughput has settled.
TEST(Warmup, EndsPastSaturation) {
  const Result r = run(Settings("topology.kind=mesh traffic.load=1.0 run.measure_cycles=2500"));
  EXPECT_TRUE(r.warmup_steady);
  EXPECT_LT(r.warmup_cycles, 200u * 500 / 2);
  EXPECT_TRUE(r.saturated);
}

}  // namespace
}  // namespace flitlab::run_measurement_test
