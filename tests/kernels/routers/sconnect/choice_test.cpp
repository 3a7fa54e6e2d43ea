/// A TIC's routing decision (S-Connect, 2.3, 3.2): port and virtual channel of a new message and of a requeued one. A
/// message is requeued if the far end of its channel has not accepted it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/sconnect/sconnect.hpp"
#include "tests/support/sconnect/two_hosts.hpp"

namespace flitlab::sconnect_choice_test {
namespace {

using sconnect::option;
using namespace testing;
using testing::two_hosts::graph;
using testing::two_hosts::held_for_hosts;
using testing::two_hosts::line;
using testing::two_hosts::sent_by;

/// Two channels lead to the destination. A message takes the channel with fewer waiting messages; among equals, the
/// port whose turn comes first after the message's arrival port.
TEST(SconnectRouter, TheLeastPendingThenTheNextTurn) {
  const TextFile file("0,1\n0,1\n");
  SconnectNet net(graph(file), sends(10, 0, 2) + sends(10, 1, 2) + sends(50, 1, 2) + sends(90, 0, 2));
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  net.deliver(4);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 2, 3}));
  EXPECT_EQ(sent_by(net, 0, 1), (std::vector<u32>{1}));
}

TEST(SconnectRouter, OfEqualsTheNextTurnAfterAnyPort) {
  const TextFile file("0,1\n0,2\n0,3\n0,4\n");
  for (u32 source = 0; source < 4; ++source)
    for (u32 without = 0; without < 4; ++without) {
      if (without == source) continue;
      SconnectNet net(graph(file), sends(10, 2 * (1 + source), 2 * (1 + without)));
      sconnect::Options ways = 0;
      for (u32 p = 0; p < 4; ++p)
        if (p != source && p != without) ways |= option(p, 0);
      net.set_table(0, 1 + without, ways);
      net.step(14);
      u32 next = (source + 1) % 4;
      while (next == without) next = (next + 1) % 4;
      const auto left = net.events_at(EventKind::kSwitchGranted, 0);
      const u32 at = left.empty() ? kNone : left[0].event.out_port;
      if (next > source)
        EXPECT_EQ(at, next) << source << " " << without;
      else
        EXPECT_EQ(net.queue(0, next, 0, 0).size(), 1u) << source << " " << without;
    }
}

/// In the choice of a port, waiting messages of equal or higher priority count; messages of lower priority do not.
TEST(SconnectRouter, OnlyMessagesAheadCount) {
  const TextFile file("0,1\n0,2\n0,3\n0,4\n");
  RawConfig c = graph(file);
  std::vector<ScriptLine> lines;
  for (u32 cycle = 10; cycle < 14; ++cycle)
    for (u32 host : {0u, 1u}) lines.push_back({cycle, host, 2, 0});  // these leave by port 0
  for (u32 host : {0u, 1u}) lines.push_back({14, host, 4, 1});       // these leave by port 1
  lines.push_back({15, 0, 6, 1});                                    // may leave by either port
  lines.push_back({15, 1, 6, 0});
  c["router.reserve"] = IntList{1, 1, 0, 0};
  const SconnectScript script(c, lines, 2);
  SconnectNet net(c, script.text);
  net.set_table(0, 1, option(0, 0));
  net.set_table(0, 2, option(1, 0));
  net.set_table(0, 3, option(0, 0) | option(1, 0));
  net.step(16);
  EXPECT_EQ(net.queue(0, 0, 0, 0).size(), 3u);
  // It took port 0: three messages of lower priority wait there, and one of its own priority waits at port 1.
  EXPECT_EQ(net.queue(0, 0, 1, 0).size(), 1u);
  EXPECT_EQ(net.queue(0, 1, 1, 0).size(), 1u);
  EXPECT_EQ(net.queue(0, 1, 0, 0).size(), 1u);  // at port 0 four messages are ahead, here one
}

/// A quad that is being sent counts as a waiting message.
TEST(SconnectRouter, AQuadUnderWayCounts) {
  const TextFile file("0,1\n0,1\n");
  SconnectNet net(graph(file), sends(10, 0, 2, 4) + sends(12, 1, 2) + sends(20, 1, 2));
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  net.deliver(3);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 2}));
  EXPECT_EQ(sent_by(net, 0, 1), (std::vector<u32>{1}));
}

/// At the chosen port a message takes the virtual channel (VC) on which fewer messages of its priority wait, among
/// equals VC 0. When the third message arrives, the first one has left, so one message waits on VC 1 and none on VC 0.
/// When the fourth arrives, one waits on each.
TEST(SconnectRouter, TheVirtualChannelWithLessWaiting) {
  SconnectNet net(line(2), sends(10, 0, 2) + sends(10, 1, 2) + sends(11, 0, 2) + sends(11, 1, 2));
  net.set_table(0, 1, option(0, 0) | option(0, 1));
  net.deliver(4);
  std::vector<u32> vcs;
  for (const auto& e : net.events_at(EventKind::kSwitchGranted, 0)) vcs.push_back(e.event.out_vc);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 1, 2, 3}));
  EXPECT_EQ(vcs, (std::vector<u32>{0, 1, 0, 0}));
}

/// A message on virtual channel 1 stays there if the table allows it.
TEST(SconnectRouter, FromVirtualChannel1NoWayLeadsBack) {
  const auto vc_after = [](u32 came_on, sconnect::Options entry) {
    SconnectNet net(line(3), sends(10, 0, 4));
    net.set_table(0, 2, option(0, came_on));
    net.set_table(1, 2, entry);
    net.deliver(1);
    return u32{net.events_at(EventKind::kSwitchGranted, 1).at(0).event.out_vc};
  };
  EXPECT_EQ(vc_after(1, option(0, 0) | option(0, 1)), 1u);
  EXPECT_EQ(vc_after(0, option(0, 0) | option(0, 1)), 0u);
  EXPECT_EQ(vc_after(0, option(0, 1)), 1u);
  EXPECT_EQ(vc_after(1, option(0, 0)), 0u);
}

/// Three channels lead to a node without a free buffer, so message X is requeued from port 0. Two messages of X's
/// priority wait at port 1, and one of a higher priority at port 2. X leaves by port 1, before those two.
TEST(SconnectRouter, ARequeuedMessageGoesBeforeItsPriority) {
  const TextFile file("0,1\n0,1\n0,1\n");
  RawConfig c = graph(file, 5);
  set(c, "router.reserve=[4,1,0,0] router.control_buffers=0 router.host_buffers=64 host.refuses=[0]");
  std::vector<ScriptLine> lines;
  // Quads fill 32 of the 64 buffers of the destination. The others are reserved: 4 for each queue of three channels,
  // and 1 for each queue of priority 1.
  for (u32 i = 0; i < 8; ++i) lines.push_back({10, 0, 2, 0, 4});
  lines.push_back({170, 0, 2, 0});  // X leaves in cycle 171 and is requeued in 171 + 12
  for (u32 cycle = 179; cycle < 182; ++cycle)
    for (u32 host : {0u, 1u}) lines.push_back({cycle, host, 2, 0});
  for (u32 host : {0u, 1u}) lines.push_back({182, host, 2, 1});
  const SconnectScript script(c, lines, 2);
  SconnectNet net(c, script.text);
  net.set_table(0, 1, option(0, 0));
  net.step(170);
  ASSERT_EQ(held_for_hosts(net, 1), 32u);
  ASSERT_EQ(net.control(0).used, 0u);
  net.step(5);
  net.set_table(0, 1, option(1, 0));
  net.step(182 - 175);
  net.set_table(0, 1, option(2, 0));
  net.step();
  net.set_table(0, 1, option(0, 0) | option(1, 0) | option(2, 0));
  net.step();  // cycle 183
  EXPECT_EQ(net.queue(0, 2, 1, 0).size(), 1u);
  const auto waiting = net.queue(0, 1, 0, 0);
  ASSERT_EQ(waiting.size(), 3u);
  EXPECT_EQ(waiting[0].id, 8u);
  EXPECT_EQ(waiting[0].age, 1u);
  EXPECT_EQ(waiting[0].tried, 0u);
  net.step();
  EXPECT_EQ(sent_by(net, 0, 1).back(), 8u);
}

/// A damaged message is requeued to another port, even if more messages are ahead at that port.
TEST(SconnectRouter, ARequeuedMessagePrefersAnotherPort) {
  const TextFile file("0,1\n0,1\n");
  RawConfig c = graph(file, 5);
  const SconnectScript script(c, {{10, 0, 2, 0}, {22, 0, 2, 1}, {22, 1, 2, 1}}, 2);
  SconnectNet net(c, script.text);
  net.set_table(0, 1, option(0, 0));
  net.step(12);
  net.hit(0, 0);  // sent in cycle 11, requeued in 11 + 12
  net.set_table(0, 1, option(1, 0));
  net.step(23 - 12);
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  net.step();
  EXPECT_EQ(net.queue(0, 1, 1, 0).size(), 1u);
  EXPECT_EQ(net.queue(0, 1, 0, 0).size(), 1u);
  net.deliver(3);
  EXPECT_EQ(sent_by(net, 0, 1), (std::vector<u32>{1, 2, 0}));
}

/// In later TICs a message that was requeued before is routed like any other: to the port with fewer messages of its
/// priority, at the end of the queue.
TEST(SconnectRouter, ARequeueElsewhereHasNoEffect) {
  const TextFile file("0,1\n1,2\n1,2\n");  // at node 1, port 0 leads to node 0, ports 1 and 2 to node 2
  std::string trace = sends(10, 0, 4);
  for (u32 cycle = 16; cycle < 20; ++cycle) trace += sends(cycle, 2, 4) + sends(cycle, 3, 4);
  SconnectNet net(graph(file), trace);
  net.set_table(1, 2, option(1, 0));
  net.step(12);
  net.hit(0, 0);  // sent in 11, requeued in 17, sent again in 18, at node 1 in 20
  net.step(20 - 12);
  net.set_table(1, 2, option(1, 0) | option(2, 0));
  EXPECT_EQ(net.queue(1, 1, 0, 0).size(), 8u - 3);
  net.step();
  const auto left = net.events_at(EventKind::kSwitchGranted, 1).back();
  EXPECT_EQ(left.event.id, 0u);
  EXPECT_EQ(left.event.out_port, 2u);
  EXPECT_EQ(net.sent(1, 2).second.age, 1u);
  net.deliver(9);
  net.check();
}

/// Message A is requeued twice, then B once, while messages of higher priority block both. Age counts requeues, so A is
/// older and goes first. With routing.age = "head" B goes first, whatever its age.
TEST(SconnectRouter, OfTwoRequeuedMessagesTheOlderGoesFirst) {
  const TextFile file("0,1\n");
  for (const auto& [age, order] : {std::pair{"requeued", std::vector<u32>{0, 1}}, {"all", {0, 1}}, {"head", {1, 0}}}) {
    SCOPED_TRACE(age);
    RawConfig c = graph(file, 5);
    c["routing.age"] = word(age);
    std::vector<ScriptLine> lines{{10, 0, 2, 0}, {24, 0, 2, 0}};
    for (u32 cycle = 36; cycle < 39; ++cycle) lines.push_back({cycle, 1, 2, 1});
    const SconnectScript script(c, lines, 2);
    SconnectNet net(c, script.text);
    net.set_table(0, 1, option(0, 0));
    for (u32 cycle : {11u, 24u, 25u}) {  // A, requeued in 23; A again, requeued in 36; B, requeued in 37
      net.step(cycle + 1 - net.now());
      net.hit(0, 0);
    }
    net.step(39 - net.now());
    const auto waiting = net.queue(0, 0, 0, 0);
    ASSERT_EQ(waiting.size(), 2u);
    EXPECT_EQ(waiting[order[0]].age, 2u);
    EXPECT_EQ(waiting[order[1]].age, 1u);
    net.deliver(5);
    const std::vector<u32> sent = sent_by(net, 0, 0);
    EXPECT_EQ(std::vector<u32>(sent.end() - 2, sent.end()), order);
    net.check();
  }
}

}  // namespace
}  // namespace flitlab::sconnect_choice_test
