/// The rules of the T3E's arbiter (paper, section 7), one by one. Clocks are derived by hand, as said in
/// tests/support/t3e/machine.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/t3e/machine.hpp"

namespace flitlab::t3e_arbitration_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::word;
using testing::t3e_machine::at;
using testing::t3e_machine::Clocks;
using testing::t3e_machine::from;
using testing::t3e_machine::kAdaptive;
using testing::t3e_machine::kBelow;
using testing::t3e_machine::kEast;
using testing::t3e_machine::kHere;
using testing::t3e_machine::kMinusZ;
using testing::t3e_machine::kPlusX;
using testing::t3e_machine::kPlusY;
using testing::t3e_machine::kSouth;
using testing::t3e_machine::kTwoBelow;
using testing::t3e_machine::kWest;
using testing::t3e_machine::Machine;
using testing::t3e_machine::Outputs;

/// Two packets want one output on different virtual channels. The first holds it to its end, whether its flits come one
/// a clock from a link or from the PE; if both ask at once, round robin begins at VC 0.
TEST(T3eArbitration, APacketLeavesInOnePiece) {
  for (u32 created = 3; created <= 8; ++created) {
    Machine m({{0, kWest, kBelow, 10}, {created, kHere, kTwoBelow, 10}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(60);
    const bool link_first = created >= 6;
    EXPECT_EQ(m.clocks(kWest), from(link_first ? 13 : created + 17, 10)) << created;
    EXPECT_EQ(m.clocks(kHere), from(link_first ? 23 : created + 7, 10)) << created;
    EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, 1}}));
  }
}

/// A packet from the PE leaves from 7 to 16. One that comes straight on in between finds the output held, and the
/// short-circuit path closed; from 17 on the path is open.
TEST(T3eArbitration, NothingPassesStraightIntoAPacketFromThePe) {
  for (u32 created = 0; created <= 8; ++created) {
    Machine m({{0, kHere, kEast, 10}, {created, kWest, at(4, 2, 2), 10}});
    m.select_one(kWest, kPlusX, 4);
    m.run(60);
    EXPECT_EQ(m.clocks(kHere), from(7, 10)) << created;
    EXPECT_EQ(m.clocks(kWest), from(created + 10 >= 17 ? created + 10 : std::max(created + 13, 17u), 10)) << created;
  }
}

/// A place in the next buffer is free again 3 + 3 + 3 clocks after a flit has left for it: with 9 places a credit comes
/// in the very clock in which it is needed, and the packet is not blocked. With 8 it is, for a clock, and loses the
/// output to the packet that waits. (The way from the PE is shortened, for its buffer has no more places.)
TEST(T3eArbitration, ABlockedPacketLosesTheOutput) {
  for (int places : {9, 8}) {
    Machine m({{0, kHere, kBelow, 10}, {0, kWest, kTwoBelow, 4}},
              {{"router.deterministic_buffer_flits", integer(places)}, {"router.source_delay", integer(6)}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(60);
    EXPECT_EQ(m.clocks(kHere), places == 9 ? from(3, 10) : (Clocks{3, 4, 5, 6, 7, 8, 9, 10, 15, 16}));
    EXPECT_EQ(m.clocks(kWest), from(places == 9 ? 13 : 11, 4));
  }
}

/// To know a clock ahead what comes, the arbiter needs delays of two clocks.
TEST(T3eArbitration, RefusesDelaysOfOneClock) {
  const auto machine = [](const char* path, int clocks) {
    return experiment({{"router.kind", word("t3e")}, {path, integer(clocks)}});
  };
  EXPECT_NO_THROW(machine("router.source_delay", 5));
  EXPECT_THROW(machine("router.source_delay", 4), ConfigError);
  EXPECT_NO_THROW(machine("router.credit_delay", 2));
  EXPECT_THROW(machine("router.credit_delay", 1), ConfigError);
}

/// After a packet on VC 0 it is VC 1's turn, and the other way about. The first packet leaves from 13 to 22.
TEST(T3eArbitration, OutputVcsTakeTurns) {
  for (bool first_on_one : {false, true}) {
    Machine m({{0, kEast, first_on_one ? kTwoBelow : kBelow, 10}, {1, kSouth, kBelow, 10}, {1, kWest, kTwoBelow, 10}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(80);
    EXPECT_EQ(m.clocks(kEast), from(13, 10));
    EXPECT_EQ(m.clocks(kSouth), from(first_on_one ? 23 : 33, 10));
    EXPECT_EQ(m.clocks(kWest), from(first_on_one ? 33 : 23, 10));
  }
}

/// A virtual channel that two inputs want goes to each in turn. The second packet from the east may leave from 23 on,
/// as the first one's tail has left.
TEST(T3eArbitration, OutputVcsServeInputsInTurn) {
  Machine m({{0, kEast, kBelow, 10}, {0, kEast, kBelow, 10}, {1, kSouth, kBelow, 10}});
  m.run(80);
  EXPECT_EQ(m.clocks(kEast, 0), from(13, 10));
  EXPECT_EQ(m.clocks(kSouth), from(23, 10));
  EXPECT_EQ(m.clocks(kEast, 1), from(33, 10));
}

/// So does an adaptive one: twice a packet from the south and one of this PE ask for it in the same clock, at 13 and at
/// 53. Who does not get it leaves by its deterministic VC.
TEST(T3eArbitration, AdaptiveVcsServeInputsInTurn) {
  const u32 north = at(2, 3, 1), east = at(3, 2, 1);
  Machine m({{0, kSouth, north, 2}, {6, kHere, east, 2}, {40, kSouth, north, 2}, {46, kHere, east, 2}});
  m.adapt(kSouth, north);
  m.adapt(kHere, east);
  m.no_adapt(kSouth, kMinusZ);
  m.registers(kHere, [](t3e::Registers& r) { r.chan[kPlusY] |= t3e::kNoFast; });
  m.run(80);
  EXPECT_EQ(m.outputs(kSouth), (Outputs{{kMinusZ, kAdaptive}, {kPlusY, 0}}));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kPlusX, 0}, {kMinusZ, kAdaptive}}));
}

/// Three packets from the west, on input VCs 0, 1 and 0. The first wants an output that another packet sends by from 13
/// to 22, on a virtual channel of its own: it has won all but the output, and keeps the right to ask though the second
/// could leave. Then the input VCs take turns.
TEST(T3eArbitration, TheRightToAskIsKept) {
  Machine m({{0, kEast, kTwoBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 3}, {1, kWest, kBelow, 3}});
  m.select_one(kHere, kMinusZ, 0);
  m.select_one(kWest, kPlusX, 3);
  m.run(60);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest, 0), from(23, 3));
  EXPECT_EQ(m.clocks(kWest, 1), from(26, 3));
  EXPECT_EQ(m.clocks(kWest, 2), from(29, 3));
}

/// The same, but the first wants the very virtual channel of the packet that sends: it does not win it, and gives up
/// the right to ask, so that the second leaves as soon as it can, at 1 + 3 + 13.
TEST(T3eArbitration, TheRightToAskIsGivenUp) {
  Machine m({{0, kEast, kBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 3}, {1, kWest, kBelow, 3}});
  m.select_one(kWest, kPlusX, 3);
  m.run(60);
  EXPECT_EQ(m.clocks(kWest, 1), from(17, 3));
  EXPECT_EQ(m.clocks(kWest, 0), from(23, 3));
  EXPECT_EQ(m.clocks(kWest, 2), from(26, 3));
}

/// Or if it is blocked: a packet from the east leaves 2 of 12 places below, and its first credit comes 3 + 3 + 20
/// clocks after it began. The first packet from the west sends two flits and has to wait, and the second leaves at
/// once. The credit that comes just then, 3 + 20 clocks after a flit left at 7 to go straight on, is for another
/// virtual channel.
TEST(T3eArbitration, ABlockedPacketGivesUpTheRightToAsk) {
  Machine m({{0, kHere, kTwoBelow, 1}, {5, kEast, kBelow, 10}, {6, kWest, kBelow, 10}, {6, kWest, kEast, 3}},
            {{"router.credit_delay", integer(20)}});
  m.select_one(kHere, kMinusZ, 0);
  m.select_one(kWest, kPlusX, 3);
  m.run(100);
  EXPECT_EQ(m.clocks(kEast), from(18, 10));
  EXPECT_EQ(m.clocks(kWest, 0), (Clocks{28, 29, 44, 45, 46, 47, 48, 49, 50, 51}));
  EXPECT_EQ(m.clocks(kWest, 1), from(30, 3));
}

/// A packet from the west asks for a virtual channel at 14 and gives up its turn to another, which keeps it from 17 to
/// 26, its flits coming one a clock. When the virtual channel is free, at 23, it remembers the first and waits for it,
/// though a packet from the south asks for it all the time.
TEST(T3eArbitration, AnOutputVcRemembersWhoAsked) {
  Machine m({{0, kEast, kBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 10}, {5, kSouth, kBelow, 10}});
  m.select_one(kWest, kPlusX, 3);
  m.run(80);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest, 1), from(17, 10));
  EXPECT_EQ(m.clocks(kWest, 0), from(27, 3));
  EXPECT_EQ(m.clocks(kSouth), from(30, 10));
}

/// The packet of this PE asks for VC 0 of +X, which one from the west has from 10 to 19, and leaves by the adaptive VC
/// at once. VC 0 does not wait for it, but serves the PE's next packet.
TEST(T3eArbitration, WhoGoesTheOtherWayIsForgotten) {
  Machine m({{0, kWest, kEast, 10}, {5, kHere, at(3, 2, 1), 10}, {5, kHere, kEast, 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.run(60);
  EXPECT_EQ(m.clocks(kWest), from(10, 10));
  EXPECT_EQ(m.clocks(kHere, 0), from(12, 10));
  EXPECT_EQ(m.clocks(kHere, 1), from(22, 10));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kPlusX, 0}}));
}

/// The adaptive packet of this PE, whose deterministic VC is taken until 28, and a deterministic one from the south
/// wait for an output that is held until 22. Round robin would come to the adaptive VC next, but it is last.
TEST(T3eArbitration, AdaptiveVcsAreLast) {
  Machine m({{0, kEast, kBelow, 10}, {2, kSouth, kBelow, 10}, {6, kWest, kEast, 10}, {13, kHere, at(3, 2, 1), 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.run(80);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest), from(19, 10));
  EXPECT_EQ(m.clocks(kSouth), from(23, 10));
  EXPECT_EQ(m.clocks(kHere), from(29, 10));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kPlusX, 0}}));
}

/// Unless their packet has begun. The short-circuit path at the western node is closed by a packet that crosses there
/// after three flits of the adaptive one, whose other flits come three clocks late: a bubble, in which a packet on VC 1
/// takes the output. Then it is the adaptive VC's turn, not that of a packet on VC 0 which waits too.
TEST(T3eArbitration, AnAdaptiveVcWhosePacketHasBegunIsNotLast) {
  const u32 far_west = at(0, 2, 2), to = at(3, 2, 1);
  Machine m(
      {{0, far_west, to, 10}, {2, at(1, 1, 2), at(1, 2, 1), 1}, {5, kSouth, kTwoBelow, 10}, {8, kEast, kBelow, 10}});
  m.adapt(far_west, to);
  m.no_adapt(far_west, kMinusZ);
  m.no_adapt(kWest, kMinusZ);
  m.registers(kHere, [](t3e::Registers& r) { r.chan[kPlusX] |= t3e::kNoFast; });
  m.select_one(kHere, kMinusZ, 0);
  m.run(80);
  EXPECT_EQ(m.clocks(far_west), (Clocks{16, 17, 18, 29, 30, 31, 32, 33, 34, 35}));
  EXPECT_EQ(m.clocks(kSouth), from(19, 10));
  EXPECT_EQ(m.clocks(kEast), from(36, 10));
  EXPECT_EQ(m.outputs(far_west), (Outputs{{kMinusZ, kAdaptive}}));
}

/// A packet goes to an adaptive buffer only if all of it has room. The first leaves `places` - 10, for credits take 64
/// clocks.
TEST(T3eArbitration, AnAdaptiveBufferTakesWholePackets) {
  for (const auto& [places, flits, fits] : {std::tuple{20, 10u, true}, {19, 10u, false}, {19, 9u, true}}) {
    Machine m({{0, kHere, at(3, 2, 1), 10}, {0, kHere, at(3, 2, 1), flits}},
              {{"router.adaptive_buffer_flits", integer(places)}, {"router.credit_delay", integer(64)}});
    m.adapt(kHere, at(3, 2, 1));
    m.run(40);
    const std::pair<u32, u32> first{kMinusZ, kAdaptive}, other{kPlusX, 0};
    EXPECT_EQ(m.outputs(kHere), (Outputs{first, fits ? first : other})) << places << " " << flits;
  }
}

/// A packet that has won both its outputs takes the adaptive one; if both are the same, the deterministic VC, even when
/// it would be the adaptive one's turn.
TEST(T3eArbitration, TheAdaptiveOutputIsTakenUnlessItIsTheSame) {
  Machine m({{0, kHere, at(3, 2, 1), 10}, {30, kHere, kBelow, 10}, {30, kHere, kBelow, 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.adapt(kHere, kBelow);
  m.run(80);
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kMinusZ, 0}, {kMinusZ, 0}}));
}

/// "any": the adaptive VC with most room, of equals the highest direction. Each of the first two packets leaves 12
/// places where it goes, as no credit is back yet; the third finds most room in +X, where its deterministic VC is.
TEST(T3eArbitration, AnyTakesTheAdaptiveVcWithMostRoom) {
  const u32 to = at(3, 3, 1);
  Machine m({{0, kHere, to, 10}, {0, kHere, to, 10}, {0, kHere, to, 10}},
            {{"router.adaptive_choice", word("any")}, {"router.credit_delay", integer(64)}});
  m.adapt(kHere, to);
  m.run(60);
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kPlusY, kAdaptive}, {kPlusX, 0}}));
}

/// With 4 places in every buffer a sender waits for credits: 4 flits in the time that a flit takes to the buffer and
/// through it, and its credit back. The slowest of three senders sets the pace: the PE, if it is farthest from its
/// router; the router, if both PEs are near; or the last router, whose credits come from the PE. The tenth flit is two
/// rounds and a flit behind the first.
TEST(T3eArbitration, CreditsTakeTheirTime) {
  const struct {
    u32 source, destination, round;
  } kSlowest[] = {{14, 4, 11}, {5, 4, 3 + 3}, {5, 14, 11}};
  for (const auto& [source, destination, round] : kSlowest)
    for (u32 delay : {2, 3, 7}) {
      Machine m({{0, kHere, kEast, 10}}, {{"router.deterministic_buffer_flits", integer(4)},
                                          {"router.source_delay", integer(source)},
                                          {"router.destination_delay", integer(destination)},
                                          {"router.credit_delay", integer(delay)}});
      m.run(100);
      EXPECT_EQ(m.total(Total::kLastDelivery), source + destination + 2 * (round + delay) + 1)
          << source << " " << destination << " " << delay;
    }
}

}  // namespace
}  // namespace flitlab::t3e_arbitration_test
