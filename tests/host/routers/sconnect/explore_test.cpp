/// Exploration of all states of S-Connect's channel protocol: the protocol is correct in every state, and the
/// exploration detects each defect that a test inserts.
#include "host/routers/sconnect/explore.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/common/error.hpp"

namespace flitlab::sconnect::explore_test {
namespace {

using Two = std::array<u32, 2>;
using Both = std::array<bool, 2>;

ChannelInstance of(Two singles, Two quads, u32 delay = 1, u32 back = 0) {
  ChannelInstance instance;
  instance.singles = singles;
  instance.quads = quads;
  instance.delay = {delay, back ? back : delay};
  return instance;
}

void expect_holds(const ChannelInstance& instance, u64 least_states) {
  const Exploration found = explore_channel(instance);
  EXPECT_EQ(found.violation, "");
  EXPECT_TRUE(found.complete);
  EXPECT_GE(found.states, least_states);
  EXPECT_GT(found.transitions, found.states);
}

/// End A of a channel sends one message, without errors or other traffic. A is notified 4 cycles after it has sent the
/// message. The states are: nothing sent, message in flight, answer due, answer in flight, answer read, done. Each
/// state has one successor, except the first, in which A may also wait.
TEST(SconnectExplore, OfAMessageAloneByHand) {
  ChannelInstance alone = of({1, 0}, {0, 0});
  alone.hits = alone.refuses = alone.voids = Both{false, false};
  const Exploration found = explore_channel(alone);
  EXPECT_EQ(found.violation, "");
  EXPECT_EQ(found.states, 6u);
  EXPECT_EQ(found.transitions, 7u);
  EXPECT_EQ(found.depth, 5u);
}

TEST(SconnectExplore, SinglesBothWays) { expect_holds(of({2, 2}, {0, 0}), 50000); }
TEST(SconnectExplore, AQuadAndSinglesOneWay) { expect_holds(of({2, 0}, {1, 0}), 10000); }
TEST(SconnectExplore, TwoQuadsOneWay) { expect_holds(of({0, 0}, {2, 0}), 8000); }
TEST(SconnectExplore, AQuadEachWay) { expect_holds(of({0, 0}, {1, 1}), 20000); }
TEST(SconnectExplore, SinglesBothWaysAndAQuad) { expect_holds(of({1, 1}, {1, 0}), 50000); }
TEST(SconnectExplore, OfALongerChannel) {
  expect_holds(of({1, 1}, {0, 0}, 2), 50000);
  ChannelInstance quads = of({0, 0}, {2, 0}, 2);
  quads.voids = Both{true, false};
  expect_holds(quads, 10000);
}

/// The routing cycles of the two ends begin at different clocks. Then the delays of the two directions differ, and a
/// round (until the answer for a slot returns) has an odd number of slots. All other unequal delays are equivalent to
/// equal ones: only the cycle numbers of one end are shifted.
TEST(SconnectExplore, OfUnequalDelays) {
  expect_holds(of({1, 1}, {0, 0}, 1, 2), 20000);
  ChannelInstance quads = of({0, 0}, {2, 0}, 2, 1);
  quads.voids = Both{true, false};
  expect_holds(quads, 5000);
}

/// The ends send an unlimited number of messages, so every slot sequence continues without end.
TEST(SconnectExplore, WithoutAnEnd) {
  for (const ChannelInstance& finite : {of({4, 4}, {0, 0}), of({2, 1}, {2, 0}), of({1, 1}, {1, 1})}) {
    ChannelInstance instance = finite;
    instance.voids = Both{false, false};
    instance.endless = true;
    expect_holds(instance, 10000);
  }
}

TEST(SconnectExplore, WithEndsSwitchedOff) {
  for (const ChannelInstance& on : {of({1, 1}, {0, 0}), of({1, 0}, {1, 0})}) {
    ChannelInstance instance = on;
    instance.switches = true;
    expect_holds(instance, 10000);
  }
}

/// The reduction merges states that behave alike. Exploring all states separately gives the same verdicts.
TEST(SconnectExplore, ReductionChangesNoVerdict) {
  for (u32 defect = 0; defect < kChannelDefects; ++defect)
    for (const ChannelInstance& whole :
         {of({2, 1}, {0, 0}), of({0, 0}, {1, 0}), of({0, 0}, {2, 0}, 2), of({1, 0}, {0, 0}, 2, 1)}) {
      ChannelInstance instance = whole;
      instance.defect = static_cast<ChannelDefect>(defect);
      instance.voids = Both{true, false};
      instance.switches = instance.messages() == 1;
      const Exploration reduced = explore_channel(instance);
      instance.reduced = false;
      const Exploration all = explore_channel(instance);
      EXPECT_EQ(reduced.violation.empty(), all.violation.empty()) << defect << "\n" << all.violation;
      // Both explorations stop in the first wrong state. The verdict that the channel never finishes requires a visit
      // of all states.
      if (!all.violation.empty() && instance.defect != ChannelDefect::kNeverRequests) {
        EXPECT_EQ(reduced.depth, all.depth) << defect;
      }
      EXPECT_LE(reduced.states, all.states);
    }
}

struct Broken {
  ChannelDefect defect;
  ChannelInstance instance;
  const char* what;
  u32 depth;  ///< cycles until the state that shows the defect
};

std::vector<Broken> broken() {
  ChannelInstance singles = of({1, 0}, {0, 0}), quad = of({0, 0}, {1, 0}), off = of({1, 1}, {0, 0});
  singles.voids = quad.voids = off.voids = Both{false, false};
  off.switches = true;
  ChannelInstance voids = singles;
  voids.voids = Both{true, false};
  // A message that is sent in cycle 0 is accepted in cycle 1, and its sender is notified in cycle 4. If the sender
  // cannot read the notification, it repeats the message in cycle 5. The last part of a quad is accepted in cycle 4.
  return {{ChannelDefect::kIgnoresSequence, singles, "accepted twice", 5},
          {ChannelDefect::kFailsUnreadable, singles, "notified that it was rejected", 4},
          {ChannelDefect::kReadsFirstAnswer, quad, "notified that it was rejected", 4},
          {ChannelDefect::kAnswersTooEarly, singles, "notified that it was rejected", 4},
          {ChannelDefect::kTakesPartialQuads, quad, "is incomplete", 4},
          {ChannelDefect::kTakesVoid, voids, "a void message was accepted", 1},
          {ChannelDefect::kAnswersIfAskedOnly, off, "notified that it was", 8}};
}

/// The sender of a quad never requests its outcome. No state is wrong, but the channel never comes to rest.
TEST(SconnectExplore, FindsAChannelThatNeverComesToRest) {
  ChannelInstance instance = of({0, 0}, {1, 0});
  instance.defect = ChannelDefect::kNeverRequests;
  EXPECT_EQ(explore_channel(instance).violation, "without further errors the channel never comes to rest:\n");
}

TEST(SconnectExplore, FindsWhatIsBroken) {
  EXPECT_EQ(broken().size() + 2, kChannelDefects);
  for (Broken b : broken()) {
    EXPECT_EQ(explore_channel(b.instance).violation, "") << b.what;
    b.instance.defect = b.defect;
    const Exploration found = explore_channel(b.instance);
    const auto lines = static_cast<u32>(std::count(found.violation.begin(), found.violation.end(), '\n'));
    EXPECT_NE(found.violation.find(b.what), std::string::npos) << b.what << ": " << found.violation;
    EXPECT_EQ(found.depth, b.depth) << b.what;
    EXPECT_EQ(lines, b.depth + 2) << found.violation;  // the verdict, and a line for each cycle
  }
}

TEST(SconnectExplore, ReportsAnIncompleteExploration) {
  const Exploration found = explore_channel(of({2, 2}, {0, 0}), 1000);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.violation, "");
}

TEST(SconnectExplore, RefusesWhatIsTooLarge) {
  EXPECT_THROW(explore_channel(of({1, 1}, {0, 0}, 3)), ConfigError);
  EXPECT_THROW(explore_channel(of({1, 1}, {0, 0}, 0)), ConfigError);
  EXPECT_THROW(explore_channel(of({5, 4}, {0, 0})), ConfigError);
}

}  // namespace
}  // namespace flitlab::sconnect::explore_test
