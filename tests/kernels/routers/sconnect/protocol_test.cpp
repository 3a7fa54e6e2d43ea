/// The channel protocol of S-Connect: tests of its functions, and whole fabrics with damaged slots, small pools and
/// ports that are switched off and on. Every message arrives exactly once. A train is the sequence of slots that carry
/// the four parts of a quad.
#include <gtest/gtest.h>

#include "host/routers/sconnect/control.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/draw.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::sconnect_protocol_test {
namespace {

using namespace sconnect;
using namespace testing;

constexpr u8 kReadable = kOccupied;

TEST(SconnectSlot, TheAnswerIsTheBitExpectedNext) {
  Slot sender{kNoBuffer, 0}, receiver{kNoBuffer, 0};
  EXPECT_EQ(settle(sender, kReadable | kAcknowledge), Outcome::kFree);
  for (int round = 0; round < 3; ++round) {
    hold(sender, 7, false);
    const u8 bits = single_bits(sender);
    EXPECT_EQ(bool(bits & kSequence), round % 2 == 1);
    EXPECT_EQ(note_single(receiver, bits), Single::kNew);
    // If the receiver refuses the message, its answer bit is unchanged, and the sender requeues the message.
    Slot refused = sender;
    EXPECT_EQ(settle(refused, kReadable | acknowledgment_of(receiver)), Outcome::kFailed);
    EXPECT_EQ(refused.buffer, kNoBuffer);
    EXPECT_EQ(sequence_of(refused), sequence_of(sender));
    take(receiver);
    EXPECT_EQ(note_single(receiver, bits), Single::kKnown);
    EXPECT_EQ(settle(sender, kReadable | acknowledgment_of(receiver)), Outcome::kTaken);
    EXPECT_EQ(sender.buffer, kNoBuffer);
  }
}

TEST(SconnectSlot, AnUnreadableAnswerLeavesEverythingAsItWas) {
  Slot s{kNoBuffer, kSending};
  hold(s, 3, false);
  for (u8 received : {u8{0}, u8(kOccupied | kHit | kAcknowledge), u8(kOccupied | kHit)}) {
    EXPECT_EQ(settle(s, received), Outcome::kUnknown);
    EXPECT_EQ(s.buffer, 3);
    EXPECT_EQ(s.bits, kSending);
  }
  EXPECT_EQ(settle(s, kReadable), Outcome::kTaken);
}

TEST(SconnectSlot, OfAQuadTheFirstAnswerIsNotRead) {
  Slot s{kNoBuffer, 0};
  hold(s, 9, true);
  EXPECT_EQ(settle(s, kReadable | kAcknowledge), Outcome::kWaits);  // the first answer is ignored
  EXPECT_EQ(settle(s, 0), Outcome::kWaits);                         // an unreadable answer: no part is sent again
  EXPECT_EQ(s.buffer, 9);
  EXPECT_EQ(settle(s, kReadable | kAcknowledge), Outcome::kTaken);
  EXPECT_EQ(s.bits, kSending);
}

TEST(SconnectSlot, AVoidQuadLeavesItsSlotAtOnce) {
  Slot s{kNoBuffer, kSending | kExpected};
  hold(s, 9, true);
  release_void(s);
  EXPECT_EQ(s.buffer, kNoBuffer);
  EXPECT_EQ(s.bits, kSending | kExpected);
}

TEST(SconnectTurn, FollowsFromTheOutcome) {
  Slot empty{kNoBuffer, 0}, full{2, 0};
  EXPECT_EQ(turn_of(empty, Outcome::kFree, false), Turn::kStart);
  EXPECT_EQ(turn_of(empty, Outcome::kTaken, false), Turn::kStart);
  EXPECT_EQ(turn_of(empty, Outcome::kFailed, false), Turn::kStart);
  EXPECT_EQ(turn_of(full, Outcome::kUnknown, false), Turn::kAgain);
  EXPECT_EQ(turn_of(full, Outcome::kWaits, false), Turn::kRequest);
  for (Outcome o : {Outcome::kFree, Outcome::kTaken, Outcome::kFailed, Outcome::kUnknown, Outcome::kWaits})
    EXPECT_EQ(turn_of(o == Outcome::kUnknown ? full : empty, o, true), Turn::kPart);
}

TEST(SconnectBits, AreSix) {
  Slot s{kNoBuffer, kSending};
  u32 all = kRequestBits | sent_bits(0, kOccupied, kAcknowledge) | single_bits(s) | kAbort;
  for (u32 part = 0; part < kQuadParts; ++part) all |= part_bits(s, part);
  EXPECT_EQ(std::popcount(all & ~u32{kOccupied}), 6);  // kOccupied and kHit exist in the emulator only
}

TEST(SconnectBits, TheAnswerAccompaniesEverySlot) {
  EXPECT_EQ(sent_bits(0, 0, kAcknowledge), 0);  // a port with nothing to send
  EXPECT_EQ(sent_bits(0, kOccupied, 0), kOccupied);
  EXPECT_EQ(sent_bits(0, kOccupied, kAcknowledge), kOccupied | kAcknowledge);
  EXPECT_EQ(sent_bits(kPresent, 0, kAcknowledge), kPresent | kOccupied | kAcknowledge);  // no answer was requested
}

TEST(SconnectBits, OnlyAnswersRequireNoAnswer) {
  EXPECT_FALSE(needs_acknowledgment(kOccupied | kAcknowledge));
  for (u8 bits : {kPresent, kRequestBits, kHit}) EXPECT_TRUE(needs_acknowledgment(kOccupied | bits));
}

TEST(SconnectSingle, IsClassifiedByItsBits) {
  const Slot s{kNoBuffer, kExpected};
  EXPECT_EQ(note_single(s, kOccupied | kLast), Single::kNone);
  EXPECT_EQ(note_single(s, kPresent | kQuad | kSequence), Single::kNone);
  EXPECT_EQ(note_single(s, kPresent | kSequence | kAbort), Single::kVoid);
  EXPECT_EQ(note_single(s, kPresent), Single::kKnown);
  EXPECT_EQ(note_single(s, kPresent | kSequence | kHit), Single::kDamaged);
  EXPECT_EQ(note_single(s, kPresent | kSequence), Single::kNew);
}

/// Returns the outcomes of successive slots.
std::vector<Part> outcomes_of(std::vector<u8> slots, bool room = true) {
  Train train{};
  std::vector<Part> parts;
  for (u32 i = 0; i < slots.size(); ++i) {
    parts.push_back(note_part(train, slots[i], i));
    if (parts.back() == Part::kFirst && room) train.buffer = 5;
  }
  EXPECT_EQ(train.parts, parts.back() == Part::kMiddle || parts.back() == Part::kFirst ? train.parts : 0);
  return parts;
}

constexpr u8 kP = kOccupied | kPresent | kQuad, kL = kP | kLast, kS = kOccupied | kPresent, kX = kP | kHit;
using Parts = std::vector<Part>;

TEST(SconnectTrain, IsAcceptedCompletelyOrNotAtAll) {
  const Part first = Part::kFirst, middle = Part::kMiddle, spoiled = Part::kSpoiled, none = Part::kNone;
  EXPECT_EQ(outcomes_of({kP, kP, kP, kL}), (Parts{first, middle, middle, Part::kWhole}));
  EXPECT_EQ(outcomes_of({kP, kP, kP, kL}, false), (Parts{first, middle, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kP, kP, kP, kL | kAbort}), (Parts{first, middle, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kP, kX, kP, kL}), (Parts{first, middle, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kP, kP, kP, kL | kHit}), (Parts{first, middle, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kP, kP, 0, kHit}), (Parts{first, middle, middle, spoiled}));  // the sender is switched off
  // If an error hits its first part, the train has only three parts.
  EXPECT_EQ(outcomes_of({kX, kP, kP, kL}), (Parts{none, first, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kX, kX, kX, kL}), (Parts{none, none, none, none}));
  // If errors hit the first and the last part of a quad, the receiver looks for the end of the train in the next slot,
  // where the following quad starts. It does not accept that slot as a part of the first quad.
  EXPECT_EQ(outcomes_of({kX, kP, kP, kL | kHit, kP, kP, kP, kL}),
            (Parts{none, first, middle, middle, spoiled, first, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kX, kP, kP, kX, kS}), (Parts{none, first, middle, middle, spoiled}));
  EXPECT_EQ(outcomes_of({kP, kP, kP, kL, kP, kP, kP, kL}),
            (Parts{first, middle, middle, Part::kWhole, first, middle, middle, Part::kWhole}));
}

TEST(SconnectTrain, ARepeatedQuadIsNotAcceptedAgain) {
  Slot first{kNoBuffer, 0};
  EXPECT_TRUE(take_quad(first, kL));
  EXPECT_EQ(first.bits, kExpected);
  EXPECT_FALSE(take_quad(first, kL));
  EXPECT_TRUE(take_quad(first, kL | kSequence));
}

const char* const kRing = "0,1\n1,2\n2,3\n3,4\n4,0\n";

/// Steps `cycles` cycles, records all deliveries, and audits every few cycles.
void step_audited(Network& net, Deliveries& deliveries, u32 cycles, u32 every = 5) {
  for (u32 i = 0; i < cycles; ++i) {
    net.step(1);
    deliveries.note(*net.engine);
    if (net.engine->now() % every) continue;
    ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << net.engine->now();
  }
}

/// Runs until all messages of the hosts have arrived.
void finish(Network& net, Deliveries& deliveries, u64 all, u32 most = 200000) {
  for (u32 i = 0; i < most && (deliveries.got() < all); i += 50) step_audited(net, deliveries, 50);
  EXPECT_EQ(deliveries.got(), all);
  EXPECT_EQ(deliveries.missing(), 0u);
  EXPECT_EQ(deliveries.wrong(), 0u);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), all);
}

TEST(SconnectProtocol, EveryMessageArrivesOnce) {
  const TextFile ring(kRing);
  u64 slots = 0, hit = 0, again = 0, duplicates = 0, refused = 0, aborted = 0, came_back = 0;
  for (u64 seed = 1; seed <= trials(240); ++seed) {
    RawConfig c = random_small_sconnect(seed, ring.path);
    c["traffic.mode"] = word("batch");
    // Over the worst channels one quad in seven arrives undamaged.
    const bool quads = c.contains("traffic.packet_flits");
    const u32 packets = !quads ? 480 : std::get<double>(c["channel.error_rate"]) > 2e-3 ? 25 : 150;
    c["traffic.batch_packets"] = integer(packets);
    SCOPED_TRACE(seed);
    Network net(experiment(c), {"cpu", 1, true, 1});
    Deliveries deliveries;
    finish(net, deliveries, u64{net.plan->topology().terminals} * packets);
    // No messages and no copies are left in the fabric.
    step_audited(net, deliveries, 200);
    EXPECT_EQ(deliveries.wrong(), 0u);
    const SconnectPlan& plan = dynamic_cast<const SconnectPlan&>(*net.plan);
    const std::vector<std::byte> state = net.engine->state(0);
    for (u32 tic = 0; tic < plan.table().routers; ++tic)
      EXPECT_EQ(item_of(state, plan.layout(), 0, tic).at(plan.table().fields.control).used, 0) << tic;
    slots += net.total(sconnect::Count::kSlotsSent);
    hit += net.total(sconnect::Count::kSlotsHit);
    again += net.total(sconnect::Count::kSentAgain);
    duplicates += net.total(sconnect::Count::kDuplicates);
    refused += net.total(sconnect::Count::kRejected);
    aborted += net.total(sconnect::Count::kAborted);
    came_back += net.total(sconnect::Count::kFailed);
    if (HasFatalFailure()) return;
  }
  // Every case must have occurred often.
  EXPECT_GT(slots, trials(2000000));
  for (u64 n : {hit, again, duplicates, refused, aborted, came_back}) EXPECT_GT(n, trials(10000));
}

/// Messages of a refused priority fill their share of the buffers and stay. Other messages are neither disturbed nor
/// duplicated.
TEST(SconnectProtocol, RefusedMessagesStay) {
  const TextFile ring(kRing);
  for (u64 seed = 500; seed < 520; ++seed) {
    RawConfig c = random_small_sconnect(seed, ring.path);
    set(c, "traffic.load=0.4 host.priorities=[1,1,1,1] traffic.packet_flits=[[1,1.0]] router.buffers=64 host.refuses=",
        IntList{static_cast<u32>(seed % 4)});
    SCOPED_TRACE(seed);
    Network net(experiment(c), {"cpu", 1, true, 1});
    Deliveries deliveries;
    step_audited(net, deliveries, 1500);
    EXPECT_EQ(deliveries.wrong(), 0u);
    EXPECT_EQ(deliveries.got() + deliveries.missing(), net.total(Total::kPacketsInjected));
    const u32 refused = static_cast<u32>(sconnect::Count::kDelivered) + static_cast<u32>(seed % 4);
    EXPECT_EQ(net.engine->counters(0).total[refused], 0u);
    EXPECT_GT(deliveries.got(), 0u);
    EXPECT_GT(deliveries.missing(), 0u);
    if (HasFatalFailure()) return;
  }
}

/// If errors hit the first and the last part of a quad, its train ends in the slot of the next message. If that message
/// is damaged as well, the port must discard two messages at the same time. The audit checks that each damaged message
/// that waits is in its port's list.
TEST(SconnectProtocol, DamagedArrivalsAreDiscarded) {
  for (u64 seed = 1; seed <= 4; ++seed) {
    Network net(experiment("router.kind=sconnect topology.shape=[2,2] topology.channel_delay=6 channel.error_rate=5e-3 "
                           "traffic.load=0.4 traffic.packet_flits=[[1,3.0],[4,1.0]] run.seed=",
                           static_cast<std::int64_t>(seed)),
                {"cpu", 1, true, 1});
    Deliveries deliveries;
    step_audited(net, deliveries, 4000, 1);
    EXPECT_GT(deliveries.got(), 500u);
    EXPECT_EQ(deliveries.wrong(), 0u);
    if (HasFatalFailure()) return;
  }
}

/// Ports are switched off and on while messages, quads and answers are in transit: none is lost.
TEST(SconnectProtocol, SwitchingPortsOffAndOnLosesNothing) {
  const TextFile ring(kRing);
  for (u64 seed = 1000; seed < 1000 + trials(80); ++seed) {
    RawConfig c = random_small_sconnect(seed, ring.path);
    set(c, "channel.error_rate=", seed % 2 ? 0.0 : 1e-4, " traffic.mode=batch traffic.batch_packets=150");
    SCOPED_TRACE(seed);
    Network net(experiment(c), {"cpu", 1, true, 1});
    Deliveries deliveries;
    Draw draw(seed);
    const u32 routers = net.plan->topology().routers;
    for (u32 i = 0; i < 400; ++i) {
      const u32 serial = draw.below(16);
      set_sconnect_register(*net.engine, dynamic_cast<const SconnectPlan&>(*net.plan).table(), draw.below(routers),
                            "enabled", 0x30 | serial);
      step_audited(net, deliveries, 1 + draw.below(4), 1);
      if (HasFatalFailure()) return;
    }
    for (u32 tic = 0; tic < routers; ++tic)
      set_sconnect_register(*net.engine, dynamic_cast<const SconnectPlan&>(*net.plan).table(), tic, "enabled", 0x3F);
    finish(net, deliveries, u64{net.plan->topology().terminals} * 150);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace flitlab::sconnect_protocol_test
