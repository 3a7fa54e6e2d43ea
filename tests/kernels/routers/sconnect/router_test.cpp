/// The rules of a TIC one by one (S-Connect, 2.3, 3, 3.1, 3.2), each where it alone decides.
#include <gtest/gtest.h>

#include <set>

#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/fabrics.hpp"
#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::sconnect_router_test {
namespace {

using sconnect::kPorts;
using sconnect::option;
using testing::integer;
using testing::MessageName;
using testing::SconnectNet;
using testing::SconnectScript;
using testing::ScriptLine;
using testing::sends;
using testing::TextFile;
using testing::word;

/// Nodes in a line, two host ports each (terminals 2 n and 2 n + 1): port 0 leads on, port 1 back.
RawConfig line(std::int64_t nodes, std::int64_t delay = 2) {
  return {
      {"topology.shape", IntList{nodes}}, {"topology.host_ports", integer(2)}, {"topology.channel_delay", 6 * delay}};
}

RawConfig graph(const TextFile& file, std::int64_t delay = 2) {
  return {{"topology.kind", word("graph")},
          {"topology.file", file.path},
          {"topology.host_ports", integer(2)},
          {"topology.channel_delay", 6 * delay}};
}

/// Numbers of the messages that a TIC has begun to send by a port, in order.
std::vector<u32> sent_by(const SconnectNet& net, u32 tic, u32 p) {
  std::vector<u32> ids;
  for (const auto& e : net.events_at(EventKind::kSwitchGranted, tic))
    if (e.event.out_port == p) ids.push_back(e.event.id);
  return ids;
}

// Transmitters.

/// Two hosts' ports give two messages a cycle, of which one leaves: whatever came later with a higher priority goes
/// first, and among equals who came first.
TEST(SconnectRouter, HigherPrioritiesGoFirst) {
  RawConfig c = line(2);
  const SconnectScript script(
      c, {{10, 0, 2, 0}, {10, 1, 2, 0}, {11, 0, 2, 1}, {11, 1, 2, 3}, {12, 0, 2, 2}, {12, 1, 2, 0}});
  SconnectNet net(c, script.text);
  net.deliver(6);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 3, 4, 2, 1, 5}));
}

/// Under load: no message leaves while one of a higher priority waits for the same port.
TEST(SconnectRouter, NothingLeavesBeforeAHigherPriority) {
  RawConfig c = line(3);
  c["host.priorities"] = IntList{4, 3, 2, 1};
  c["traffic.load"] = 0.5;
  SconnectNet net(c);
  u32 passed_over = 0;
  for (u32 cycle = 0; cycle < 400; ++cycle) {
    u32 highest = kNone, lowest = 4;
    for (u32 priority = 0; priority < 4; ++priority)
      for (u32 vc = 0; vc < 2; ++vc)
        if (!net.queue(1, 0, priority, vc).empty()) {
          highest = priority;
          lowest = std::min(lowest, priority);
        }
    net.forget_events();
    net.step();
    for (const auto& e : net.events_at(EventKind::kSwitchGranted, 1)) {
      if (e.event.out_port != 0) continue;
      ASSERT_NE(highest, kNone);  // port 0 comes first in a cycle: what it sends was there before
      ASSERT_EQ(net.sent(1, 0).second.priority, highest);
      passed_over += lowest < highest;
    }
  }
  EXPECT_GT(passed_over, 50u);
}

/// One destination on virtual channel 0, one on 1, over the same channel.
void use_two_vcs(SconnectNet& net) {
  net.set_table(0, 1, option(0, 0));
  net.set_table(0, 2, option(0, 1));
  net.set_table(1, 2, option(0, 0) | option(0, 1));
}

TEST(SconnectRouter, VirtualChannelsTakeTurns) {
  std::string trace;
  for (u32 i = 0; i < 10; ++i) trace += sends(10, 0, 2) + sends(10, 1, 4);
  SconnectNet net(line(3), trace);
  use_two_vcs(net);
  net.deliver(20);
  std::vector<u32> in_turns(20);
  for (u32 i = 0; i < 20; ++i) in_turns[i] = i;
  EXPECT_EQ(sent_by(net, 0, 0), in_turns);
}

/// The one that has not been served last has the next turn, however long the other one was alone.
TEST(SconnectRouter, AVirtualChannelThatIsAloneHasTheWholeChannel) {
  std::string trace;
  for (u32 i = 0; i < 10; ++i) trace += sends(10, 1, 4);
  trace += sends(20, 0, 2) + sends(20, 1, 4) + sends(20, 1, 4);
  SconnectNet net(line(3), trace);
  use_two_vcs(net);
  net.deliver(13);
  const auto left = net.events_at(EventKind::kSwitchGranted, 0);
  for (u32 i = 0; i < 10; ++i) EXPECT_EQ(left[i].cycle, 11 + i);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

// Buffers.

/// Buffers of the messages to a TIC's two hosts' ports.
u32 held_for_hosts(const SconnectNet& net, u32 tic) {
  return u32{net.control(tic).held[4 * 8]} + net.control(tic).held[5 * 8];
}

/// Queues may have all that is not kept for others. At the end of the line these are two, of the channel back, with 3
/// buffers each, and one each for control requests and replies. What is kept for a queue, that one gets.
TEST(SconnectRouter, AQueueGetsWhatIsKeptForIt) {
  RawConfig c = line(2);
  c["router.buffers"] = integer(42);
  c["router.reserve"] = IntList{3, 0, 0, 0};
  c["router.host_buffers"] = integer(40);
  c["host.refuses"] = IntList{0};
  std::string trace;
  for (u32 i = 0; i < 60; ++i) trace += sends(10, 0, 2);
  for (u32 i = 0; i < 20; ++i) trace += sends(250, 2, 0);
  SconnectNet net(c, trace);
  net.step(240);
  EXPECT_EQ(held_for_hosts(net, 1), 42u - 2 * 3 - 2);
  EXPECT_EQ(net.control(1).used, 42u - 2 * 3 - 2);
  net.step(200);
  EXPECT_GT(held_for_hosts(net, 0), 0u);
  EXPECT_EQ(held_for_hosts(net, 1), 42u - 2 * 3 - 2);
  net.check();
}

/// A quad needs four buffers at once, of its own queue or of nobody's: 44 less 2 times 4, and 2 for control messages,
/// hold eight quads and two messages.
TEST(SconnectRouter, AQuadTakesFourBuffers) {
  RawConfig c = line(2);
  c["router.buffers"] = integer(44);
  c["router.reserve"] = IntList{4, 0, 0, 0};
  c["host.refuses"] = IntList{0};
  std::string trace;
  for (u32 i = 0; i < 9; ++i) trace += sends(10, 0, 2, 4);
  for (u32 i = 0; i < 3; ++i) trace += sends(300, 1, 2);
  SconnectNet net(c, trace);
  net.step(290);
  EXPECT_EQ(held_for_hosts(net, 1), 8 * 4u);
  net.step(100);
  EXPECT_EQ(held_for_hosts(net, 1), 8 * 4u + 2);
  net.check();
}

/// A host's message waits outside while host_buffers or more are in use, unless none of its queue is inside.
TEST(SconnectRouter, HostsLeaveRoom) {
  RawConfig c = line(2);
  c["router.host_buffers"] = integer(7);
  c["host.refuses"] = IntList{0};
  std::vector<ScriptLine> lines;
  for (u32 i = 0; i < 10; ++i) lines.push_back({10, 0, 1, 0});  // to the node itself
  lines.push_back({60, 1, 2, 1});
  lines.push_back({60, 1, 2, 1});
  const SconnectScript script(c, lines, 2);
  SconnectNet net(c, script.text);
  net.step(50);
  EXPECT_EQ(net.control(0).used, 7u);
  net.step(12);
  EXPECT_EQ(net.control(0).used, 8u);
  EXPECT_EQ(net.injected({1, 10}), 60u);
  net.deliver(2);  // the next one when the first has been taken
  EXPECT_EQ(net.injected({1, 11}), 61u + 6);
}

// The routing decision.

/// Two channels lead on: the one where less waits, and of equals that whose turn comes first after the message's port.
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
  for (u32 came = 0; came < 4; ++came)
    for (u32 without = 0; without < 4; ++without) {
      if (without == came) continue;
      SconnectNet net(graph(file), sends(10, 2 * (1 + came), 2 * (1 + without)));
      sconnect::Options ways = 0;
      for (u32 p = 0; p < 4; ++p)
        if (p != came && p != without) ways |= option(p, 0);
      net.set_table(0, 1 + without, ways);
      net.step(14);
      u32 next = (came + 1) % 4;
      while (next == without) next = (next + 1) % 4;
      const auto left = net.events_at(EventKind::kSwitchGranted, 0);
      const u32 at = left.empty() ? kNone : left[0].event.out_port;
      if (next > came)
        EXPECT_EQ(at, next) << came << " " << without;
      else
        EXPECT_EQ(net.queue(0, next, 0, 0).size(), 1u) << came << " " << without;
    }
}

/// What has a lower priority does not count; what has a higher or the same does.
TEST(SconnectRouter, OnlyWhatGoesBeforeCounts) {
  const TextFile file("0,1\n0,2\n0,3\n0,4\n");
  RawConfig c = graph(file);
  std::vector<ScriptLine> lines;
  for (u32 cycle = 10; cycle < 14; ++cycle)
    for (u32 host : {0u, 1u}) lines.push_back({cycle, host, 2, 0});  // by port 0
  for (u32 host : {0u, 1u}) lines.push_back({14, host, 4, 1});       // by port 1
  lines.push_back({15, 0, 6, 1});                                    // by either
  lines.push_back({15, 1, 6, 0});
  const SconnectScript script(c, lines, 2);
  SconnectNet net(c, script.text);
  net.set_table(0, 1, option(0, 0));
  net.set_table(0, 2, option(1, 0));
  net.set_table(0, 3, option(0, 0) | option(1, 0));
  net.step(16);
  EXPECT_EQ(net.queue(0, 0, 0, 0).size(), 3u);
  EXPECT_EQ(net.queue(0, 0, 1, 0).size(), 1u);  // 3 of a lower priority against one of its own
  EXPECT_EQ(net.queue(0, 1, 1, 0).size(), 1u);
  EXPECT_EQ(net.queue(0, 1, 0, 0).size(), 1u);  // 4 that go before against one
}

/// The quad that is going out counts like a message that waits.
TEST(SconnectRouter, AQuadUnderWayCounts) {
  const TextFile file("0,1\n0,1\n");
  SconnectNet net(graph(file), sends(10, 0, 2, 4) + sends(12, 1, 2) + sends(20, 1, 2));
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  net.deliver(3);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 2}));
  EXPECT_EQ(sent_by(net, 0, 1), (std::vector<u32>{1}));
}

/// On the port that is chosen, the virtual channel with less of the same priority; of equals 0. The first message has
/// gone when the third one comes, so that there is one on 1 and none on 0; then there is one on each.
TEST(SconnectRouter, TheVirtualChannelWithLessWaiting) {
  SconnectNet net(line(2), sends(10, 0, 2) + sends(10, 1, 2) + sends(11, 0, 2) + sends(11, 1, 2));
  net.set_table(0, 1, option(0, 0) | option(0, 1));
  net.deliver(4);
  std::vector<u32> vcs;
  for (const auto& e : net.events_at(EventKind::kSwitchGranted, 0)) vcs.push_back(e.event.out_vc);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 1, 2, 3}));
  EXPECT_EQ(vcs, (std::vector<u32>{0, 1, 0, 0}));
}

/// What has come on virtual channel 1 stays there where the table lets it.
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

/// Three channels lead to a node that has no buffer left. Message X comes back from port 0. Port 1 has two of X's
/// priority waiting, port 2 one of a higher one: X goes by port 1, before those that wait there.
TEST(SconnectRouter, WhatCameBackGoesBeforeItsPriorityElsewhere) {
  const TextFile file("0,1\n0,1\n0,1\n");
  RawConfig c = graph(file, 5);
  c["router.reserve"] = IntList{4, 1, 0, 0};
  c["router.control_buffers"] = integer(0);
  c["router.host_buffers"] = integer(64);
  c["host.refuses"] = IntList{0};
  std::vector<ScriptLine> lines;
  // 32 of 64 buffers: all but 4 for each queue of three channels, and 1 for each of priority 1.
  for (u32 i = 0; i < 8; ++i) lines.push_back({10, 0, 2, 0, 4});
  lines.push_back({170, 0, 2, 0});  // X: leaves in 171, is back in 171 + 12
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
  net.step();  // 183
  EXPECT_EQ(net.queue(0, 2, 1, 0).size(), 1u);
  const auto waiting = net.queue(0, 1, 0, 0);
  ASSERT_EQ(waiting.size(), 3u);
  EXPECT_EQ(waiting[0].id, 8u);
  EXPECT_EQ(waiting[0].age, 1u);
  EXPECT_EQ(waiting[0].tried, 0u);
  net.step();
  EXPECT_EQ(sent_by(net, 0, 1).back(), 8u);
}

/// A message that was damaged takes another port than it did, though more goes before it there.
TEST(SconnectRouter, WhatCameBackPrefersAnotherPort) {
  const TextFile file("0,1\n0,1\n");
  RawConfig c = graph(file, 5);
  const SconnectScript script(c, {{10, 0, 2, 0}, {22, 0, 2, 1}, {22, 1, 2, 1}}, 2);
  SconnectNet net(c, script.text);
  net.set_table(0, 1, option(0, 0));
  net.step(12);
  net.hit(0, 0);  // in 11: back in 11 + 12
  net.set_table(0, 1, option(1, 0));
  net.step(23 - 12);
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  net.step();
  EXPECT_EQ(net.queue(0, 1, 1, 0).size(), 1u);
  EXPECT_EQ(net.queue(0, 1, 0, 0).size(), 1u);
  net.deliver(3);
  EXPECT_EQ(sent_by(net, 0, 1), (std::vector<u32>{1, 2, 0}));
}

/// Elsewhere it is a message like any other: it goes where less of its own priority waits, and to the end.
TEST(SconnectRouter, WhatCameBackSomewhereElseDoesNot) {
  const TextFile file("0,1\n1,2\n1,2\n");  // node 1: port 0 to node 0, ports 1 and 2 to node 2
  std::string trace = sends(10, 0, 4);
  for (u32 cycle = 16; cycle < 20; ++cycle) trace += sends(cycle, 2, 4) + sends(cycle, 3, 4);
  SconnectNet net(graph(file), trace);
  net.set_table(1, 2, option(1, 0));
  net.step(12);
  net.hit(0, 0);  // in 11; it is back in 17, leaves again in 18, and is at node 1 in 20
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

// Hosts.

/// What a host refuses waits, and so does what has a lower priority behind it.
TEST(SconnectRouter, HostsRefusePriorities) {
  RawConfig c = line(2);
  c["host.refuses"] = IntList{1};
  const SconnectScript script(
      c, {{10, 0, 2, 0}, {20, 0, 2, 1}, {30, 0, 2, 0}, {40, 0, 2, 2}, {50, 0, 2, 3}, {60, 0, 2, 1}});
  SconnectNet net(c, script.text);
  net.set_table(1, 1, option(4, 0));
  net.step(200);
  EXPECT_EQ(net.total(sconnect::Count::kDelivered, 0), 1u);
  EXPECT_EQ(net.total(sconnect::Count::kDelivered, 1), 0u);
  EXPECT_EQ(net.total(sconnect::Count::kDelivered, 2), 1u);
  EXPECT_EQ(net.total(sconnect::Count::kDelivered, 3), 1u);
  EXPECT_EQ(net.queue(1, 4, 1, 0).size(), 2u);
  EXPECT_EQ(net.queue(1, 4, 0, 0).size(), 1u);
  net.check();
}

/// A message of priority n + 1 is delivered though all TICs are full of messages of priority n that nobody takes
/// (S-Connect, 2.3).
TEST(SconnectRouter, APriorityIsNotHeldUpByLowerOnes) {
  for (u32 n = 0; n < 3; ++n)
    for (const char* kind : {"mesh", "random"}) {
      RawConfig c{{"topology.kind", word(kind)}, {"traffic.load", 1.0}, {"host.refuses", IntList{n}}};
      if (kind == std::string("mesh"))
        c["topology.shape"] = IntList{3, 3};
      else
        c["topology.nodes"] = integer(10);
      IntList weights{0, 0, 0, 0};
      weights[n] = 1000000;
      weights[n + 1] = 1;  // so that buffers are promised to it
      c["host.priorities"] = weights;
      SconnectNet net(c);
      net.step(1500);
      const u64 inside = net.total(Total::kPacketsInjected);
      net.step(200);
      ASSERT_EQ(net.total(Total::kPacketsInjected), inside) << "not full yet";
      for (u32 times = 1; times <= 5; ++times) {
        auto host = net.fields<sconnect::HostControl>(1, "host");
        const u32 hosts = net.fabric().terminals;
        for (u32 h = 0; h < hosts; ++h) {
          ASSERT_EQ(host(h).ready, 1u);
          host(h).offered.priority = static_cast<u8>(n + 1);
        }
        host.write();
        net.step(400);
        EXPECT_EQ(net.total(sconnect::Count::kDelivered, n + 1), u64{hosts} * times) << n << " " << kind;
      }
      EXPECT_EQ(net.total(sconnect::Count::kDelivered, n), 0u);
      net.check();
    }
}

// Channels.

/// Damaged on the way: it comes back a round later and goes once more; nothing is lost or taken twice.
TEST(SconnectRouter, ADamagedMessageGoesAgain) {
  SconnectNet net(line(2), sends(10, 0, 2));
  net.step(12);
  net.hit(0, 0);
  net.deliver(1);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 0}));
  EXPECT_EQ(net.events_at(EventKind::kSwitchGranted, 0)[1].cycle, 11u + 6 + 1);
  EXPECT_EQ(net.register_of(1, "damaged.0"), 1u);
  EXPECT_EQ(net.register_of(0, "failed.0"), 1u);
  net.step(20);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
  EXPECT_EQ(net.control(0).used + net.control(1).used, 0);
  net.check();
}

/// The answer is hit: the message goes again in the slot in which it went, with the same sequence bit, by which the
/// receiver knows it.
TEST(SconnectRouter, AMessageWhoseAnswerIsLostGoesAgainInItsSlot) {
  SconnectNet net(line(2), sends(10, 0, 2) + sends(15, 0, 2) + sends(16, 0, 2));
  net.step(12);
  const auto first = net.sent(0, 0);
  EXPECT_TRUE(first.first & sconnect::kPresent);
  net.step(3);  // the answer leaves in 14
  EXPECT_FALSE(net.sent(1, 0).first & sconnect::kPresent);
  EXPECT_TRUE(net.sent(1, 0).first & sconnect::kAnswer);
  net.hit(1, 0);
  net.step(3);  // 17: 11 and a round of 6
  EXPECT_EQ(net.sent(0, 0).first & (sconnect::kPresent | sconnect::kSequence),
            first.first & (sconnect::kPresent | sconnect::kSequence));
  EXPECT_EQ(net.sent(0, 0).second.id, 0u);
  net.deliver(3);
  net.step(20);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 3u);
  EXPECT_EQ(net.total(sconnect::Count::kDuplicates), 1u);
  EXPECT_EQ(net.total(sconnect::Count::kSentAgain), 1u);
  EXPECT_EQ(net.register_of(0, "lost.0"), 1u);
  EXPECT_EQ(net.register_of(0, "failed.0"), 0u);
  EXPECT_EQ(net.delivered({0, 1}), 15u + 1 + 2);  // in 16, before the slot that is taken
  EXPECT_EQ(net.delivered({0, 2}), 16u + 2 + 2);  // in 18, after it
  EXPECT_EQ(net.control(0).used, 0u);
  net.check();
}

/// A damaged message that has left before that was known is made void on its way out (S-Connect, 3.1, 3.2): node 1
/// sends it with an abort bit, and node 2 does not take it.
TEST(SconnectRouter, ADamagedMessageIsAbortedOnItsWayOut) {
  for (const bool back : {false, true})
    for (u32 flits : {1u, 4u}) {
      SconnectNet net(line(3), back ? sends(10, 4, 0, flits) : sends(10, 0, 4, flits));
      const u32 first = back ? 2 : 0, in = back ? 0 : 1, out = back ? 1 : 0, last = back ? 0 : 2;
      net.step(11 + flits);
      net.hit(first, back ? 1 : 0);  // a message, or the last part of a quad
      net.step(2 + !back);           // it is there in 11 + flits + 1, and leaves there, or in the next cycle
      EXPECT_TRUE(net.sent(1, out).first & sconnect::kAbort);
      EXPECT_EQ(net.total(sconnect::Count::kAborted), 1u);
      EXPECT_EQ(net.control(1).used, 0u);
      EXPECT_EQ(net.register_of(1, "damaged." + std::to_string(in)), 1u);
      net.step();
      EXPECT_EQ(net.control(last).used, flits == 1 ? 0u : 4u);  // three parts of the quad have come
      net.step();
      EXPECT_EQ(net.control(last).used, 0u);
      net.deliver(1);
      net.step(30);
      EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
      EXPECT_EQ(net.register_of(1, "failed." + std::to_string(out)), 0u);  // nobody asks for it
      net.check();
    }
}

/// One that is still waiting when it is known is thrown away, and nothing of it leaves.
TEST(SconnectRouter, ADamagedMessageThatWaitsIsThrownAway) {
  std::string trace = sends(10, 0, 4);
  for (u32 cycle = 11; cycle < 14; ++cycle) trace += sends(cycle, 2, 4) + sends(cycle, 3, 4);
  SconnectNet net(line(3), trace);
  net.set_table(1, 2, option(0, 0));
  net.step(12);
  net.hit(0, 0);
  net.step(2);  // 13
  EXPECT_EQ(net.queue(1, 0, 0, 0).size(), 2 * 3 - 2 + 1u);
  net.step();
  EXPECT_EQ(net.queue(1, 0, 0, 0).size(), 2 * 3 - 3u);
  EXPECT_EQ(net.total(sconnect::Count::kAborted), 0u);
  net.deliver(7);
  net.check();
}

/// A quad that ended damaged and a damaged message that came in the slot after it are both thrown away: the quad's
/// first part was hit, so its train ends with the slot after its last one.
TEST(SconnectRouter, AQuadAndAMessageThatComeDamagedAreBothThrownAway) {
  const std::string trace = sends(10, 0, 4, 4) + sends(10, 1, 4);
  RawConfig c = line(3);
  c["host.refuses"] = IntList{0};
  SconnectNet net(c, trace);
  net.set_table(0, 2, option(0, 0));
  net.set_table(1, 2, option(4, 0));  // waits at node 1
  net.step(12);
  net.hit(0, 0);  // the first part
  net.step(3);
  net.hit(0, 0);  // the last one
  net.step();
  net.hit(0, 0);  // the message after it
  net.step();
  EXPECT_EQ(net.control(1).used, 4u);
  net.step();
  EXPECT_EQ(net.control(1).used, 4u + 1);
  net.step();
  EXPECT_EQ(net.control(1).used, 0u);
  net.check();
}

// Parallel ports.

/// Between two TICs a parallel port is a channel of one routing cycle: a message a cycle, and no errors.
TEST(SconnectRouter, ParallelPortsJoinTics) {
  const TextFile file("node,a,2\nnode,b,2\nchannel,a,b\nchannel,a,b\nchannel,a,b\n");
  RawConfig c{{"topology.kind", word("graph")}, {"topology.file", file.path}, {"topology.node", word("dual")}};
  std::string trace;
  for (u32 i = 0; i < 50; ++i) trace += sends(10, 0, 1);
  SconnectNet net(c, trace);
  ASSERT_EQ(net.fabric().link(0, 5).kind, sconnect::LinkKind::kParallel);
  ASSERT_EQ(net.fabric().link(0, 5).far, 1u);
  net.set_table(0, 1, option(5, 1));
  net.set_table(1, 1, option(0, 1));
  ASSERT_EQ(net.fabric().link(1, 0).far, 3u);
  net.set_table(3, 1, option(5, 1));
  net.deliver(50);
  EXPECT_EQ(net.register_of(0, "carried.5"), 50u);
  EXPECT_EQ(net.register_of(3, "carried.5"), 50u);
  // In 10 from 4 to 5, in 11 over the parallel port, in 12 by channel 0 of the other TIC, and so on.
  EXPECT_EQ(net.delivered({0, 0}), 10u + 1 + 1 + 2 + 1 + 1);
  EXPECT_EQ(net.total(Total::kLastDelivery), net.delivered({0, 0}) + 49);

  c["channel.error_rate"] = 0.01;
  c["traffic.load"] = 0.3;
  SconnectNet noisy(c);
  noisy.set_table(0, 1, option(5, 1));
  noisy.set_table(1, 1, option(0, 1));
  noisy.set_table(3, 1, option(5, 1));
  noisy.step(500);
  EXPECT_GT(noisy.register_of(0, "carried.5"), 50u);  // half of 0.3 times 500: the others stay at their node
  for (u32 tic = 0; tic < 4; ++tic) EXPECT_EQ(noisy.register_of(tic, "damaged.5"), 0u);
  EXPECT_GT(noisy.register_of(3, "damaged.0"), 50u);
  noisy.check();
}

// Ports that are switched off.

/// What waits for one takes another way, in order of priority and one a cycle, and nothing goes by it.
TEST(SconnectRouter, APortThatIsOffIsAvoided) {
  const TextFile file("0,1\n0,1\n");
  std::string trace;
  for (u32 i = 0; i < 6; ++i) trace += sends(10, 0, 2) + sends(10, 1, 2);
  trace += sends(30, 0, 2);
  SconnectNet net(graph(file), trace);
  net.set_table(0, 1, option(0, 0));
  net.step(16);  // 12 have come, 5 have gone
  ASSERT_EQ(net.queue(0, 0, 0, 0).size(), 7u);
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  net.disable(0, 0);
  net.step();
  EXPECT_EQ(net.queue(0, 0, 0, 0).size(), 6u);
  EXPECT_EQ(net.queue(0, 1, 0, 0).size(), 1u);
  net.step(80);
  EXPECT_EQ(net.register_of(0, "carried.0"), 5u);
  EXPECT_EQ(net.register_of(0, "carried.1"), 8u);
  EXPECT_GE(net.total(Total::kPacketsDelivered), 8u);
  net.enable(0, 0);
  net.deliver(13);
  net.step(30);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 13u);
  EXPECT_EQ(net.control(0).used, 0u);
  net.check();
}

/// Whenever and for however long an end of a channel is switched off, no message is lost and none is taken twice.
TEST(SconnectRouter, SwitchingAPortOffLosesNothing) {
  std::string trace;
  for (u32 i = 0; i < 14; ++i) trace += sends(10, 0, 2) + sends(10, 2, 0);
  std::string quads;
  for (u32 i = 0; i < 6; ++i) quads += sends(10, 0, 2, 4) + sends(10, 2, 0, i % 2 ? 1 : 4);
  for (const auto& [text, messages] : {std::pair{trace, 28u}, std::pair{quads, 12u}})
    for (u32 delay : {1u, 2u})
      for (u32 begin = 10; begin < 34; ++begin)
        for (u32 cycles = 1; cycles < 8; ++cycles) {
          SconnectNet net(line(2, delay), text);
          net.step(begin);
          net.disable(1, 0);
          net.step(cycles);
          net.enable(1, 0);
          net.deliver(messages, 200);
          net.step(4 * (delay + 1) + 2);
          ASSERT_EQ(net.total(Total::kPacketsDelivered), messages) << delay << " " << begin << " " << cycles;
          ASSERT_EQ(net.control(0).used + net.control(1).used, 0) << delay << " " << begin << " " << cycles;
          net.check();
        }
}

}  // namespace
}  // namespace flitlab::sconnect_router_test
