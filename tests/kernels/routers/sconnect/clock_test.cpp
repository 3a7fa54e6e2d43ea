/// The distributed phase-locked loop of S-Connect (2.5, 3.3): its arithmetic, a few steps by hand, the whole against a
/// second account in floating point, lock, and oscillators that are faulty.
#include <gtest/gtest.h>

#include <set>

#include "host/routers/sconnect/control.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/clock.hpp"
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/naive_clocks.hpp"

namespace flitlab::sconnect_clock_test {
namespace {

using sconnect::i64;
using sconnect::kRadian;
using testing::experiment;
using testing::integer;
using testing::kPi;
using testing::NaiveChannel;
using testing::NaiveClocks;
using testing::radians;
using testing::TextFile;
using testing::word;

__extension__ using i128 = __int128;

RawConfig clocks(RawConfig changes) {
  changes.insert({{"router.kind", word("sconnect")}, {"clock.emulated", true}});
  if (!changes.contains("traffic.mode")) changes["traffic.load"] = 0.0;
  return changes;
}

/// Without the shape that other models' tests want.
Experiment resolved(const RawConfig& changes) { return Experiment::resolve(clocks(changes), "."); }

struct Clocks : testing::Network {
  explicit Clocks(const Experiment& e) : Network(e), fabric(dynamic_cast<SconnectPlan&>(*plan).fabric()) {}

  u64 get(u32 tic, const std::string& name) const { return sconnect_register(*engine, table(), tic, name); }
  u64 get(u32 tic, const char* name, u32 port) const { return get(tic, name + ("." + std::to_string(port))); }
  double rad(u32 tic, const std::string& name) const { return radians(get(tic, name)); }
  void set(u32 tic, const std::string& name, u64 value) { set_sconnect_register(*engine, table(), tic, name, value); }
  const sconnect::Table& table() const { return dynamic_cast<const SconnectPlan&>(*plan).table(); }

  /// Largest frequency less the least, ppm, of all TICs but one.
  double spread(u32 without = kNone) const {
    double least = INFINITY, most = -INFINITY;
    for (u32 tic = 0; tic < fabric.tics; ++tic) {
      if (tic == without) continue;
      least = std::min(least, rad(tic, "clock_rate"));
      most = std::max(most, rad(tic, "clock_rate"));
    }
    return (most - least) / (12e-6 * kPi);
  }

  const SconnectFabric& fabric;
};

struct Draw {
  u32 seed;
  u32 n = 0;
  u32 next() { return philox(seed, 0x5C, 0, n++).word[0]; }
  u32 below(u32 most) { return next() % most; }
  double between(double a, double b) { return a + (b - a) * unit_interval(next()); }
};

TEST(SconnectClock, ScalesExactly) {
  Draw draw{1};
  for (u32 i = 0; i < 200000; ++i) {
    const i64 gain = i < 4 ? i64{1} << 30 : draw.next() % ((1u << 30) + 1);
    const u64 bits = u64{draw.next()} << 32 | draw.next();
    i64 y = static_cast<i64>(bits) >> (2 + draw.below(60));
    if (i < 4) y = (i & 1 ? -1 : 1) * ((i64{1} << 62) - 1 - (i >> 1));
    const i128 exact = (i128{gain} * y + (i64{1} << 31)) >> 32;
    ASSERT_EQ(sconnect::scaled(gain, y), static_cast<i64>(exact)) << gain << " " << y;
  }
  EXPECT_EQ(sconnect::scaled(kRadian / 4, 2), 1);    // 0.5 upward
  EXPECT_EQ(sconnect::scaled(kRadian / 4, -2), 0);   // -0.5 upward
  EXPECT_EQ(sconnect::scaled(kRadian / 4, -3), -1);  // -0.75
}

TEST(SconnectClock, ComparesExactly) {
  Draw draw{2};
  for (u32 i = 0; i < 200000; ++i) {
    sconnect::ClockTable c;
    c.range =
        1 + static_cast<i64>(draw.between(0, 500) * static_cast<double>(kRadian));  // the most that clock.range allows
    c.knee = static_cast<i64>(draw.between(0, 1) * static_cast<double>(c.range));
    c.outer_gain = 256 + draw.below(64 * 256 - 256 + 1);
    const i64 x = static_cast<i64>(draw.between(-1200, 1200) * static_cast<double>(kRadian));
    const i64 size = std::min(std::abs(x), c.range);
    const i128 said = size <= c.knee ? i128{size} : c.knee + i128{size - c.knee} * c.outer_gain / 256;
    ASSERT_EQ(sconnect::compared(c, x), static_cast<i64>(x < 0 ? -said : said));
    ASSERT_EQ(sconnect::compared(c, -x), -sconnect::compared(c, x));
  }
}

/// Phases go round at 2^32 rad: a depth does not notice.
TEST(SconnectClock, DepthsAreRightWhereverPhasesAre) {
  Draw draw{3};
  for (u32 i = 0; i < 100000; ++i) {
    const u64 own = u64{draw.next()} << 32 | draw.next(), offset = u64{draw.next()} << 32 | draw.next();
    const i64 depth = static_cast<i64>(u64{draw.next()} << 32 | draw.next()) >> (2 + draw.below(61));
    const u64 far = own + static_cast<u64>(depth) - offset, mail = sconnect::mail_of(far);
    ASSERT_NE(mail, 0u);
    ASSERT_EQ(sconnect::depth_of(mail, offset, own), depth);
  }
}

/// A fifo of 2 rad either way, words of 2 pi. The far clock goes to 3, 1 rad too much, and on by 3 rad a step: 1, 4, 7
/// rad too much, which is a word and 0.72; 3.72, 6.72, the second word and 0.43. A step back by 5 rad, to -3, is 1 too
/// much for an empty fifo: -0.57; -5.57; -10.57, which is a word repeated, and -4.28.
TEST(SconnectClock, AFullFifoStaysFullAndLosesWords) {
  sconnect::ClockTable c;
  c.range = 2 * kRadian;
  c.word = std::llround(2 * kPi * static_cast<double>(kRadian));
  sconnect::Fifo fifo{};
  struct Step {
    i64 far, words, depth;
  };
  const auto hear = [&](const Step& s) {
    EXPECT_EQ(sconnect::hear(c, fifo, sconnect::mail_of(static_cast<u64>(s.far * kRadian)), 0), s.words) << s.far;
    EXPECT_EQ(fifo.depth, s.depth * kRadian) << s.far;
  };
  for (const Step& s : {Step{1, 0, 1}, {3, 0, 2}, {6, 0, 2}, {9, 1, 2}, {12, 0, 2}, {15, 1, 2}}) hear(s);
  EXPECT_EQ(fifo.overflows, 2u);
  EXPECT_NEAR(static_cast<double>(fifo.lost) / static_cast<double>(kRadian), 13 - 4 * kPi, 1e-8);
  for (const Step& s : {Step{10, 0, -2}, {5, 0, -2}, {0, -1, -2}, {2, 0, 0}, {3, 0, 1}}) hear(s);
  EXPECT_EQ(fifo.underflows, 1u);
  EXPECT_NEAR(static_cast<double>(fifo.lost) / static_cast<double>(kRadian), 2 - 2 * kPi, 1e-8);
  // Started anew it is half full, whatever came before.
  fifo.stream = sconnect::Stream::kStopped;
  for (const Step& s : {Step{100, 0, 0}, {101, 0, 1}}) hear(s);
}

Experiment two_tics(const TextFile& file, RawConfig changes = {}) {
  changes.insert({{"topology.kind", word("mesh")},
                  {"topology.shape", IntList{2}},
                  {"topology.channel_delay", integer(6)},
                  {"clock.cable_phase", 0.0},
                  {"clock.tuning", 20000.0},
                  {"clock.gain", 0.25},
                  {"clock.file", file.path}});
  return resolved(changes);
}

/// Phases 1 and 0, one frequency, a delay of one routing cycle, K = 1/4. Nothing has come in cycle 0. Cycle 1: TIC 0
/// hears the phase that TIC 1 had in cycle 0, 0 - 1 = -1, and goes to 3/4; TIC 1 to 1/4. Cycle 2: 0 - 3/4, to 9/16, and
/// 1 - 1/4, to 7/16. Cycle 3: 1/4 - 9/16 = -5/16, to 31/64, and 3/4 - 7/16, to 33/64.
TEST(SconnectClock, TwoByHand) {
  const TextFile file("0,0,1\n1,0,0\n");
  Clocks net(two_tics(file));
  const double phases[][2] = {{1, 0}, {1, 0}, {0.75, 0.25}, {9 / 16.0, 7 / 16.0}, {31 / 64.0, 33 / 64.0}};
  for (const auto& phase : phases) {
    for (u32 tic : {0u, 1u}) EXPECT_EQ(net.rad(tic, "clock_phase"), phase[tic]) << net.engine->now();
    net.step(1);
  }
}

/// The same with a knee at 1/2 and three times the gain beyond, and cables of 0: |x| = 1 counts as 1/2 + 3/2 = 2, so
/// the first step is 1/2, to 1/2 and 1/2; then 0 - 1/2 is at the knee, and the step 1/8. With a tuning range of 1000
/// ppm, 0.012 pi, the first steps are that, and the flag is up.
TEST(SconnectClock, TwoByHandBeyondTheKneeAndAtTheLimit) {
  const TextFile file("0,0,1\n1,0,0\n");
  Clocks steep(two_tics(file, {{"clock.knee", 0.5}, {"clock.outer_gain", 3.0}}));
  steep.step(2);
  EXPECT_EQ(steep.rad(0, "clock_phase"), 0.5);
  EXPECT_EQ(steep.rad(1, "clock_phase"), 0.5);
  EXPECT_EQ(steep.get(0, "clock_limit"), 0u);
  steep.step(1);
  EXPECT_EQ(steep.rad(0, "clock_phase"), 0.375);
  EXPECT_EQ(steep.rad(1, "clock_phase"), 0.625);
  Clocks limited(two_tics(file, {{"clock.tuning", 1000.0}}));
  limited.step(2);
  EXPECT_NEAR(limited.rad(0, "clock_phase"), 1 - 0.012 * kPi, 1e-9);
  EXPECT_NEAR(limited.rad(1, "clock_rate"), 0.012 * kPi, 1e-9);
  EXPECT_EQ(limited.get(0, "clock_limit"), 1u);
  EXPECT_EQ(limited.get(1, "clock_limit"), 1u);
}

/// Open loops, one of them 20000 ppm or 0.12 words a routing cycle faster, range 4 rad. In cycle 100 TIC 0 has heard
/// 99 cycles: 11.88 words, of which the fifo has kept 1 / pi = 0.318; TIC 1 has gone on by 12 words.
TEST(SconnectClock, SlipsOfOpenLoopsByHand) {
  const TextFile file("0,0,0\n1,20000,0\n");
  Clocks net(two_tics(file));
  for (u32 tic : {0u, 1u}) net.set(tic, "clock_on", 0);
  net.step(101);
  EXPECT_EQ(net.get(0, "overflows.0"), 11u);
  EXPECT_EQ(net.get(0, "underflows.0"), 0u);
  EXPECT_EQ(net.get(1, "overflows.0"), 0u);
  EXPECT_EQ(net.get(1, "underflows.0"), 11u);
  EXPECT_EQ(net.total(sconnect::Count::kSlips), 22u);
  EXPECT_EQ(net.get(0, "slips") + net.get(1, "slips"), 22u);
  EXPECT_EQ(net.rad(0, "fifo.0"), 2);
  EXPECT_EQ(net.rad(1, "fifo.0"), -2);
  EXPECT_EQ(net.rad(0, "clock_phase"), 0);
  net.step(1000);
  EXPECT_EQ(net.get(0, "overflows.0"), u32(0.12 * 1099 - 1 / kPi));
}

/// Fabrics of all kinds, by parameters.
std::vector<RawConfig> all_fabrics(const TextFile& graph) {
  return {{{"topology.kind", word("mesh")}, {"topology.shape", IntList{5}}},
          {{"topology.kind", word("mesh")}, {"topology.shape", IntList{4, 3}}},
          {{"topology.kind", word("mesh")}, {"topology.shape", IntList{3, 2, 3}}, {"topology.node", word("dual")}},
          {{"topology.kind", word("hypercube")}, {"topology.dimensions", integer(3)}},
          {{"topology.kind", word("hypercube")}, {"topology.dimensions", integer(5)}, {"topology.node", word("dual")}},
          {{"topology.kind", word("random")}, {"topology.nodes", integer(12)}},
          {{"topology.kind", word("tree")}, {"topology.arity", integer(3)}, {"topology.levels", integer(3)}},
          {{"topology.kind", word("tree")},
           {"topology.arity", integer(9)},
           {"topology.levels", integer(2)},
           {"topology.inner", word("switches")}},
          {{"topology.kind", word("graph")}, {"topology.file", graph.path}}};
}

class SconnectClocks : public ::testing::TestWithParam<u32> {};

/// Fabrics, delays and loops at random, slips among them, against the second account.
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

/// Frequencies become one, and nothing slips any more.
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

/// TICs of a node or switch have one oscillator: their copies never differ.
TEST(SconnectClock, TicsOfASiteShareAnOscillator) {
  const TextFile graph(testing::kSwitchedGraph);
  Clocks net(resolved({{"topology.kind", word("graph")}, {"topology.file", graph.path}}));
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

/// A hypercube of 8 whose TIC 5 is 400 ppm off, where oscillators can be pulled by 100.
constexpr u32 kFaulty = 5;

RawConfig faulty(const TextFile& file) {
  return {{"topology.kind", word("hypercube")},
          {"topology.dimensions", integer(3)},
          {"clock.gain", 0.002},
          {"clock.file", file.path}};
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

/// Diagnostics: all streams off but that from the faulty TIC to TIC 4, whose loop is open. The rate of its overflows is
/// the difference of the free-running frequencies, to within a word.
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
  // Streams that are turned on again find their fifos half full, and everything is as before.
  for (u32 tic = 0; tic < net.fabric.tics; ++tic) net.set(tic, "clock_sends", 15);
  net.step(3);
  EXPECT_NEAR(net.rad(0, "fifo.1"), 0, 0.1);
  EXPECT_EQ(net.get(0, "runs.1"), 1u);
}

/// Slips cost slots, not messages: each arrives once, quads too. Streams that are off for a while do no more harm.
TEST(SconnectClock, SlippedSlotsCostNoMessage) {
  const TextFile file("5,5000\n2,-3000\n");
  for (bool off : {false, true}) {
    RawConfig config = faulty(file);
    config["traffic.mode"] = word("batch");
    config["traffic.batch_packets"] = integer(400);
    config["traffic.packet_flits"] = Lengths{{1, 1.0}, {4, 1.0}};
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
              off);  // what is sent into a dead stream
    EXPECT_GT(net.total(sconnect::Count::kAnswersLost), 0u);
  }
}

/// In-band: the registers of a fifo, over a control message.
TEST(SconnectClock, ControlMessagesReadFifos) {
  const TextFile file("0,0,0\n1,20000,0\n");
  Clocks net(two_tics(file));
  for (u32 tic : {0u, 1u}) net.set(tic, "clock_on", 0);
  net.step(100);
  ControlRequest request;
  request.operation = "read_register";
  request.number =
      static_cast<u32>(sconnect::Register::kOfPort) + static_cast<u32>(sconnect::PortRegister::kUnderflows);
  request.hops = {0};
  send_sconnect_control(*net.engine, net.table(), 0, {request});
  net.step(30);
  const auto replies = take_sconnect_replies(*net.engine, net.table(), 0);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_GE(replies[0].value, 11u);
  EXPECT_LE(replies[0].value, net.get(1, "underflows.0"));
}

TEST(SconnectClock, FilesAreChecked) {
  const auto fails = [](const char* text, const char* why) {
    const TextFile file(text);
    try {
      make_plan(two_tics(file));
      ADD_FAILURE() << text;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  fails("7,0\n", "there is no TIC \"7\"");
  fails("0\n", "a line is TIC,ppm");
  fails("0,fast\n", "ppm is a number");
  fails("0,100001\n", "ppm is a number from -100000 to 100000");
  fails("0,nan\n", "ppm is a number");
  fails("0,0,1e4\n", "rad is a number from -1000 to 1000");
  fails("0,0\n0,1\n", "has a line already");
  const TextFile twice("0a,0\n0b,1\n");
  EXPECT_THROW(make_plan(two_tics(twice, {{"topology.node", word("dual")}})), ConfigError);
}

}  // namespace
}  // namespace flitlab::sconnect_clock_test
