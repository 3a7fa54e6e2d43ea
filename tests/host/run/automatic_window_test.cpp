/// Windows of automatic length: the packets that they measure and the cycle in which they end. Also tests windows of
/// fixed length, whose results must not change.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "host/run/run.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_automatic_window_test {
namespace {

using namespace testing;

Result run(const RawConfig& config, u32 threads = 1) {
  return run_job({experiment(config)}, {"cpu", threads, false}, nullptr).front();
}

void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.state_hash, b.state_hash);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.warmup_cycles, b.warmup_cycles);
  EXPECT_EQ(a.measured_cycles, b.measured_cycles);
  EXPECT_EQ(a.saturated, b.saturated);
  EXPECT_EQ(a.window_capped, b.window_capped);
  EXPECT_EQ(std::memcmp(&a.latency_cycles, &b.latency_cycles, sizeof(LatencyStats)), 0);
  EXPECT_EQ(a.offered, b.offered);
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.channel_utilization.max, b.channel_utilization.max);
}

class AutomaticWindowOf : public ::testing::TestWithParam<const char*> {};

/// A run whose fixed warm-up and window have the lengths of an automatic run gives the same results.
TEST_P(AutomaticWindowOf, MeasuresWhatWasCreatedInIt) {
  RawConfig config = Settings("router.kind=", GetParam(), " traffic.load=0.05 run.precision=0.04");
  if (GetParam() == std::string("bgl")) {  // packets have many flits, and loads are low
    set(config, "run.precision=0.3 traffic.load=0.01");
  }
  const Result r = run(config);
  ASSERT_FALSE(r.saturated);
  ASSERT_FALSE(r.window_capped);
  EXPECT_EQ(r.cycles, r.warmup_cycles + r.measured_cycles + r.drain_cycles);
  set(config, "run.warmup_cycles=", static_cast<std::int64_t>(r.warmup_cycles),
      " run.measure_cycles=", static_cast<std::int64_t>(r.measured_cycles), " run.epoch_cycles=100");
  Result fixed = run(config);
  EXPECT_NEAR(r.latency_cycles.ci95, fixed.latency_cycles.ci95,
              0.3 * r.latency_cycles.ci95);  // estimated without the warm-up
  fixed.latency_cycles.ci95 = r.latency_cycles.ci95;
  expect_same(r, fixed);
  EXPECT_EQ(r.network_latency_cycles.mean, fixed.network_latency_cycles.mean);
  EXPECT_EQ(r.network_latency_cycles.p99, fixed.network_latency_cycles.p99);
  EXPECT_EQ(r.hops_mean, fixed.hops_mean);
}

INSTANTIATE_TEST_SUITE_P(Models, AutomaticWindowOf,
                         ::testing::Values("vc", "bless", "t3e", "bgl", "metro", "sconnect", "adaptive", "switch"));

TEST(AutomaticWindow, EndsAtTheRequestedPrecision) {
  u64 before = 0;
  for (const double precision : {0.1, 0.02, 0.005}) {
    const Result r = run(Settings("topology.shape=[8,8] traffic.load=0.3 run.precision=", precision));
    EXPECT_FALSE(r.window_capped);
    EXPECT_LE(r.latency_cycles.ci95, 1.1 * precision * r.latency_cycles.mean);  // the packets of the drain may widen it
    EXPECT_GE(r.measured_cycles, std::max<u64>(before, 1000));
    before = r.measured_cycles;
  }
  EXPECT_GT(before, 2000u);
}

/// With packets of long latency, the window lasts ten latencies even if all latencies are about equal.
TEST(AutomaticWindow, LastsForTenLatencies) {
  const Result r = run(Settings("topology.channel_delay=64 traffic.load=0.05 run.precision=0.5"));
  EXPECT_GT(r.latency_cycles.mean, 140);
  EXPECT_GE(static_cast<double>(r.measured_cycles), 10 * r.latency_cycles.mean);
  EXPECT_LE(static_cast<double>(r.measured_cycles), 10 * 1.5 * r.latency_cycles.mean);
}

TEST(AutomaticWindow, ReportsThatItWasCapped) {
  RawConfig config = Settings("traffic.load=0.2 run.precision=0.0001 run.longest_window=2350");
  const Result r = run(config);
  EXPECT_TRUE(r.window_capped);
  EXPECT_EQ(r.measured_cycles, 2400u);  // the limit of 2350, rounded up to whole epochs of 100
  EXPECT_GT(r.latency_cycles.ci95, 0.0001 * r.latency_cycles.mean);
  config["run.measure_cycles"] = integer(2500);  // a fixed length is used as it is
  EXPECT_FALSE(run(config).window_capped);
  EXPECT_EQ(run(config).measured_cycles, 2500u);
}

TEST(AutomaticWindow, ReportsThatItsWarmupReachedItsLimit) {
  const Result r = run(Settings("traffic.load=0.2 run.longest_warmup=700"));
  EXPECT_FALSE(r.warmup_steady);
  EXPECT_EQ(r.warmup_cycles, 700u);
}

/// Without packets there is no mean, so the window lasts until its limit.
TEST(AutomaticWindow, OfNoPacketsIsCapped) {
  const Result r = run(Settings("traffic.load=0.0"));
  EXPECT_FALSE(r.saturated);
  EXPECT_TRUE(r.window_capped);
  EXPECT_EQ(r.measured_cycles, 20000u);
  EXPECT_TRUE(std::isnan(r.latency_cycles.mean));
}

/// Past saturation the latency never settles, so only the throughput decides when warm-up and window end.
TEST(AutomaticWindow, PastSaturationIsThatOfTheAcceptedLoad) {
  for (const double load : {0.42, 0.5, 0.8}) {
    const Result r =
        run(Settings("topology.kind=mesh topology.shape=[8,8] traffic.load=", load, " run.precision=0.02"));
    EXPECT_TRUE(r.saturated) << load;
    EXPECT_TRUE(r.warmup_steady) << load;
    EXPECT_FALSE(r.window_capped) << load;
    EXPECT_TRUE(std::isnan(r.latency_cycles.mean)) << load;
    EXPECT_NEAR(r.accepted, 0.4, 0.015) << load;
    EXPECT_LT(r.cycles, 20000u) << load;
  }
}

std::vector<Experiment> several_loads() {
  std::vector<Experiment> list;
  for (double load : {0.05, 0.3, 0.42, 0.9})
    list.push_back(experiment("topology.kind=mesh topology.shape=[8,8] traffic.load=", load));
  return list;
}

/// Each replica ends its own window. The end does not depend on other replicas, their order or the number of threads.
TEST(AutomaticWindow, IsTheSameBesideOthers) {
  const std::vector<Experiment> loads = several_loads();
  const std::vector<Result> together = run_job(loads, {"cpu", 1, false}, nullptr),
                            turned = run_job({loads.rbegin(), loads.rend()}, {"cpu", 3, false}, nullptr);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    expect_same(together[i], turned[loads.size() - 1 - i]);
    expect_same(together[i], run_job({loads[i]}, {"cpu", 2, false}, nullptr).front());
  }
}

struct Stop {};

/// A job that is stopped after every few epochs and resumed from its checkpoint gives the same results.
TEST(AutomaticWindow, IsTheSameResumed) {
  const std::vector<Experiment> loads = several_loads();
  const std::string path = testing::temporary(".checkpoint");
  std::vector<Result> resumed;
  for (u32 pieces = 0; resumed.empty(); ++pieces) {
    ASSERT_LT(pieces, 10000u);
    try {
      u32 epochs = 0;
      resumed = run_job(loads, {"cpu", 1, false},
                        [&](const Progress&) {
                          if (++epochs == 7) throw Stop{};
                        },
                        {path, 1e9});
    } catch (const Stop&) {
    }
  }
  std::filesystem::remove(path);
  const std::vector<Result> whole = run_job(loads, {"cpu", 1, false}, nullptr);
  for (std::size_t i = 0; i < loads.size(); ++i) expect_same(whole[i], resumed[i]);
}

struct Fixed {
  RawConfig config;
  u64 warmup, drain, hash;
  double latency, ci95, accepted;
};

/// Runs with a fixed window, and the warm-up before it, give the results of the version without automatic windows,
/// except for the confidence intervals.
TEST(FixedWindow, IsAsEver) {
  const double none = kNotMeasured;
  const RawConfig mesh = Settings("topology.kind=mesh topology.shape=[8,8]");
  const auto with = [](RawConfig config, const RawConfig& more) {
    for (const auto& [path, value] : more) config[path] = value;
    return config;
  };
  const Fixed kRuns[] = {
      {with(mesh, Settings("traffic.load=0.1")), 8000, 500, 0x306098695610efa9, 36.658110882956876, 0.61069537975391719,
       0.10090625},
      {with(mesh, Settings("traffic.load=0.38")), 8000, 500, 0x3c3572ebead2718b, 65.94469971349803, 3.3808002885132478,
       0.3858958333333333},
      {with(mesh, Settings("traffic.load=0.42")), 41500, 0, 0xb090cbf61a74f284, none, none, 0.4073125},
      {Settings("traffic.mode=request_reply traffic.load=0.5"), 8000, 500, 0x6039f103f7bd5882, 24.603538976566238,
       0.3201855482339091, 0.5230833333333333},
      {Settings("router.kind=bless traffic.self=false traffic.load=0.2"), 9000, 500, 0x8685fd697b17ecee,
       12.784051724137932, 0.15757120588662504, 0.1930625},
      {Settings("router.kind=t3e traffic.self=false topology.shape=[4,2,2] traffic.load=0.1"), 8000, 500,
       0x08ee7d55e7ef5d85, 29.646039603960396, 0.34523972146936882, 0.10064583333333334},
      {Settings("router.kind=switch traffic.load=0.8"), 100000, 0, 0xde91353aa22b1cf1, none, none, 0.718},
  };
  for (const Fixed& known : kRuns) {
    const Result r = run(with(known.config, Settings("run.measure_cycles=3000")));
    EXPECT_EQ(r.warmup_cycles, known.warmup);
    EXPECT_EQ(r.measured_cycles, 3000u);
    EXPECT_EQ(r.drain_cycles, known.drain);
    EXPECT_EQ(r.state_hash, known.hash);
    EXPECT_EQ(r.saturated, std::isnan(known.latency));
    EXPECT_EQ(r.warmup_steady, known.warmup < 100000);
    EXPECT_DOUBLE_EQ(r.accepted, known.accepted);
    if (r.saturated) continue;
    EXPECT_DOUBLE_EQ(r.latency_cycles.mean, known.latency);
    EXPECT_DOUBLE_EQ(r.latency_cycles.ci95, known.ci95);
  }
}

}  // namespace
}  // namespace flitlab::run_automatic_window_test
