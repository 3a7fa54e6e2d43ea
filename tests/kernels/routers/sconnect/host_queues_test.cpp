/// The order in which a host offers packets to a TIC (S-Connect, 2.3, 3): the oldest packet of each priority, highest
/// priority first; or, with one queue, the oldest packet of all.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/routers/sconnect/host_queues.hpp"
#include "kernels/routers/sconnect/tic.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/sconnect.hpp"
#include "tests/support/sconnect/two_hosts.hpp"

namespace flitlab::sconnect_host_queues_test {
namespace {

using sconnect::option;
using namespace testing;
using testing::two_hosts::line;

/// Configuration of two nodes whose hosts refuse some priorities. A TIC accepts a second message for a queue only if
/// the queue is empty. So the first refused message enters and stays, and it blocks the others of its priority.
RawConfig narrow(IntList refuses) {
  RawConfig c = line(2);
  set(c, "router.host_buffers=1 host.refuses=", std::move(refuses));
  return c;
}

/// A fabric in which terminal 0 sends by port 4 to its own node, where only port 4 leads to the host.
struct OnePort : SconnectNet {
  OnePort(const RawConfig& c, const std::string& trace) : SconnectNet(c, trace) { set_table(0, 0, option(4, 0)); }
};

/// Priority 0 stays blocked. Messages of higher priorities enter at once, one per cycle, the highest first. A message
/// that has entered is presented to the receiving host in the next cycle, before the sending host offers another one.
TEST(SconnectHostQueues, TheHighestPriorityGoesFirst) {
  RawConfig c = narrow({0});
  const SconnectScript script(
      c, {{10, 0, 1, 0}, {10, 0, 1, 0}, {10, 0, 1, 1}, {20, 0, 1, 1}, {30, 0, 1, 2}, {30, 0, 1, 3}, {30, 0, 1, 1}});
  OnePort net(c, script.text);
  net.step(60);
  const std::map<u32, u32> injected{{2, 10}, {0, 11}, {3, 20}, {5, 30}, {4, 31}, {6, 32}};
  for (u32 id = 0; id < 7; ++id)
    EXPECT_EQ(net.injected({0, id}), injected.contains(id) ? injected.at(id) : kNever) << id;
  for (u32 id = 2; id < 7; ++id) EXPECT_EQ(net.delivered({0, id}), injected.at(id) + 1) << id;
  EXPECT_EQ(net.delivered({0, 0}), kNever);
  net.check();
}

/// With one queue the second message of priority 0 blocks all others.
TEST(SconnectHostQueues, OneQueueKeepsTheOrder) {
  RawConfig c = narrow({0});
  const SconnectScript script(c, {{10, 0, 1, 0}, {10, 0, 1, 0}, {10, 0, 1, 1}, {20, 0, 1, 1}});
  c["host.queues"] = word("single");
  OnePort net(c, script.text);
  net.step(60);
  EXPECT_EQ(net.injected({0, 0}), 10u);
  for (u32 id : {1u, 2u, 3u}) EXPECT_EQ(net.injected({0, id}), kNever) << id;
  net.check();
}

/// The TIC accepts the first offered message for which it has a buffer: priority 3 has none, so priority 0 enters.
/// Counter 30 counts cycles in which some message found no buffer. It counts a cycle once, however many messages found
/// none and whether another one entered: cycles 11 to 20.
TEST(SconnectHostQueues, ALowerPriorityEntersWhereTheHighestFindsNoBuffer) {
  RawConfig c = narrow({3});
  const SconnectScript script(c, {{10, 0, 1, 3}, {10, 0, 1, 3}, {10, 0, 1, 0}, {10, 0, 1, 0}});
  OnePort net(c, script.text);
  net.set_register(0, "counting", sconnect::kInjectionHeldUp);
  net.step(21);
  EXPECT_EQ(net.injected({0, 0}), 10u);
  EXPECT_EQ(net.injected({0, 2}), 11u);
  for (u32 id : {1u, 3u}) EXPECT_EQ(net.injected({0, id}), kNever) << id;
  EXPECT_EQ(net.register_of(0, "counter"), 10u);
}

/// A quad takes four cycles to enter. Then a message of a higher priority overtakes the waiting quad.
TEST(SconnectHostQueues, AWaitingQuadBlocksOnlyItsPriority) {
  RawConfig c = narrow({0});
  const SconnectScript script(c, {{10, 0, 1, 0, 4}, {10, 0, 1, 0, 4}, {11, 0, 1, 1}}, 2);
  OnePort net(c, script.text);
  net.step(60);
  EXPECT_EQ(net.injected({0, 0}), 10u);
  EXPECT_EQ(net.injected({0, 1}), kNever);
  EXPECT_EQ(net.injected({0, 2}), 14u);
  EXPECT_EQ(net.delivered({0, 2}), 15u);
  net.check();
}

/// A host sees the next 64 packets of a trace. All quads of priority 0 but the first wait; the message behind them has
/// priority 1.
TEST(SconnectHostQueues, OfATraceAHostSees64Packets) {
  for (u32 waiting : {63u, 64u}) {
    RawConfig c = narrow({0});
    set(c, "host.priorities=[0,1,0,0] router.reserve=[4,1,0,0]");
    std::string trace;
    for (u32 i = 0; i <= waiting; ++i) trace += sends(10, 0, 1, 4);
    trace += sends(200, 0, 1);
    OnePort net(c, trace);
    net.step(300);
    EXPECT_EQ(net.fields<TerminalControl>(1, "control")(0).sent, waiting == 63 ? 2u : 1u);
    EXPECT_EQ(net.injected({0, waiting + 1}), waiting == 63 ? 200u : kNever);
    net.check();
  }
}

/// The priorities of all messages that a network's hosts create.
class Priorities {
 public:
  explicit Priorities(SconnectNet& net) : net_(net) {}
  u32 operator()(MessageName name) { return net_.plan().packet_priority(net_.engine().row(0), name.src, name.id); }

 private:
  SconnectNet& net_;
};

/// For every kind of traffic source, packets of one priority leave in the order of their creation, each of them once
/// and without gaps. Latency counts from creation.
TEST(SconnectHostQueues, EachPriorityLeavesInOrder) {
  const std::vector<RawConfig> sources{
      Settings("traffic.load=0.8"), Settings("traffic.load=0.9 traffic.injection=periodic"),
      Settings("traffic.load=0.9 traffic.injection=on_off traffic.burst_load=1.0"),
      Settings("traffic.load=0.6 traffic.packet_flits=[[1,3.0],[4,1.0]] host.quad_priority=1"),
      Settings("traffic.mode=batch traffic.batch_packets=60")};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    SCOPED_TRACE(i);
    RawConfig c = sources[i];
    c.merge(Settings("topology.shape=[3,3] topology.host_ports=2"));
    set(c, "host.priorities=[4,3,2,1] host.second_priorities=[1,0,0,5]");
    if (i == 3) c["router.reserve"] = IntList{1, 4, 0, 0}, c["host.priorities"] = IntList{4, 0, 0, 0};
    if (i == 3) c["host.second_priorities"] = IntList{4, 1, 0, 0};
    SconnectNet net(c);
    Priorities priority_of(net);
    net.step(600);
    net.check();
    using Queue = std::pair<u32, u32>;  // source and priority
    std::map<Queue, std::vector<u32>> created, sent;
    std::map<MessageName, Cycle> since;
    u64 latency = 0, passed = 0;
    std::map<u32, u32> last;  // number of the last packet, by source
    for (const SconnectEvent& e : net.events())
      if (e.event.kind == EventKind::kCreated) {
        created[{e.event.src, priority_of(e.name())}].push_back(e.event.id);
        since[e.name()] = e.cycle;
      }
    for (const SconnectEvent& e : net.events()) {
      if (e.event.kind == EventKind::kInjected) {
        sent[{e.event.src, priority_of(e.name())}].push_back(e.event.id);
        passed += e.event.id < last[e.event.src];
        last[e.event.src] = e.event.id;
      } else if (e.event.kind == EventKind::kDelivered) {
        latency += e.cycle - since.at(e.name());
      }
    }
    EXPECT_GT(sent.size(), 18u);
    EXPECT_GT(passed, 30u) << "all left in order";
    for (const auto& [queue, ids] : sent) {
      const std::vector<u32>& all = created[queue];
      ASSERT_LE(ids.size(), all.size());
      EXPECT_TRUE(std::equal(ids.begin(), ids.end(), all.begin()))
          << "terminal " << queue.first << ", priority " << queue.second;
    }
    EXPECT_EQ(net.total(Total::kLatencySum), latency);
  }
}

/// A message of priority n + 1 is delivered even if the fabric is full of messages of priorities up to n that hosts
/// refuse and its own port has more of these to send (S-Connect, 2.3). With one queue it is not delivered.
TEST(SconnectHostQueues, LowerPrioritiesOfAPortDoNotBlockHigherOnes) {
  for (u32 n = 0; n < 3; ++n)
    for (const char* queues : {"priorities", "single"}) {
      RawConfig c = Settings("topology.shape=[3,3] traffic.load=0.2 host.queues=", queues);
      IntList weights{0, 0, 0, 0}, lower;
      for (u32 p = 0; p <= n; ++p) weights[p] = 1, lower.push_back(p);
      weights[n + 1] = n + 1;
      set(c, "host.priorities=", weights, " host.refuses=", lower);
      SconnectNet net(c);
      Priorities priority_of(net);
      net.step(3000);
      net.discard_events();
      net.step(400);
      std::vector<MessageName> higher;
      for (const SconnectEvent& e : net.events())
        if (e.event.kind == EventKind::kCreated && priority_of(e.name()) == n + 1) higher.push_back(e.name());
      EXPECT_GT(higher.size(), 250u);  // 9 hosts, 0.1 messages per cycle
      net.step(400);
      const bool apart = queues == std::string("priorities");
      for (const MessageName& name : higher) EXPECT_EQ(net.delivered(name) != kNever, apart);
      for (const SconnectEvent& e : net.events())
        EXPECT_FALSE(e.event.kind == EventKind::kInjected && priority_of(e.name()) <= n) << "not full yet";
      for (u32 p = 0; p <= n; ++p) EXPECT_EQ(net.total(sconnect::Count::kDelivered, p), 0u);
      net.check();
    }
}

/// A port with one priority has one queue, and then the state of the host is no larger.
TEST(SconnectHostQueues, OnePriorityHasOneQueue) {
  const auto queues = [](RawConfig c) {
    c.merge(Settings("topology.shape=[2] topology.host_ports=2"));
    const SconnectNet net(c);
    return std::vector<u32>{net.plan().table().queues[0], net.plan().table().queues[1],
                            net.plan().table().host_queues()};
  };
  using Found = std::vector<u32>;
  EXPECT_EQ(queues({}), (Found{0, 0, 0}));
  EXPECT_EQ(queues(Settings("host.second_priorities=[0,0,0,7]")), (Found{0, 0, 0}));
  EXPECT_EQ(queues(Settings("host.second_priorities=[1,0,0,7]")), (Found{0, 9, 4}));
  const Lengths mixed{{1, 1.0}, {4, 1.0}}, quads{{4, 1.0}};
  const IntList reserve{4, 1, 0, 0};
  EXPECT_EQ(queues(Settings("traffic.packet_flits=", mixed, " router.reserve=", reserve)), (Found{0, 0, 0}));
  EXPECT_EQ(queues(Settings("traffic.packet_flits=", mixed, " router.reserve=", reserve, " host.priorities=[0,1,0,0]")),
            (Found{3, 3, 4}));
  EXPECT_EQ(queues(Settings("traffic.packet_flits=", quads, " router.reserve=", reserve, " host.priorities=[1,1,0,0]")),
            (Found{0, 0, 0}));
  EXPECT_EQ(queues(Settings("host.priorities=[1,1,1,0] host.queues=single")), (Found{0, 0, 0}));
}

/// The audit rejects a cursor (index of a queue's next packet) that is not at a packet of its priority, and a queue
/// that has lost a waiting packet.
TEST(SconnectHostQueues, TheAuditChecksQueues) {
  RawConfig c = line(2);
  set(c, "host.priorities=[1,1,0,0] traffic.load=1.0 host.refuses=[0]");
  for (u32 broken = 0; broken < 5; ++broken) {
    SconnectNet net(c);
    net.step(200);
    net.check();
    auto queue = net.fields<sconnect::HostQueue>(1, "host_queue");
    const auto control = net.fields<TerminalControl>(1, "control");
    const u32 end = control(0).next.index;
    ASSERT_LT(queue(0, 0).oldest.index, end);
    if (broken == 1) ++queue(0, 0).offered.id;
    if (broken == 2) queue(0, 0).oldest.index = end + 1;
    if (broken == 3) queue(0, 0).oldest.index = queue(0, 1).oldest.index = end;
    if (broken == 4) std::swap(queue(0, 0).oldest, queue(0, 1).oldest);
    queue.write();
    if (broken)
      EXPECT_ANY_THROW(net.check()) << broken;
    else
      EXPECT_NO_THROW(net.check());
  }
}

}  // namespace
}  // namespace flitlab::sconnect_host_queues_test
