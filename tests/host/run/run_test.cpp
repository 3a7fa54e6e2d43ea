/// Control of a run: detection of saturation, and of the end of the warm-up.
#include "host/run/run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_run_test {
namespace {

using namespace testing;

Result run(const Experiment& e) { return run_job({e}, {"cpu", 1, false}, nullptr).front(); }

struct Load {
  const char* name;
  const char* kind;
  const char* pattern;
  double saturation;  ///< flits/cycle/terminal
};

/// Saturation loads, found by `find_saturation` in Python with windows of 40000 cycles. Runs below and above them must
/// detect saturation correctly.
class Saturation : public ::testing::TestWithParam<Load> {
 protected:
  static Result at(double part, std::int64_t seed, const Value& warmup) {
    const Load& p = GetParam();
    return run(Experiment::resolve(
        Settings("topology.kind=", p.kind, " topology.shape=[8,8] routing.algorithm=dimension_order traffic.pattern=",
                 p.pattern, " traffic.load=", part * p.saturation, " run.warmup_cycles=", warmup, " run.seed=", seed),
        "."));
  }
};

TEST_P(Saturation, IsNotImaginedAtFourFifths) {
  for (std::int64_t seed = 1; seed <= 2; ++seed) {
    const Result r = at(0.8, seed, word("auto"));
    EXPECT_FALSE(r.saturated) << seed;
    EXPECT_TRUE(r.warmup_steady) << seed;
    EXPECT_LT(r.latency_cycles.ci95, 0.05 * r.latency_cycles.mean) << seed;
  }
}

TEST_P(Saturation, IsSeenATenthAbove) {
  for (std::int64_t seed = 1; seed <= 2; ++seed) EXPECT_TRUE(at(1.1, seed, integer(8000)).saturated) << seed;
}

INSTANTIATE_TEST_SUITE_P(Grids, Saturation,
                         ::testing::Values(Load{"mesh_uniform", "mesh", "uniform", 0.395},
                                           Load{"mesh_transpose", "mesh", "transpose", 0.145},
                                           Load{"mesh_tornado", "mesh", "tornado", 0.262},
                                           Load{"mesh_bit_complement", "mesh", "bit_complement", 0.236},
                                           Load{"mesh_hot_spot", "mesh", "hot_spot", 0.136},
                                           Load{"torus_uniform", "torus", "uniform", 0.508},
                                           Load{"torus_transpose", "torus", "transpose", 0.242},
                                           Load{"torus_tornado", "torus", "tornado", 0.19},
                                           Load{"torus_bit_complement", "torus", "bit_complement", 0.388},
                                           Load{"torus_hot_spot", "torus", "hot_spot", 0.134}),
                         [](const auto& p) { return p.param.name; });

/// Terminals 0 and 1 of a 4x4 mesh send to terminal 3, which accepts one flit per cycle. All others, including terminal
/// 3, send to themselves. Above a load of a third, these two terminals fall short, but by little relative to the total
/// of all sixteen.
struct TwoToOne {
  TwoToOne() : matrix(rows()) {}

  static std::string rows() {
    std::string text = "0,3,1\n1,3,1\n";
    for (int t = 2; t < 16; ++t) text += std::to_string(t) + "," + std::to_string(t) + ",1\n";
    return text;
  }
  Experiment at(double load, const RawConfig& more = {}) const {
    RawConfig raw = Settings{"topology.kind=mesh traffic.pattern=matrix traffic.matrix_file=", matrix.path.c_str(),
                             " traffic.load=", load};
    for (const auto& [path, value] : more) raw[path] = value;
    return testing::experiment(raw);
  }
  testing::TextFile matrix;
};

TEST(SaturatedSources, AreSeenThoughTheirShortfallIsSmall) {
  const TwoToOne network;
  const Result r = run(network.at(0.35, Settings("run.warmup_cycles=5000")));
  EXPECT_LT(r.offered - r.accepted, 0.02 * r.offered);
  EXPECT_TRUE(r.saturated);
  EXPECT_TRUE(std::isnan(r.latency_cycles.mean));
  for (std::int64_t seed = 1; seed <= 10; ++seed)
    EXPECT_FALSE(run(network.at(0.8 / 3, Settings("run.seed=", seed))).saturated) << seed;
}

TEST(Warmup, ReportsThatItReachedItsLimit) {
  const TwoToOne network;
  const RawConfig periodic = Settings("traffic.injection=periodic run.measure_cycles=10000");
  const Result growing = run(network.at(0.36, periodic)), steady = run(network.at(0.25, periodic));
  EXPECT_FALSE(growing.warmup_steady);
  EXPECT_EQ(growing.warmup_cycles, 200u * 500);
  EXPECT_TRUE(growing.saturated);
  EXPECT_TRUE(steady.warmup_steady);
  EXPECT_LT(steady.warmup_cycles, 200u * 500);
}

/// Before an automatic window flitlab recognises unbounded growth, so the run does not wait for latency to settle.
TEST(Warmup, EndsWhereGrowthIsDetected) {
  const TwoToOne network;
  const Result r = run(network.at(0.36, Settings("traffic.injection=periodic")));
  EXPECT_TRUE(r.saturated);
  EXPECT_TRUE(r.warmup_steady);
  EXPECT_LT(r.cycles, 20000u);
}

/// Bursts fill queues temporarily, which is not taken for unbounded growth.
TEST(Bursts, AreNoSaturation) {
  for (std::int64_t seed = 1; seed <= 10; ++seed)
    EXPECT_FALSE(
        run(testing::experiment("traffic.load=0.2 traffic.injection=on_off traffic.burst_cycles=100 run.seed=", seed))
            .saturated)
        << seed;
}

/// A machine that loses packets on a link when it breaks.
TEST(Losses, AreInTheResult) {
  const Result r =
      run(testing::experiment("router.kind=t3e traffic.load=0.9 faults.links=[3,0,17,1] faults.cycle=500 "
                              "faults.reroute_delay=100 run.measure_cycles=2000"));
  EXPECT_GT(r.packets.dropped, 0u);
  EXPECT_EQ(r.packets.created, r.packets.delivered + r.packets.dropped + r.packets.in_flight + r.packets.queued);
}

}  // namespace
}  // namespace flitlab::run_run_test
