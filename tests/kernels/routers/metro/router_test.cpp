/// Word-level behaviour of a METRO router (METRO, 4 and 5.1).
#include <gtest/gtest.h>

#include "tests/support/build.hpp"
#include "tests/support/metro/one_router.hpp"

namespace flitlab::metro_router_test {
namespace {

using metro::Kind;
using metro::make_word;
using metro::PortState;
using namespace testing;

/// With two stages of radix 2 the header's two bits are the top bits of its word. The first router uses the first bit.
TEST(MetroRouter, TakesLeadingBitsAndPassesTheRestOn) {
  for (u32 direction : {0u, 1u}) {
    OneRouter r;
    r.data(0, direction << 7 | 1 << 6 | 0b10101);
    r.step();
    ASSERT_EQ(r.port(0).state, PortState::kForward);
    EXPECT_EQ(r.port(0).out / 2, direction);
    // The router has shifted the word up by the bit that it used.
    EXPECT_EQ(r.sent_forward(r.port(0).out), make_word(Kind::kData, 1 << 7 | 0b101010));
  }
}

TEST(MetroRouter, SwallowsAnExhaustedWord) {
  OneRouter r(
      Settings("router.width=2 topology.radix=[4,2] topology.dilation=[1,1] router.max_dilation=1 topology.links=1"));
  r.data(0, 3);
  r.step();
  ASSERT_EQ(r.port(0).state, PortState::kForward);
  EXPECT_EQ(r.port(0).out, 3);
  EXPECT_EQ(r.sent_forward(3), 0u);
  r.data(0, 2);
  r.step();
  EXPECT_EQ(r.sent_forward(3), make_word(Kind::kData, 2));
}

/// With hw = 3 (header words) the direction is in the first word. The router allocates the port when the third word
/// arrives, and forwards the fourth.
TEST(MetroRouter, ConsumesHeaderWordsWhileItSetsUp) {
  OneRouter r(Settings("router.header_words=3"));
  r.data(0, 1 << 7);
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kSetup);
  r.data(0, 0);
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kSetup);
  r.data(0, 0);
  r.step();
  ASSERT_EQ(r.port(0).state, PortState::kForward);
  const u32 out = r.port(0).out;
  EXPECT_EQ(out / 2, 1u);
  EXPECT_EQ(r.sent_forward(out), 0u);
  r.data(0, 0x5A);
  r.step();
  EXPECT_EQ(r.sent_forward(out), make_word(Kind::kData, 0x5A));
}

/// If a connection ends during setup, the router keeps no state of it.
TEST(MetroRouter, DiscardsAnIncompleteHeader) {
  OneRouter r(Settings("router.header_words=3"));
  r.data(0, 1 << 7);
  r.step();
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kIdle);
}

/// If TURN arrives in cycle t, the router sends STATUS with the port, then the checksum. Two cycles later, with dp = 1
/// and a wire without stages, the words of the far end follow. A TURN from there reverses the connection again, any
/// number of times.
TEST(MetroRouter, TurnsAnyNumberOfTimes) {
  OneRouter r;
  r.data(0, 0);
  r.step();
  const u32 out = r.port(0).out;
  u32 sum = 0;
  for (u32 round = 0; round < 5; ++round) {
    for (u32 k = 0; k < 3; ++k) {  // words in the forward direction
      const u32 payload = 17 * round + k;
      r.data(0, payload);
      r.step();
      EXPECT_EQ(r.sent_forward(out), make_word(Kind::kData, payload));
      sum = metro::add_to_checksum(sum, payload, 8);
    }
    r.put(0, make_word(Kind::kTurn));
    r.step();
    EXPECT_EQ(r.sent_forward(out), make_word(Kind::kTurn));
    EXPECT_EQ(r.sent(0), make_word(Kind::kStatus, out));
    r.step();
    EXPECT_EQ(r.sent(0), make_word(Kind::kStatus, sum));
    sum = 0;
    r.data(r.backward(out), 99 + round);  // words in the reverse direction
    r.step();
    EXPECT_EQ(r.sent(0), make_word(Kind::kData, 99 + round));
    r.put(r.backward(out), make_word(Kind::kIdle));
    r.step();
    EXPECT_EQ(r.sent(0), make_word(Kind::kIdle));
    r.put(r.backward(out), make_word(Kind::kTurn));
    r.step();
    EXPECT_EQ(r.sent(0), make_word(Kind::kTurn));
    EXPECT_EQ(r.sent_forward(out), make_word(Kind::kStatus, out));
    r.step();
    EXPECT_EQ(r.sent_forward(out), make_word(Kind::kStatus, metro::add_to_checksum(0, 99 + round, 8)));
    r.put(0, make_word(Kind::kIdle));
    r.step();
    EXPECT_EQ(r.sent_forward(out), make_word(Kind::kIdle));
  }
  r.put(0, make_word(Kind::kDrop));
  r.step();
  EXPECT_EQ(r.sent_forward(out), make_word(Kind::kDrop));
  EXPECT_EQ(r.port(0).state, PortState::kIdle);
}

/// With dp = 2 and wires of 3 stages the router itself sends 2 (2 + 3) words after a TURN.
TEST(MetroRouter, WaitsAsLongAsItsWireIs) {
  OneRouter r(Settings("router.pipeline_stages=2 topology.wire_delay=3"));
  r.data(0, 0);
  r.step();
  const u32 out = r.port(0).out;
  r.put(0, make_word(Kind::kTurn));
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kReverse);
  for (u32 k = 0; k < 9; ++k) {
    EXPECT_EQ(r.port(0).count, k + 1);
    r.data(r.backward(out), 1);  // too early, so the router ignores it
    r.step();
  }
  EXPECT_EQ(r.port(0).count, 10u);
  EXPECT_EQ(r.port(0).words, 0u);
  r.data(r.backward(out), 1);
  r.step();
  EXPECT_EQ(r.port(0).words, 1u);
}

TEST(MetroRouter, AnUndrivenWireClosesAConnection) {
  OneRouter r;
  r.data(0, 0);
  r.step();
  const u32 out = r.port(0).out;
  r.step();
  EXPECT_EQ(r.sent_forward(out), make_word(Kind::kDrop));
  EXPECT_EQ(r.port(0).state, PortState::kIdle);
}

/// When the backward control bit arrives, the router sends DROP to the far end, sends the bit on to the source, and
/// discards the words that follow.
TEST(MetroRouter, PassesTheBackwardControlBitOn) {
  OneRouter r;
  r.data(0, 0);
  r.step();
  const u32 out = r.port(0).out;
  r.data(0, 5);
  r.put(r.backward(out), make_word(Kind::kBackDrop));
  r.step();
  EXPECT_EQ(r.sent(0), make_word(Kind::kBackDrop));
  EXPECT_EQ(r.sent_forward(out), make_word(Kind::kDrop));
  EXPECT_EQ(r.port(0).state, PortState::kDiscard);
  r.data(0, 0xFF);
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kDiscard);
  EXPECT_EQ(r.sent_forward(out), 0u);
  r.put(0, make_word(Kind::kDrop));
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kIdle);
}

}  // namespace
}  // namespace flitlab::metro_router_test
