/// Directions whose bits straddle two header words (METRO, Table 4: hbits), tested word by word and in clocks.
#include <gtest/gtest.h>

#include <string>

#include "host/routers/metro/registers.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/one_router.hpp"

namespace flitlab::metro_straddle_test {
namespace {

using metro::Kind;
using metro::make_word;
using metro::PortState;
using metro::Word;
using namespace testing;

/// Configuration with radices 2, 4 and 2 and words of two bits: the router of the second stage finds one bit of its
/// direction in each word.
RawConfig narrow(RawConfig changes = {}) {
  changes.merge(Settings("topology.radix=[2,4,2] topology.dilation=[2,1,1] router.width=2"));
  return changes;
}

/// A router of the second stage. The test writes words to its wires by hand.
class SecondStage {
 public:
  explicit SecondStage(RawConfig changes = {}) : net_(narrow(std::move(changes)), 0, 1, kNeverCreated, 30) {
    while (net_.network().setup[router_].stage != 1) ++router_;
  }
  void put(u32 port, Word w) { net_.put_at_router(router_, port, w); }
  void data(u32 port, u32 payload) { put(port, make_word(Kind::kData, payload)); }
  void step() { net_.step(1); }
  metro::ForwardPort port(u32 p) const { return net_.forward(router_, p); }
  Word sent(u32 flat) const {
    const metro::Wire& wire = net_.network().wire(router_, flat);
    return net_.at_router(wire.item, wire.port);
  }
  Word sent_forward(u32 out) const { return sent(net_.table().inputs + out); }
  u32 used() { return net_.field<metro::RouterControl>(0, "control")[router_].used; }
  MetroNet& net() { return net_; }
  u32 router() const { return router_; }

 private:
  MetroNet net_;
  u32 router_ = 0;
};

TEST(MetroStraddle, TheRestOfADirectionIsInTheNextWord) {
  for (u32 direction = 0; direction < 4; ++direction) {
    SecondStage r;
    r.data(0, direction >> 1 << 1);
    r.step();
    ASSERT_EQ(r.port(0).state, PortState::kSetup);
    EXPECT_EQ(r.used(), 0u);
    r.data(0, (direction & 1) << 1 | 1);
    r.step();
    ASSERT_EQ(r.port(0).state, PortState::kForward);
    EXPECT_EQ(r.port(0).out, direction);
    // The router has shifted the word up by the bit that it used.
    EXPECT_EQ(r.sent_forward(direction), make_word(Kind::kData, 0b10));
    r.data(0, 0b01);
    r.step();
    EXPECT_EQ(r.sent_forward(direction), make_word(Kind::kData, 0b01));
  }
}

/// If the second word is not data, the router keeps no state of the first one.
TEST(MetroStraddle, DiscardsAHeaderCutBetweenItsWords) {
  for (Word second : {Word{0}, make_word(Kind::kDrop), make_word(Kind::kTurn), make_word(Kind::kIdle)}) {
    SecondStage r;
    r.data(0, 0b10);
    r.step();
    r.put(0, second);
    r.step();
    EXPECT_EQ(r.port(0).state, PortState::kIdle);
    EXPECT_EQ(r.used(), 0u);
    for (u32 out = 0; out < 4; ++out) EXPECT_EQ(r.sent_forward(out), 0u);
    EXPECT_EQ(r.sent(0), 0u);
  }
}

/// A router allocates a port when the second word arrives, so the order of the first words does not matter.
TEST(MetroStraddle, TheLaterSecondWordIsBlocked) {
  SecondStage r;
  r.data(0, 0b10);
  r.step();
  r.data(0, 0b10);
  r.data(1, 0b10);
  r.step();
  ASSERT_EQ(r.port(0).state, PortState::kForward);
  ASSERT_EQ(r.port(1).state, PortState::kSetup);
  r.data(0, 0);
  r.data(1, 0b10);
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kForward);
  EXPECT_EQ(r.port(1).state, PortState::kDiscard);
  EXPECT_EQ(r.sent(1), make_word(Kind::kBackDrop));
}

/// STATUS contains the whole direction. The checksum covers the words after the one that contains the direction's last
/// bit.
TEST(MetroStraddle, ABlockedConnectionIsAnsweredInDetail) {
  SecondStage r(Settings("router.fast_reclaim=false"));
  for (u32 p : {0u, 1u}) r.data(p, 0b11);
  r.step();
  for (u32 p : {0u, 1u}) r.data(p, 0b01);
  r.step();
  const u32 blocked = r.port(0).state == PortState::kBlocked ? 0 : 1;
  ASSERT_EQ(r.port(blocked).state, PortState::kBlocked);
  r.data(blocked, 0b11);
  r.step();
  r.put(blocked, make_word(Kind::kTurn));
  r.step();
  EXPECT_EQ(r.sent(blocked), make_word(Kind::kBlocked, 0b10));
  r.step();
  EXPECT_EQ(r.sent(blocked), make_word(Kind::kBlocked, 0b11));
}

/// If a port is disabled between the two words, the router discards the first one.
TEST(MetroStraddle, APortCanBeSwitchedOffBetweenTheWords) {
  SecondStage r;
  r.data(0, 0b10);
  r.step();
  ASSERT_EQ(r.port(0).state, PortState::kSetup);
  const auto switch_port = [&](u64 on) {
    MetroRegisters registers(r.net().engine(), 0, r.net().table());
    registers.set(r.router(), "on.f0", on, r.net().network());
  };
  switch_port(0);
  r.data(0, 0b10);
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kIdle);
  EXPECT_EQ(r.used(), 0u);
  switch_port(1);
  r.data(0, 0b01);  // the first word of another message
  r.step();
  EXPECT_EQ(r.port(0).state, PortState::kSetup);
  r.data(0, 0b11);
  r.step();
  EXPECT_EQ(r.port(0).out, 0b01u);
}

/// The header to endpoint 0b1101 has the direction bits 1, 10 and 1: words 11 and 01. The first router forwards 10. The
/// second one waits for another word and then forwards 10 as well.
TEST(MetroStraddle, OfTheWordsOnTheWires) {
  MetroNet net(narrow(), 0, 0b1101, 10, 30);
  net.step(net.start() + 1);
  const metro::Wire entry = net.network().leaving(0, net.source().link);
  const auto seen = [&](u32 stage) {  // words seen at the routers of a stage
    Word all = 0;
    for (u32 r = 0; r < net.network().routers(); ++r)
      for (u32 p = 0; net.network().setup[r].stage == stage && p < net.network().setup[r].forward; ++p)
        all |= net.at_router(r, p);
    return all;
  };
  const auto data = [](u32 payload) { return make_word(Kind::kData, payload); };
  EXPECT_EQ(net.at_router(entry.item, entry.port), data(0b11));  // clock 1
  net.step();
  EXPECT_EQ(seen(0), data(0b01));
  EXPECT_EQ(seen(1), data(0b10));
  net.step();
  EXPECT_EQ(seen(1), data(0b01));
  EXPECT_EQ(seen(2), 0u);
  net.step();
  EXPECT_EQ(seen(2), data(0b10));
  EXPECT_EQ(net.total(metro::Count::kAccepted), 0u);
  net.step(100);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  EXPECT_EQ(net.total(Total::kLatencySum), 2u + 30 + 1 + 2 * 3);
  net.check();
}

/// 20 bytes over radices 4, 8 and 8 in words of 4 bits, with a clock of 25 ns, dp = 1 and vtd = 1: Table 4 gives 3 x 50
/// ns + (160 + 8) x 25 / 4 ns = 1200 ns. If the directions of 2, 3 and 3 bits each start a word, the header is a word
/// longer: 1225 ns.
TEST(MetroStraddle, AWordLessIsAClockLess) {
  for (const auto& [straddles, ns] : {std::pair{true, 1200u}, std::pair{false, 1225u}}) {
    MetroNet net(Settings("topology.radix=[4,8,8] topology.dilation=[2,2,1] topology.wire_delay=1 router.width=4 "
                          "router.header_straddles=",
                          straddles),
                 3, 171, 10, 40);
    net.step(net.start() + 1 + ns / 25);
    EXPECT_EQ(net.total(metro::Count::kAccepted), 0u) << ns;
    net.step();  // TURN, on which the destination decides, follows the last word by a clock
    EXPECT_EQ(net.total(metro::Count::kAccepted), 1u) << ns;
    net.step(100);
    EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
    for (u32 s = 0; s < 3; ++s) EXPECT_EQ(net.total(metro::Count::kDamaged, s), 0u) << s;
    net.check();
  }
}

}  // namespace
}  // namespace flitlab::metro_straddle_test
