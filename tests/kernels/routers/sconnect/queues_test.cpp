/// Rules of a TIC, one by one (S-Connect, 2.3, 3): order of departure, allocation of buffers, and messages that hosts
/// refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/sconnect.hpp"
#include "tests/support/sconnect/two_hosts.hpp"

namespace flitlab::sconnect_queues_test {
namespace {

using sconnect::option;
using namespace testing;
using testing::two_hosts::held_for_hosts;
using testing::two_hosts::line;
using testing::two_hosts::sent_by;

// Transmitters.

/// Two host ports create two messages per cycle, of which one leaves. A higher priority goes first even if its message
/// was created later; among equal priorities the earlier message goes first.
TEST(SconnectRouter, HigherPrioritiesGoFirst) {
  RawConfig c = line(2);
  const SconnectScript script(
      c, {{10, 0, 2, 0}, {10, 1, 2, 0}, {11, 0, 2, 1}, {11, 1, 2, 3}, {12, 0, 2, 2}, {12, 1, 2, 0}});
  SconnectNet net(c, script.text);
  net.deliver(6);
  EXPECT_EQ(sent_by(net, 0, 0), (std::vector<u32>{0, 3, 4, 2, 1, 5}));
}

/// Under load no message leaves while one of a higher priority waits for the same port.
TEST(SconnectRouter, NothingLeavesBeforeAHigherPriority) {
  RawConfig c = line(3);
  set(c, "host.priorities=[4,3,2,1] traffic.load=0.5");
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
    net.discard_events();
    net.step();
    for (const auto& e : net.events_at(EventKind::kSwitchGranted, 1)) {
      if (e.event.out_port != 0) continue;
      ASSERT_NE(highest, kNone);  // port 0 comes first in a cycle, so the messages that it sends had waited before
      ASSERT_EQ(net.sent(1, 0).second.priority, highest);
      passed_over += lowest < highest;
    }
  }
  EXPECT_GT(passed_over, 50u);
}

/// Sets tables so that two destinations use the same channel, one on virtual channel 0 and the other on 1.
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

/// The virtual channel that was not served last is served next, however long it was empty.
TEST(SconnectRouter, ALoneVirtualChannelUsesTheWholeChannel) {
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

/// A queue may use all buffers that are not reserved for others. At the end of the line these reservations are 3
/// buffers for each of the two queues of the channel back, and one each for control requests and replies. Each queue
/// gets its reservation.
TEST(SconnectRouter, AQueueGetsItsReservation) {
  RawConfig c = line(2);
  set(c, "router.buffers=42 router.reserve=[3,0,0,0] router.host_buffers=40 host.refuses=[0]");
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

/// A quad needs four buffers at once, from its queue's reservation or from unreserved buffers. Of 44 buffers, 2 times 4
/// are reserved for other queues and 2 for control messages. The rest hold eight quads and two messages.
TEST(SconnectRouter, AQuadTakesFourBuffers) {
  RawConfig c = line(2);
  set(c, "router.buffers=44 router.reserve=[4,0,0,0] host.refuses=[0]");
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

/// If host_buffers or more are in use, a host's message waits outside of the TIC, unless its queue in the TIC is empty.
TEST(SconnectRouter, HostsLeaveRoom) {
  RawConfig c = line(2);
  set(c, "router.host_buffers=7 host.refuses=[0]");
  std::vector<ScriptLine> lines;
  for (u32 i = 0; i < 10; ++i) lines.push_back({10, 0, 1, 0});  // to the same node
  lines.push_back({60, 1, 2, 1});
  lines.push_back({60, 1, 2, 1});
  const SconnectScript script(c, lines, 2);
  SconnectNet net(c, script.text);
  net.step(50);
  EXPECT_EQ(net.control(0).used, 7u);
  net.step(12);
  EXPECT_EQ(net.control(0).used, 8u);
  EXPECT_EQ(net.injected({1, 10}), 60u);
  net.deliver(2);  // the next message enters when the first one has been delivered
  EXPECT_EQ(net.injected({1, 11}), 61u + 6);
}

// Hosts.

/// A refused message waits, and messages of lower priority wait behind it.
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

/// A message of priority n + 1 is delivered even if all TICs are full of messages of priority n that hosts refuse
/// (S-Connect, 2.3). Hosts have one queue, so the test changes the priority of the next message to n + 1.
TEST(SconnectRouter, LowerPrioritiesDoNotBlockHigherOnes) {
  for (u32 n = 0; n < 3; ++n)
    for (const char* kind : {"mesh", "random"}) {
      RawConfig c = Settings("topology.kind=", kind, " traffic.load=1.0 host.queues=single host.refuses=", IntList{n});
      if (kind == std::string("mesh"))
        c["topology.shape"] = IntList{3, 3};
      else
        c["topology.nodes"] = integer(10);
      IntList weights{0, 0, 0, 0};
      weights[n] = 1000000;
      weights[n + 1] = 1;  // so that buffers are reserved for priority n + 1
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

}  // namespace
}  // namespace flitlab::sconnect_queues_test
