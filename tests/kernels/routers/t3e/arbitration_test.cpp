/// The rules of the T3E's arbiter (paper, section 7), one by one. Clocks are derived by hand from the times in
/// tests/support/t3e/machine.hpp. Set 0 and set 1 are the deterministic virtual channels (VCs) 0 and 1; each input has
/// one right to request, which its VCs pass on in turn.
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

/// Two packets request one output on different virtual channels. The first packet keeps the output until its tail,
/// whether its flits come from a link or from the PE. If both request in the same clock, round robin starts at VC 0.
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

/// A packet from the PE leaves in clocks 7 to 16. A packet that goes straight on in this time finds the output taken
/// and the short-circuit path closed. From clock 17 on the path is open.
TEST(T3eArbitration, NothingPassesStraightIntoAPacketFromThePe) {
  for (u32 created = 0; created <= 8; ++created) {
    Machine m({{0, kHere, kEast, 10}, {created, kWest, at(4, 2, 2), 10}});
    m.select_one(kWest, kPlusX, 4);
    m.run(60);
    EXPECT_EQ(m.clocks(kHere), from(7, 10)) << created;
    EXPECT_EQ(m.clocks(kWest), from(created + 10 >= 17 ? created + 10 : std::max(created + 13, 17u), 10)) << created;
  }
}

/// A slot in the next buffer is free again 3 + 3 + 3 clocks after a flit has left for it. With 9 slots a credit arrives
/// in the clock in which the sender needs it, so the packet is not blocked. With 8 slots the packet is blocked for a
/// clock and loses the output to the waiting packet. (The delay from the PE is shortened, since its buffer has no more
/// slots than this.)
TEST(T3eArbitration, ABlockedPacketLosesTheOutput) {
  for (int slots : {9, 8}) {
    Machine m({{0, kHere, kBelow, 10}, {0, kWest, kTwoBelow, 4}},
              {{"router.deterministic_buffer_flits", integer(slots)}, {"router.source_delay", integer(6)}});
    m.select_one(kHere, kMinusZ, 0);
    m.run(60);
    EXPECT_EQ(m.clocks(kHere), slots == 9 ? from(3, 10) : (Clocks{3, 4, 5, 6, 7, 8, 9, 10, 15, 16}));
    EXPECT_EQ(m.clocks(kWest), from(slots == 9 ? 13 : 11, 4));
  }
}

/// The arbiter looks one clock ahead, so flitlab rejects delays of less than two clocks.
TEST(T3eArbitration, RejectsDelaysOfOneClock) {
  const auto machine = [](const char* path, int clocks) {
    return experiment({{"router.kind", word("t3e")}, {path, integer(clocks)}});
  };
  EXPECT_NO_THROW(machine("router.source_delay", 5));
  EXPECT_THROW(machine("router.source_delay", 4), ConfigError);
  EXPECT_NO_THROW(machine("router.credit_delay", 2));
  EXPECT_THROW(machine("router.credit_delay", 1), ConfigError);
}

/// VCs 0 and 1 take turns at an output. The first packet leaves in clocks 13 to 22.
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

/// If two inputs request the same virtual channel of an output, it serves them in turn. The second packet from the east
/// may leave from clock 23 on, when the tail of the first one has left.
TEST(T3eArbitration, OutputVcsServeInputsInTurn) {
  Machine m({{0, kEast, kBelow, 10}, {0, kEast, kBelow, 10}, {1, kSouth, kBelow, 10}});
  m.run(80);
  EXPECT_EQ(m.clocks(kEast, 0), from(13, 10));
  EXPECT_EQ(m.clocks(kSouth), from(23, 10));
  EXPECT_EQ(m.clocks(kEast, 1), from(33, 10));
}

/// An adaptive VC serves inputs in turn as well. A packet from the south and a packet of this PE request it in the same
/// clock twice, at 13 and at 53. The packet that loses leaves by its deterministic VC.
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

/// Three packets from the west wait on input VCs 0, 1 and 0. The first packet requests an output that another packet
/// uses from 13 to 22 on another virtual channel. It has won everything but the output, so its VC keeps the right to
/// request, although the second packet could leave. Afterwards the input VCs take turns.
TEST(T3eArbitration, TheRightToRequestIsKept) {
  Machine m({{0, kEast, kTwoBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 3}, {1, kWest, kBelow, 3}});
  m.select_one(kHere, kMinusZ, 0);
  m.select_one(kWest, kPlusX, 3);
  m.run(60);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest, 0), from(23, 3));
  EXPECT_EQ(m.clocks(kWest, 1), from(26, 3));
  EXPECT_EQ(m.clocks(kWest, 2), from(29, 3));
}

/// Here the first packet from the west requests the same virtual channel as the packet that is being sent. So it does
/// not win that VC, and its input VC passes on the right to request. The second packet leaves as soon as it can, at 1 +
/// 3 + 13.
TEST(T3eArbitration, TheRightToRequestIsPassedOn) {
  Machine m({{0, kEast, kBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 3}, {1, kWest, kBelow, 3}});
  m.select_one(kWest, kPlusX, 3);
  m.run(60);
  EXPECT_EQ(m.clocks(kWest, 1), from(17, 3));
  EXPECT_EQ(m.clocks(kWest, 0), from(23, 3));
  EXPECT_EQ(m.clocks(kWest, 2), from(26, 3));
}

/// An input VC whose packet is blocked by missing credits passes on the right to request, too. A packet from the east
/// leaves 2 of 12 free slots below, and its first credit arrives 3 + 3 + 20 clocks after it began. The first packet
/// from the west sends two flits and must wait, and the second one leaves at once. A credit also arrives just then, 3 +
/// 20 clocks after a flit left straight on at 7, but it is for another virtual channel.
TEST(T3eArbitration, ABlockedPacketPassesOnTheRightToRequest) {
  Machine m({{0, kHere, kTwoBelow, 1}, {5, kEast, kBelow, 10}, {6, kWest, kBelow, 10}, {6, kWest, kEast, 3}},
            {{"router.credit_delay", integer(20)}});
  m.select_one(kHere, kMinusZ, 0);
  m.select_one(kWest, kPlusX, 3);
  m.run(100);
  EXPECT_EQ(m.clocks(kEast), from(18, 10));
  EXPECT_EQ(m.clocks(kWest, 0), (Clocks{28, 29, 44, 45, 46, 47, 48, 49, 50, 51}));
  EXPECT_EQ(m.clocks(kWest, 1), from(30, 3));
}

/// A packet from the west requests a virtual channel in clock 14. Then its input VC passes on the right to request to
/// another packet, whose flits leave from 17 to 26, one per clock. The virtual channel is free from 23 on but stays
/// reserved for the first packet, although a packet from the south requests it all the time.
TEST(T3eArbitration, AnOutputVcRemembersARequester) {
  Machine m({{0, kEast, kBelow, 10}, {1, kWest, kBelow, 3}, {1, kWest, kEast, 10}, {5, kSouth, kBelow, 10}});
  m.select_one(kWest, kPlusX, 3);
  m.run(80);
  EXPECT_EQ(m.clocks(kEast), from(13, 10));
  EXPECT_EQ(m.clocks(kWest, 1), from(17, 10));
  EXPECT_EQ(m.clocks(kWest, 0), from(27, 3));
  EXPECT_EQ(m.clocks(kSouth), from(30, 10));
}

/// A packet of this PE requests VC 0 of +X, which a packet from the west holds from 10 to 19. Instead it leaves by the
/// adaptive VC at once. VC 0 drops the request and serves the PE's next packet.
TEST(T3eArbitration, ARequestIsDroppedWhenItsPacketLeaves) {
  Machine m({{0, kWest, kEast, 10}, {5, kHere, at(3, 2, 1), 10}, {5, kHere, kEast, 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.run(60);
  EXPECT_EQ(m.clocks(kWest), from(10, 10));
  EXPECT_EQ(m.clocks(kHere, 0), from(12, 10));
  EXPECT_EQ(m.clocks(kHere, 1), from(22, 10));
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kPlusX, 0}}));
}

/// Two packets wait for an output that is held until clock 22: an adaptive packet of this PE, whose deterministic VC is
/// taken until 28, and a deterministic one from the south. Round robin would grant the adaptive VC next, but adaptive
/// VCs come last.
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

/// An adaptive VC whose packet has begun to leave does not come last. A crossing packet closes the short-circuit path
/// at the western node after three flits of the adaptive packet, so its other flits arrive three clocks late. In this
/// gap a packet on VC 1 takes the output. Then the adaptive VC is next, before a packet that waits on VC 0.
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

/// A packet enters an adaptive buffer only if the buffer has room for all of its flits. The first packet leaves `slots`
/// - 10 free slots, because credits take 64 clocks.
TEST(T3eArbitration, AnAdaptiveBufferTakesWholePackets) {
  for (const auto& [slots, flits, fits] : {std::tuple{20, 10u, true}, {19, 10u, false}, {19, 9u, true}}) {
    Machine m({{0, kHere, at(3, 2, 1), 10}, {0, kHere, at(3, 2, 1), flits}},
              {{"router.adaptive_buffer_flits", integer(slots)}, {"router.credit_delay", integer(64)}});
    m.adapt(kHere, at(3, 2, 1));
    m.run(40);
    const std::pair<u32, u32> first{kMinusZ, kAdaptive}, other{kPlusX, 0};
    EXPECT_EQ(m.outputs(kHere), (Outputs{first, fits ? first : other})) << slots << " " << flits;
  }
}

/// A packet that has won both an adaptive and a deterministic output takes the adaptive one. If both are the same port
/// it takes the deterministic VC, even if the adaptive VC is next in turn.
TEST(T3eArbitration, TheAdaptiveOutputIsTakenUnlessItIsTheSame) {
  Machine m({{0, kHere, at(3, 2, 1), 10}, {30, kHere, kBelow, 10}, {30, kHere, kBelow, 10}});
  m.adapt(kHere, at(3, 2, 1));
  m.adapt(kHere, kBelow);
  m.run(80);
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kMinusZ, 0}, {kMinusZ, 0}}));
}

/// "any": a packet takes the adaptive VC with most room, and among equals the VC of the highest direction. Each of the
/// first two packets leaves 12 free slots in the direction that it takes, because no credit has returned yet. The third
/// packet finds most room in +X, its deterministic direction.
TEST(T3eArbitration, AnyTakesTheAdaptiveVcWithMostRoom) {
  const u32 to = at(3, 3, 1);
  Machine m({{0, kHere, to, 10}, {0, kHere, to, 10}, {0, kHere, to, 10}},
            {{"router.adaptive_choice", word("any")}, {"router.credit_delay", integer(64)}});
  m.adapt(kHere, to);
  m.run(60);
  EXPECT_EQ(m.outputs(kHere), (Outputs{{kMinusZ, kAdaptive}, {kPlusY, kAdaptive}, {kPlusX, 0}}));
}

/// With 4 slots in every buffer a sender waits for credits. In a round it sends 4 flits; a round is the time of a flit
/// to the buffer and through it, plus the time of its credit back. The slowest of three senders sets the rate: the PE,
/// if it is farthest from its router; the router, if both PEs are near; or the last router, whose credits come from the
/// PE. The tenth flit follows the first by two rounds and a flit.
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
