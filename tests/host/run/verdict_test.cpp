/// The verdict of a run on its load: steady, saturated, too short, or not drained. The idle time before
/// traffic.start is not part of the measurement.
#include <gtest/gtest.h>

#include <cmath>

#include "host/config/registry.hpp"
#include "host/run/run.hpp"
#include "host/run/window_load.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_verdict_test {
namespace {

using namespace testing;

RawConfig with(RawConfig config, const RawConfig& more) {
  for (const auto& [path, value] : more) config[path] = value;
  return config;
}

Result run(const RawConfig& config) { return run_job({experiment(config)}, {"cpu", 1, false}, nullptr).front(); }

const RawConfig kMesh = Settings("topology.kind=mesh topology.shape=[8,8]");

/// Returns the verdict of a window. `first`: packets in source queues at its beginning. `queued`: packets in source
/// queues at the end of each epoch. Each epoch creates `created` packets of one flit.
Verdict verdict_of(double first, const std::vector<double>& queued, double created = 100, double network_latency = 30) {
  WindowLoad window;
  window.begin(first);
  double before = first;
  for (double now : queued) {
    window.add({created, created - (now - before), created, now});
    before = now;
  }
  return window.verdict(100.0 * static_cast<double>(queued.size()), network_latency);
}

/// A single epoch has no standard error. Queues that grew by 1 packet, or by 9, may have grown by chance; growth by 20
/// gives too_short. Queues that do not grow but hold 40 packets, at one packet per cycle, make packets wait for 40
/// cycles. This is longer than the 30 cycles in the network.
TEST(WindowLoad, OfFewEpochsIsTooShortWhereQueuesGrow) {
  EXPECT_EQ(verdict_of(0, {0}), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {1}), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {9}), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {20}), Verdict::kTooShort);
  EXPECT_EQ(verdict_of(40, {40}), Verdict::kTooShort);
  EXPECT_EQ(verdict_of(20, {20}), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {5, 10, 15}), Verdict::kTooShort);
  EXPECT_EQ(verdict_of(0, {5, 10, 15, 20}), Verdict::kSaturated);
}

/// Five epochs whose queues grow by 2.4 packets of 100 (saturated) and by 1.6 (steady). Growth only in the first epoch
/// does not count. 5 more packets in five epochs of 40 are 2.5 %, but may be chance.
TEST(WindowLoad, FallsShortFromTwoInAHundredOn) {
  EXPECT_EQ(verdict_of(0, {2, 5, 7, 10, 12}), Verdict::kSaturated);
  EXPECT_EQ(verdict_of(0, {3, 6, 9, 12, 16}, 200), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {12, 12, 12, 12, 12}), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {1, 2, 3, 4, 5}, 40), Verdict::kSteady);
}

/// Source queues hold a few packets, and grow by chance. At 0.2 packets per cycle, one packet is a wait of five cycles.
TEST(WindowLoad, OfAFewPacketsThatWaitIsSteady) {
  EXPECT_EQ(verdict_of(0, {0, 0, 0, 1, 1, 1, 2, 2}, 20), Verdict::kSteady);
}

/// With 10,000 packets per epoch of 100 cycles, 100 waiting packets are one cycle of waiting. Growth by 300 packets is
/// 3 cycles, the limit: a tenth of the 30 cycles in the network.
TEST(WindowLoad, IsSaturatedWhereAFewSourcesWaitLonger) {
  const auto rising = [](double slope) {
    return std::vector<double>{slope, 2 * slope, 3 * slope, 4 * slope, 5 * slope, 6 * slope, 7 * slope, 8 * slope};
  };
  EXPECT_EQ(verdict_of(0, rising(45), 10000), Verdict::kSaturated);  // grows by 360 packets
  EXPECT_EQ(verdict_of(0, rising(30), 10000), Verdict::kSteady);     // grows by 240 packets
}

/// If source queues fill only at first, because the window begins with an empty network, they do not grow in the
/// window's second half.
TEST(WindowLoad, OfAColdStartIsSteady) {
  EXPECT_EQ(verdict_of(0, {20, 30, 34, 36, 36, 37, 36, 36, 35, 36}), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {20, 30, 34, 36, 40, 44, 48, 52, 56, 60}), Verdict::kSaturated);
}

/// A rise of the waiting time that has ended by the middle of the window does not count either.
TEST(WindowLoad, OfQueuesThatHaveStoppedRisingIsSteady) {
  EXPECT_EQ(verdict_of(0, {95, 138, 177, 181, 189, 189, 201, 198}, 2000), Verdict::kSteady);
  EXPECT_EQ(verdict_of(0, {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}, 1000), Verdict::kSaturated);
}

/// Packets that fill the network at first are no shortfall: fewer packets are delivered than created, but source queues
/// are empty.
TEST(WindowLoad, OfANetworkThatFillsIsSteady) {
  WindowLoad window;
  window.begin(0);
  for (int i = 0; i < 8; ++i) window.add({100, 90, 100, 0});
  EXPECT_EQ(window.verdict(800, 30), Verdict::kSteady);
}

/// A closed loop that has stopped: packets are neither created nor delivered.
TEST(WindowLoad, OfANetworkThatStandsStillIsNotSteady) {
  WindowLoad window;
  window.begin(10);
  for (int i = 0; i < 10; ++i) window.add({0, i < 5 ? 8.0 : 0.0, 0, 10});
  EXPECT_EQ(window.verdict(1000, 30), Verdict::kTooShort);
}

class ShortWindowAt : public ::testing::TestWithParam<double> {};

TEST_P(ShortWindowAt, IsNotSaturated) {
  for (std::int64_t warmup : {0, 2000})
    for (std::int64_t cycles : {100, 500, 2500})
      for (std::int64_t seed = 1; seed <= 20; ++seed) {
        const Result r = run(with(kMesh, Settings{"traffic.load=", GetParam(), " run.warmup_cycles=", warmup,
                                                  " run.measure_cycles=", cycles, " run.seed=", seed}));
        EXPECT_EQ(r.verdict, Verdict::kSteady) << warmup << " " << cycles << " " << seed;
        EXPECT_FALSE(r.saturated);
        EXPECT_FALSE(std::isnan(r.latency_cycles.mean));
      }
}

INSTANTIATE_TEST_SUITE_P(Loads, ShortWindowAt, ::testing::Values(0.01, 0.05, 0.2));

/// Saturation of this mesh is 0.4. With one epoch the verdict is "too short"; five epochs suffice to detect saturation.
TEST(ShortWindow, PastSaturationIsTooShortOrSaturated) {
  for (const double load : {0.45, 0.9})
    for (std::int64_t warmup : {0, 2000}) {
      const RawConfig config = with(kMesh, Settings("traffic.load=", load, " run.warmup_cycles=", warmup));
      const Result one = run(with(config, Settings("run.measure_cycles=500")));
      EXPECT_EQ(one.verdict, Verdict::kTooShort) << load << " " << warmup;
      EXPECT_FALSE(one.saturated);
      EXPECT_TRUE(std::isnan(one.latency_cycles.mean));
      const Result five = run(with(config, Settings("run.measure_cycles=2500")));
      EXPECT_EQ(five.verdict, warmup || load > 0.5 ? Verdict::kSaturated : Verdict::kTooShort) << load << " " << warmup;
      EXPECT_TRUE(std::isnan(five.latency_cycles.mean));
    }
}

/// Packets that are created at the end of the window are still in flight, and run.drain_cycles = 0 leaves no time for
/// them.
TEST(Drain, ThatIsTooShortIsNoSaturation) {
  const Result r =
      run(Settings("traffic.load=0.1 topology.channel_delay=20 run.measure_cycles=5000 run.drain_cycles=0"));
  EXPECT_EQ(r.verdict, Verdict::kNotDrained);
  EXPECT_FALSE(r.saturated);
  EXPECT_TRUE(std::isnan(r.latency_cycles.mean));
  EXPECT_GT(r.window_packets.created, 1000u);
  EXPECT_LT(r.window_packets.delivered, r.window_packets.created);
  EXPECT_GT(r.window_packets.delivered, r.window_packets.created * 9 / 10);
}

class StartOf : public ::testing::TestWithParam<std::string> {
 protected:
  RawConfig config(const RawConfig& more) const { return with(Settings("router.kind=", GetParam().c_str()), more); }
};

/// With both kinds of window the offered load is the configured one. Most models behave the same, shifted by the start;
/// random draws of Blue Gene/L's software and of METRO's routers depend on the cycle.
TEST_P(StartOf, IsNoPartOfTheMeasurement) {
  const bool same = GetParam() != "bgl" && GetParam() != "metro";
  const double load = GetParam() == "bgl" ? 0.01 : 0.05;
  const RawConfig longer = Settings("run.measure_cycles=", 20'000, " run.epoch_cycles=1000");
  for (const RawConfig& window : std::initializer_list<RawConfig>{Settings("run.precision=0.02"), longer,
                                                                  with(longer, Settings("run.warmup_cycles=900")),
                                                                  with(longer, Settings("run.warmup_cycles=0"))}) {
    const RawConfig now = with(config(Settings("traffic.load=", load)), window);
    const Result at_once = run(now), later = run(with(now, Settings("traffic.start=", 30'000)));
    EXPECT_EQ(later.verdict, Verdict::kSteady);
    EXPECT_EQ(later.cycles, later.warmup_cycles + later.measured_cycles + later.drain_cycles);
    if (same) {
      EXPECT_EQ(later.warmup_cycles, at_once.warmup_cycles + 30'000);
      EXPECT_EQ(later.measured_cycles, at_once.measured_cycles);
      EXPECT_EQ(later.offered, at_once.offered);
      EXPECT_EQ(later.window_packets.created, at_once.window_packets.created);
    }
    EXPECT_NEAR(later.offered, at_once.offered, 0.1 * at_once.offered);
    EXPECT_NEAR(later.latency_cycles.mean, at_once.latency_cycles.mean, 0.05 * at_once.latency_cycles.mean);
  }
}

/// If the start is within an epoch, that epoch is not part of the series.
TEST_P(StartOf, MayLieWithinAnEpoch) {
  const double load = GetParam() == "bgl" ? 0.01 : 0.05;
  const Result r = run(config(Settings("traffic.load=", load, " traffic.start=", 29'970, " run.precision=0.05")));
  const Result at_once = run(config(Settings("traffic.load=", load, " run.precision=0.05")));
  EXPECT_NEAR(r.offered, at_once.offered, 0.2 * load);
  EXPECT_GE(r.warmup_cycles, 30'000u + 16 * 100);
}

/// A batch ends when all of its packets have been created and have arrived. The time of the batch counts from
/// traffic.start.
TEST_P(StartOf, OfABatchIsNotItsEnd) {
  const RawConfig batch = config(Settings("traffic.mode=batch traffic.batch_packets=10"));
  const Result at_once = run(batch), later = run(with(batch, Settings("traffic.start=5000")));
  EXPECT_EQ(at_once.packets.created, 10u * at_once.terminals);
  EXPECT_EQ(later.packets.created, at_once.packets.created);
  EXPECT_EQ(later.packets.delivered, later.packets.created);
  EXPECT_EQ(later.warmup_cycles, 5000u);
  EXPECT_GT(later.cycles, 5000 + later.measured_cycles - 1);
  EXPECT_EQ(later.model.at("batch_cycles"), static_cast<double>(later.measured_cycles));
  EXPECT_NEAR(static_cast<double>(later.measured_cycles), static_cast<double>(at_once.measured_cycles),
              0.3 * static_cast<double>(at_once.measured_cycles));
  EXPECT_GT(later.accepted, 0.7 * at_once.accepted);
}

INSTANTIATE_TEST_SUITE_P(Models, StartOf, ::testing::ValuesIn(testing::kinds()),
                         [](const auto& info) { return info.param; });

/// Regression test: a batch on a mesh that is idle for 5000 cycles, 64 terminals with ten packets each, once ended in
/// cycle 1 without packets.
TEST(Batch, EndsAfterItHasStarted) {
  const Result r = run(with(kMesh, Settings("traffic.mode=batch traffic.batch_packets=10 traffic.start=5000")));
  EXPECT_EQ(r.packets.delivered, 640u);
  EXPECT_EQ(r.measured_cycles, 181u);
  EXPECT_TRUE(std::isnan(r.latency_cycles.ci95));  // all packets are counted, so there is no interval
}

/// One source, checked after every cycle. A Blue Gene/L processor creates a packet when a FIFO has room. So between two
/// creations all packets created so far may have arrived, but the batch continues.
TEST_P(StartOf, OfTheNextPacketIsWaitedFor) {
  std::string rows = "0,5,1\n";
  const u32 terminals = make_plan(experiment(config({})))->topology().terminals;
  for (u32 i = 1; i < terminals; ++i) rows += std::to_string(i) + ",0,0\n";
  const testing::TextFile matrix(rows);
  const Result r =
      run(config(Settings("traffic.mode=batch traffic.batch_packets=7 traffic.pattern=matrix traffic.matrix_file=",
                          matrix.path.c_str(), " run.epoch_cycles=1")));
  EXPECT_EQ(r.packets.delivered, 7u);
}

/// Windows that begin with an empty network and are shorter than several times the time to fill it.
TEST(ColdStart, IsNotSaturated) {
  for (std::int64_t seed = 1; seed <= 5; ++seed) {
    const Result r =
        run(Settings("router.kind=bgl topology.shape=[8,8,8] traffic.self=false traffic.packet_flits=8 "
                     "traffic.load=0.02 run.warmup_cycles=0 run.measure_cycles=5000 run.epoch_cycles=100 run.seed=",
                     seed));
    EXPECT_EQ(r.verdict, Verdict::kSteady) << seed;
  }
}

/// Bursts of 50,000 cycles overload the mesh while they last, two of nine terminals at a time. A window of 20,000
/// cycles covers less than one period, so the verdict is not saturation.
TEST(Bursts, OfWhichAWindowSeesOneAreNoSaturation) {
  for (std::int64_t seed = 1; seed <= 3; ++seed) {
    const Result r =
        run(with(kMesh, Settings("traffic.load=0.2 traffic.injection=on_off traffic.burst_cycles=", 50'000,
                                 " traffic.burst_load=0.9 run.longest_warmup=", 20'000, " run.seed=", seed)));
    EXPECT_EQ(r.verdict, Verdict::kTooShort) << seed;
  }
}

/// Bursts recur every 8000 cycles. Either the warm-up lasts one period and the window ten, or the result is marked as
/// capped and has no confidence interval.
TEST(Bursts, AreNotTakenForSteadyTraffic) {
  const RawConfig bursts = Settings(
      "traffic.load=0.05 traffic.injection=on_off traffic.burst_cycles=1000 traffic.burst_load=0.4 run.precision=0.5");
  const Result capped = run(bursts);
  EXPECT_GE(capped.warmup_cycles, 8000u);
  EXPECT_EQ(capped.measured_cycles, 20'000u);
  EXPECT_TRUE(capped.window_capped);
  EXPECT_TRUE(std::isnan(capped.latency_cycles.ci95));
  const Result longer = run(with(bursts, Settings("run.longest_window=", 200'000)));
  EXPECT_GE(longer.measured_cycles, 80'000u);
  EXPECT_FALSE(longer.window_capped);
  EXPECT_FALSE(std::isnan(longer.latency_cycles.ci95));
}

}  // namespace
}  // namespace flitlab::run_verdict_test
