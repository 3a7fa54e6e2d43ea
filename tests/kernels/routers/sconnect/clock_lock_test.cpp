/// Clocks of whole S-Connect fabrics (2.5, 3.3): agreement with a second implementation in floating point
/// (tests/support/sconnect/naive_clocks.hpp), lock, and faulty oscillators.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "host/routers/sconnect/control.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/sconnect/clocks.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/naive_clocks.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::sconnect_clock_lock_test {
namespace {

using sconnect::i64;
using namespace testing;
using testing::sconnect_clocks::Clocks;
using testing::sconnect_clocks::Draw;
using testing::sconnect_clocks::resolved;

/// Returns configurations of fabrics of all kinds.
std::vector<RawConfig> all_fabrics(const TextFile& graph) {
  return {Settings("topology.kind=mesh topology.shape=[5]"),
          Settings("topology.kind=mesh topology.shape=[4,3]"),
          Settings("topology.kind=mesh topology.shape=[3,2,3] topology.node=dual"),
          Settings("topology.kind=hypercube topology.dimensions=3"),
          Settings("topology.kind=hypercube topology.dimensions=5 topology.node=dual"),
          Settings("topology.kind=random topology.nodes=12"),
          Settings("topology.kind=tree topology.arity=3 topology.levels=3"),
          Settings("topology.kind=tree topology.arity=9 topology.levels=2 topology.inner=switches"),
          Settings("topology.kind=graph topology.file=", graph.path)};
}

class SconnectClocks : public ::testing::TestWithParam<u32> {};

/// Random fabrics, delays and loops, some of which slip (lose or repeat words), agree with the second implementation.
TEST_P(SconnectClocks, AgreeWithNaiveOnes) {
  const TextFile graph(testing::kSwitchedGraph);
  const std::vector<RawConfig> fabrics = all_fabrics(graph);
  u64 slipped = 0;
  for (u32 i = 0; i < fabrics.size(); ++i) {
    Draw draw{100 + GetParam() * 32 + i};
    RawConfig config = fabrics[i];
    config["topology.channel_delay"] = integer(6 * (1 + draw.below(4)));
    config["clock.seed"] = integer(draw.below(1000));
    config["clock.spread"] = draw.between(0, 3000);
    config["clock.phase_spread"] = draw.between(0, 3);
    config["clock.cable_phase"] = draw.between(0, 2);
    config["clock.gain"] = draw.between(0, draw.below(2) ? 0.05 : 0.005);
    config["clock.detector"] = word(draw.below(2) ? "sum" : "average");
    config["clock.range"] = draw.between(1, 12);
    config["clock.knee"] = draw.between(0, 4);
    config["clock.outer_gain"] = draw.between(1, 4);
    config["clock.tuning"] = draw.between(100, 5000);
    const Experiment e = resolved(config);
    Clocks net(e);
    NaiveClocks naive(e, net.fabric, *net.plan, *net.engine);
    for (u32 check = 0; check < 8; ++check) {
      for (u32 tic = 0; tic < net.fabric.tics; ++tic)
        ASSERT_NEAR(net.rad(tic, "clock_phase"), naive.phase(tic), 1e-5) << "fabric " << i << " TIC " << tic;
      for (const NaiveChannel& c : naive.channels()) {
        const i64 words = static_cast<i64>(net.get(c.tic, "overflows", c.port)) -
                          static_cast<i64>(net.get(c.tic, "underflows", c.port));
        ASSERT_NEAR(radians(net.get(c.tic, "fifo", c.port)), c.depth, 1e-5);
        ASSERT_NEAR(static_cast<double>(words), static_cast<double>(c.words) + c.full, 1.0);
      }
      net.step(check ? 100 : 3);
      for (u32 s = 0; s < (check ? 100 : 3); ++s) naive.step();
    }
    slipped += net.total(sconnect::Count::kSlips);
  }
  EXPECT_GT(slipped, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SconnectClocks, ::testing::Range(0u, 6u));

/// All frequencies become equal (lock), and then no more words slip.
TEST(SconnectClock, AllKindsOfFabricsLock) {
  const TextFile graph(testing::kSwitchedGraph);
  for (RawConfig config : all_fabrics(graph)) {
    config["clock.gain"] = 0.004;
    Clocks net(resolved(config));
    net.step(100000);
    EXPECT_LT(net.spread(), 0.01);
    const u64 slips = net.total(sconnect::Count::kSlips);
    net.step(5000);
    EXPECT_EQ(net.total(sconnect::Count::kSlips), slips);
    EXPECT_EQ(slips, 0u);
  }
}

/// The TICs of a node or switch share an oscillator: its state in each of these TICs never differs.
TEST(SconnectClock, TicsOfASiteShareAnOscillator) {
  const TextFile graph(testing::kSwitchedGraph);
  Clocks net(resolved(Settings("topology.kind=graph topology.file=", graph.path)));
  u32 pairs = 0;
  for (u32 n = 0; n < 200; ++n, net.step(7))
    for (u32 tic = 0; tic < net.fabric.tics; ++tic)
      for (u32 p = 4; p < 6; ++p) {
        const sconnect::Link& link = net.fabric.link(tic, p);
        if (link.kind != sconnect::LinkKind::kParallel) continue;
        ASSERT_EQ(net.get(tic, "clock_phase"), net.get(link.far, "clock_phase"));
        ++pairs;
      }
  EXPECT_GT(pairs, 0u);
}

/// In a hypercube of 8 TICs, TIC 5 is 400 ppm off; oscillators can be tuned by 100 ppm.
constexpr u32 kFaulty = 5;

RawConfig faulty(const TextFile& file) {
  return Settings("topology.kind=hypercube topology.dimensions=3 clock.gain=0.002 clock.file=", file.path);
}

TEST(SconnectClock, AFaultyOscillatorPreventsLockUntilItsPortsAreDisabled) {
  const TextFile file("5,400\n");
  Clocks net(resolved(faulty(file)));
  net.step(50000);
  EXPECT_GT(net.spread(), 200);
  EXPECT_EQ(net.get(kFaulty, "clock_limit"), 1u);
  const u64 slips = net.total(sconnect::Count::kSlips);
  net.step(10000);
  EXPECT_GT(net.total(sconnect::Count::kSlips), slips + 50);
  for (u32 tic = 0; tic < net.fabric.tics; ++tic) {
    const bool near = tic == (kFaulty ^ 1) || tic == (kFaulty ^ 2) || tic == (kFaulty ^ 4);
    if (tic == kFaulty) continue;
    EXPECT_EQ(net.get(tic, "slips") > 0, near) << tic;
    EXPECT_LT(net.get(tic, "slips"), net.get(kFaulty, "slips"));
  }
  for (u32 d : {0u, 1u, 2u}) net.set(kFaulty ^ 1u << d, "enabled", 63 & ~(1u << d));
  net.step(50000);
  const u64 before = net.total(sconnect::Count::kSlips);
  net.step(10000);
  EXPECT_LT(net.spread(kFaulty), 0.01);
  EXPECT_EQ(net.total(sconnect::Count::kSlips), before);
}

/// A diagnosis of oscillators: all streams are off except the one from the faulty TIC to TIC 4, whose loop is open. The
/// rate of overflows in its fifo is the difference of the free-running frequencies, to within a word.
TEST(SconnectClock, RatesOfSlipsAreDifferencesOfFrequency) {
  const TextFile file("5,400\n");
  Clocks net(resolved(faulty(file)));
  net.step(20000);
  for (u32 tic = 0; tic < net.fabric.tics; ++tic) net.set(tic, "clock_sends", tic == kFaulty);
  net.set(4, "clock_on", 0);
  net.step(1000);
  EXPECT_EQ(net.rad(kFaulty, "clock_rate"), net.rad(kFaulty, "clock_free"));
  EXPECT_EQ(net.get(kFaulty, "runs.0"), 0u);
  EXPECT_EQ(net.get(4, "runs.0"), 1u);
  EXPECT_EQ(net.get(4, "runs.1"), 0u);
  const u64 before = net.get(4, "overflows.0"), others = net.total(sconnect::Count::kSlips);
  const u32 cycles = 20000;
  net.step(cycles);
  const u64 words = net.get(4, "overflows.0") - before;
  EXPECT_EQ(net.total(sconnect::Count::kSlips) - others, words);
  const double apart = net.rad(kFaulty, "clock_free") - net.rad(4, "clock_free");
  EXPECT_NEAR(static_cast<double>(words) * 2 * kPi, apart * cycles, 2 * kPi);
  // When streams are turned on again, their fifos are half full, and the fabric continues as before.
  for (u32 tic = 0; tic < net.fabric.tics; ++tic) net.set(tic, "clock_sends", 15);
  net.step(3);
  EXPECT_NEAR(net.rad(0, "fifo.1"), 0, 0.1);
  EXPECT_EQ(net.get(0, "runs.1"), 1u);
}

/// Slips cost slots, not messages: each message and each quad arrives once, even if some streams are off for a while.
TEST(SconnectClock, SlippedSlotsCostNoMessage) {
  const TextFile file("5,5000\n2,-3000\n");
  for (bool off : {false, true}) {
    RawConfig config = faulty(file);
    set(config, "traffic.mode=batch traffic.batch_packets=400 traffic.packet_flits=[[1,1.0],[4,1.0]]");
    Experiment e = resolved(config);
    testing::Network net(e, {"cpu", 1, true, 1});
    std::set<std::pair<u32, u32>> arrived;
    const sconnect::Table& table = dynamic_cast<const SconnectPlan&>(*net.plan).table();
    const u64 all = 8 * 400;
    while (net.engine->now() < 100000 && arrived.size() < all) {
      if (off && net.engine->now() == 500)
        for (u32 tic : {1u, 4u, 6u}) set_sconnect_register(*net.engine, table, tic, "clock_sends", 9);
      if (off && net.engine->now() == 2000)
        for (u32 tic : {1u, 4u, 6u}) set_sconnect_register(*net.engine, table, tic, "clock_sends", 15);
      net.step(50);
      for (const std::vector<Event>& list : net.engine->take_events(0))
        for (const Event& event : list)
          EXPECT_TRUE(event.kind != EventKind::kDelivered || arrived.emplace(event.src, event.id).second);
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0));
    }
    EXPECT_EQ(arrived.size(), all);
    EXPECT_GT(net.total(sconnect::Count::kSlotsHit), 20u);
    EXPECT_EQ(net.total(sconnect::Count::kSlotsHit) > net.total(sconnect::Count::kSlips),
              off);  // also slots sent into streams that are off
    EXPECT_GT(net.total(sconnect::Count::kAnswersLost), 0u);
  }
}

}  // namespace
}  // namespace flitlab::sconnect_clock_lock_test
