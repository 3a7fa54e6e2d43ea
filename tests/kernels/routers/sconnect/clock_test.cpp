/// The distributed phase-locked loop of S-Connect (2.5, 3.3): arithmetic, a few steps derived by hand, registers that
/// control messages read, and files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "host/routers/sconnect/control.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/clock.hpp"
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/build.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/sconnect/clocks.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::sconnect_clock_test {
namespace {

using sconnect::i64;
using sconnect::kRadian;
using namespace testing;
using testing::sconnect_clocks::Clocks;
using testing::sconnect_clocks::Draw;
using testing::sconnect_clocks::resolved;

__extension__ using i128 = __int128;

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
  EXPECT_EQ(sconnect::scaled(kRadian / 4, 2), 1);    // 0.5 rounds up
  EXPECT_EQ(sconnect::scaled(kRadian / 4, -2), 0);   // -0.5 rounds up
  EXPECT_EQ(sconnect::scaled(kRadian / 4, -3), -1);  // -0.75
}

TEST(SconnectClock, ComparesExactly) {
  Draw draw{2};
  for (u32 i = 0; i < 200000; ++i) {
    sconnect::ClockTable c;
    c.range =
        1 + static_cast<i64>(draw.between(0, 500) * static_cast<double>(kRadian));  // up to the largest clock.range
    c.knee = static_cast<i64>(draw.between(0, 1) * static_cast<double>(c.range));
    c.outer_gain = 256 + draw.below(64 * 256 - 256 + 1);
    const i64 x = static_cast<i64>(draw.between(-1200, 1200) * static_cast<double>(kRadian));
    const i64 size = std::min(std::abs(x), c.range);
    const i128 magnitude = size <= c.knee ? i128{size} : c.knee + i128{size - c.knee} * c.outer_gain / 256;
    ASSERT_EQ(sconnect::compared(c, x), static_cast<i64>(x < 0 ? -magnitude : magnitude));
    ASSERT_EQ(sconnect::compared(c, -x), -sconnect::compared(c, x));
  }
}

/// Phases wrap at 2^32 rad; fifo depths are right across the wrap.
TEST(SconnectClock, DepthsAreRightWhereverPhasesAre) {
  Draw draw{3};
  for (u32 i = 0; i < 100000; ++i) {
    const u64 own = u64{draw.next()} << 32 | draw.next(), offset = u64{draw.next()} << 32 | draw.next();
    const i64 depth = static_cast<i64>(u64{draw.next()} << 32 | draw.next()) >> (2 + draw.below(61));
    const u64 far = own + static_cast<u64>(depth) - offset, inbox_word = sconnect::inbox_word_of(far);
    ASSERT_NE(inbox_word, 0u);
    ASSERT_EQ(sconnect::depth_of(inbox_word, offset, own), depth);
  }
}

/// A fifo holds 2 rad in either direction; a word is 2 pi rad. The far clock goes to 3, which is 1 rad too far, and
/// then by 3 rad a step: 4 and 7 rad too far. 7 rad are a lost word and 0.72 rad; the next steps are 3.72 and 6.72 rad,
/// a second lost word and 0.43. A step back by 5 rad, to -3, is 1 rad beyond an empty fifo: -0.57 rad; then -5.57 and
/// -10.57 rad, which is a repeated word and -4.28.
TEST(SconnectClock, AFullFifoStaysFullAndLosesWords) {
  sconnect::ClockTable c;
  c.range = 2 * kRadian;
  c.word = std::llround(2 * kPi * static_cast<double>(kRadian));
  sconnect::Fifo fifo{};
  struct Step {
    i64 far, words, depth;
  };
  const auto receive = [&](const Step& s) {
    EXPECT_EQ(sconnect::receive_phase(c, fifo, sconnect::inbox_word_of(static_cast<u64>(s.far * kRadian)), 0), s.words)
        << s.far;
    EXPECT_EQ(fifo.depth, s.depth * kRadian) << s.far;
  };
  for (const Step& s : {Step{1, 0, 1}, {3, 0, 2}, {6, 0, 2}, {9, 1, 2}, {12, 0, 2}, {15, 1, 2}}) receive(s);
  EXPECT_EQ(fifo.overflows, 2u);
  EXPECT_NEAR(static_cast<double>(fifo.lost) / static_cast<double>(kRadian), 13 - 4 * kPi, 1e-8);
  for (const Step& s : {Step{10, 0, -2}, {5, 0, -2}, {0, -1, -2}, {2, 0, 0}, {3, 0, 1}}) receive(s);
  EXPECT_EQ(fifo.underflows, 1u);
  EXPECT_NEAR(static_cast<double>(fifo.lost) / static_cast<double>(kRadian), 2 - 2 * kPi, 1e-8);
  // After a restart the fifo is half full, whatever its depth was before.
  fifo.stream = sconnect::Stream::kStopped;
  for (const Step& s : {Step{100, 0, 0}, {101, 0, 1}}) receive(s);
}

Experiment two_tics(const TextFile& file, RawConfig changes = {}) {
  changes.merge(
      Settings("topology.kind=mesh topology.shape=[2] topology.channel_delay=6 clock.cable_phase=0.0 "
               "clock.tuning=20000.0 clock.gain=0.25 clock.file=",
               file.path));
  return resolved(changes);
}

/// Two TICs have phases 1 and 0, one frequency, a delay of one routing cycle and gain K = 1/4. In cycle 0 no phase has
/// arrived. Cycle 1: TIC 0 receives the phase of TIC 1 in cycle 0; the difference is 0 - 1 = -1, so TIC 0 goes to 3/4
/// and TIC 1 to 1/4. Cycle 2: the differences are 0 - 3/4 and 1 - 1/4, so the TICs go to 9/16 and 7/16. Cycle 3: the
/// differences are 1/4 - 9/16 = -5/16 and 3/4 - 7/16, so they go to 31/64 and 33/64.
TEST(SconnectClock, TwoByHand) {
  const TextFile file("0,0,1\n1,0,0\n");
  Clocks net(two_tics(file));
  const double phases[][2] = {{1, 0}, {1, 0}, {0.75, 0.25}, {9 / 16.0, 7 / 16.0}, {31 / 64.0, 33 / 64.0}};
  for (const auto& phase : phases) {
    for (u32 tic : {0u, 1u}) EXPECT_EQ(net.rad(tic, "clock_phase"), phase[tic]) << net.engine->now();
    net.step(1);
  }
}

/// The two TICs with a knee at 1/2, beyond which the gain is three times as large, and cables of length 0. |x| = 1
/// counts as 1/2 + 3/2 = 2, so the first step is 1/2, and both phases are 1/2. Then 0 - 1/2 is at the knee, and the
/// step is 1/8. A tuning range of 1000 ppm, 0.012 pi rad per cycle, limits the first steps and sets a flag.
TEST(SconnectClock, TwoByHandBeyondTheKneeAndAtTheLimit) {
  const TextFile file("0,0,1\n1,0,0\n");
  Clocks steep(two_tics(file, Settings("clock.knee=0.5 clock.outer_gain=3.0")));
  steep.step(2);
  EXPECT_EQ(steep.rad(0, "clock_phase"), 0.5);
  EXPECT_EQ(steep.rad(1, "clock_phase"), 0.5);
  EXPECT_EQ(steep.get(0, "clock_limit"), 0u);
  steep.step(1);
  EXPECT_EQ(steep.rad(0, "clock_phase"), 0.375);
  EXPECT_EQ(steep.rad(1, "clock_phase"), 0.625);
  Clocks limited(two_tics(file, Settings("clock.tuning=1000.0")));
  limited.step(2);
  EXPECT_NEAR(limited.rad(0, "clock_phase"), 1 - 0.012 * kPi, 1e-9);
  EXPECT_NEAR(limited.rad(1, "clock_rate"), 0.012 * kPi, 1e-9);
  EXPECT_EQ(limited.get(0, "clock_limit"), 1u);
  EXPECT_EQ(limited.get(1, "clock_limit"), 1u);
}

/// Open loops. One oscillator is 20000 ppm, or 0.12 words per routing cycle, faster; the range of the fifo is 4 rad. By
/// cycle 100 TIC 0 has received the words of 99 cycles: 11.88 words, of which the fifo has kept 1 / pi = 0.318. TIC 1
/// has advanced by 12 words.
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

/// Control messages read the registers of a fifo.
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
    expect_in(why, message_of([&] { make_plan(two_tics(file)); }));
  };
  fails("7,0\n", "there is no TIC \"7\"");
  fails("0\n", "a line is TIC,ppm");
  fails("0,fast\n", "ppm must be a number");
  fails("0,100001\n", "ppm must be a number from -100000 to 100000");
  fails("0,nan\n", "ppm must be a number");
  fails("0,0,1e4\n", "rad must be a number from -1000 to 1000");
  fails("0,0\n0,1\n", "already has a line");
  const TextFile twice("0a,0\n0b,1\n");
  EXPECT_THROW(make_plan(two_tics(twice, Settings("topology.node=dual"))), ConfigError);
}

}  // namespace
}  // namespace flitlab::sconnect_clock_test
