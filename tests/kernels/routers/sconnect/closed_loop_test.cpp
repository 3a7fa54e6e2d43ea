/// Closed loops of hosts: hand-derived round trips, two ports of a host, space for replies, conservation, and the
/// deadlock that a separate priority for replies avoids.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "host/routers/sconnect/checks.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/host_loop.hpp"
#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/sconnect/random.hpp"
#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::sconnect_closed_loop_test {
namespace {

using namespace testing;

RawConfig loop(RawConfig more) {
  more.merge(Settings("traffic.mode=request_reply traffic.load=1.0 traffic.window=1"));
  return more;
}

/// Sets the measurement window to the whole run.
void measure_all(Engine& engine) {
  ReplicaRow row = engine.row(0);
  row.window_begin = 0;
  row.window_end = kNever - 1;
  engine.set_row(0, row);
}

/// A message from one node to the next is delivered 3 cycles after it entered: the channel takes two, and one more
/// because the message leaves by a port with a lower number than its arrival port. A request of cycle c arrives in c +
/// 3. Its reply enters `reply_delay` cycles later, at the earliest in the next cycle, and arrives 3 cycles after that.
/// The next request enters in the cycle in which the host receives the reply.
TEST(SconnectLoop, RoundTripByHand) {
  for (u32 delay : {0u, 1u, 2u, 9u}) {
    SconnectNet net(loop(Settings("topology.shape=[2] traffic.pattern=neighbour traffic.reply_delay=", delay)));
    measure_all(net.engine());
    net.step(1001);  // runs cycles 0 to 1000
    const u64 trip = 3 + std::max(delay, 1u) + 3;
    EXPECT_EQ(net.total(Total::kTransactions), 2 * (1000 / (trip + 1))) << delay;
    EXPECT_EQ(net.total(Total::kRoundTripSum), net.total(Total::kRoundTrips) * trip);
    EXPECT_EQ(net.total(Total::kRoundTripMax), trip);
    EXPECT_EQ(net.delivered({1, kReplyId}), trip) << "the first reply";
    EXPECT_EQ(net.injected({0, 1}), trip + 1) << "the second request";
    net.check();
  }
}

/// Quads take three more cycles in each direction.
TEST(SconnectLoop, RoundTripOfQuads) {
  SconnectNet net(loop(Settings("topology.shape=[2] traffic.pattern=neighbour traffic.reply_flits=[[4,1.0]]")));
  net.step(11);
  EXPECT_EQ(net.delivered({0, 0}), 3u);
  EXPECT_EQ(net.injected({1, kReplyId}), 4u);
  EXPECT_EQ(net.delivered({1, kReplyId}), 10u);
  EXPECT_EQ(net.total(sconnect::Count::kDelivered, 0), 2u);
  EXPECT_EQ(net.total(sconnect::Count::kDelivered, 1), 2u);
  net.check();
}

/// Terminal 1 sends requests to terminal 3. After ports 1 and 0 comes the turn of port 4, before that of port 5. So the
/// request arrives at the host's other port, terminal 2, which answers it; the reply arrives at terminal 0. In a single
/// node these ports are at the same TIC. In a dual node they are at different TICs, so messages take a cycle more in
/// each direction.
TEST(SconnectLoop, RepliesArriveAtAHostsOtherPort) {
  const TextFile matrix("0,0,0\n1,3,1\n2,0,0\n3,0,0\n");
  for (const char* node : {"single", "dual"}) {
    SconnectNet net(loop(Settings("topology.shape=[2] topology.node=", node,
                                  " topology.host_ports=2 traffic.pattern=matrix traffic.matrix_file=", matrix.path)));
    net.step(60);
    const auto arrived = net.events(EventKind::kDelivered, {1, 0});
    ASSERT_EQ(arrived.size(), 1u);
    EXPECT_EQ(arrived[0].item, net.table().routers + 2) << node;
    const auto back = net.events(EventKind::kDelivered, {2, kReplyId});
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(back[0].item, net.table().routers + 0) << node;
    EXPECT_EQ(net.injected({2, kReplyId}), arrived[0].cycle + 1);
    EXPECT_EQ(net.injected({1, 1}), back[0].cycle + 1) << "the next request of terminal 1";
    EXPECT_EQ(net.fields<LoopControl>(1, "loop")(1).outstanding, 1u);
    net.check();
  }
}

/// Three hosts send requests to the host in the middle of a star. Its replies take 20 cycles and it has space for two,
/// so it accepts two requests and then waits until a reply has left. Other requests stay in the fabric, and no message
/// is lost.
TEST(SconnectLoop, ARequestWaitsForSpaceForItsReply) {
  const TextFile star("0,1\n0,2\n0,3\n"), matrix("0,1,0\n1,0,1\n2,0,1\n3,0,1\n");
  SconnectNet net(loop(Settings("topology.kind=graph topology.file=", star.path,
                                " traffic.pattern=matrix traffic.matrix_file=", matrix.path,
                                " traffic.reply_delay=20 traffic.reply_queue=2")));
  net.step(20);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 2u);
  EXPECT_EQ(net.fields<LoopControl>(1, "loop")(0).replies, 2u);
  net.check();
  net.step(400);
  net.check();
  std::map<u32, u32> answers;
  for (const SconnectEvent& e : net.events())
    if (e.event.kind == EventKind::kInjected && e.event.src == 0) ++answers[e.event.id & kReplyId];
  EXPECT_EQ(answers.size(), 1u) << "host 0 sends replies only";
  EXPECT_NEAR(answers[kReplyId], 420 * 2 / 21, 4);
}

/// Steps of one cycle give the same result as longer steps, even while switches are idle and hosts are not.
TEST(SconnectLoop, SingleCyclesAgreeWithLongerSteps) {
  for (double load : {0.02, 0.2})
    for (const char* node : {"single", "dual"}) {
      const Experiment e =
          sconnect_experiment(Settings("topology.kind=tree topology.inner=switches topology.node=", node,
                                       " topology.host_ports=2 traffic.mode=request_reply traffic.load=", load));
      Network whole(e), pieces(e);
      for (u32 epoch = 0; epoch < 5; ++epoch) {
        whole.step(160);
        for (u32 cycle = 0; cycle < 160; ++cycle) pieces.step(1);
        ASSERT_EQ(whole.engine->state_hash(0), pieces.engine->state_hash(0)) << node << " at " << load;
      }
      EXPECT_GT(whole.total(Total::kTransactions), 30u);
    }
}

class SconnectLoops : public ::testing::TestWithParam<u32> {};

/// In any machine every request is answered once. When the sources stop, all transactions end and no buffer stays in
/// use.
TEST_P(SconnectLoops, EverythingIsAnswered) {
  const TextFile graph(testing::kSwitchedGraph);
  RawConfig c = random_sconnect_loop(4000 + GetParam(), graph.path);
  c.erase("host.refuses");
  c["traffic.load"] = 1.0;
  if (c["channel.error_rate"] == Value{1e-2}) c["channel.error_rate"] = 3e-3;  // 1e-2 hits 62 % of all slots
  SCOPED_TRACE(testing::described(c));
  const Experiment e = sconnect_experiment(c);
  const bool apart = sconnect_reply_priority(e) > sconnect_request_priority(e);
  Network net(e);
  const auto outstanding = [&] {
    testing::ItemFields<LoopControl> loops(net, 1, "loop");
    loops.read();
    u64 sum = 0;
    for (u32 h = 0; h < net.plan->topology().terminals; ++h) sum += loops(h).outstanding;
    return sum;
  };
  const auto created = [&] {
    testing::ItemFields<TerminalControl> controls(net, 1, "control");
    controls.read();
    u64 sum = 0;
    for (u32 h = 0; h < net.plan->topology().terminals; ++h) sum += controls(h).created;
    return sum;
  };
  for (u32 part = 0; part < 60; ++part) {
    net.step(11);
    check_conservation(*net.engine, *net.plan, 0);
    EXPECT_EQ(outstanding(), created() - net.total(Total::kTransactions));
    if (apart) {
      EXPECT_EQ(net.plan->find_deadlock(net.engine->state(0)), "");
    }
  }
  if (!apart && !net.plan->find_deadlock(net.engine->state(0)).empty()) return;
  ReplicaRow row = net.engine->row(0);
  row.silent = 1;
  net.engine->set_row(0, row);
  for (u32 part = 0; part < 2000 && outstanding(); ++part) {
    net.step(50);
    if (!apart && !net.plan->find_deadlock(net.engine->state(0)).empty()) return;
  }
  EXPECT_EQ(outstanding(), 0u);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 2 * created());
  EXPECT_EQ(net.total(Total::kTransactions), created());
  net.step(3000);  // time for the answers on channels to return
  testing::ItemFields<sconnect::TicControl> tics(net, 0, "control");
  tics.read();
  for (u32 n = 0; n < net.plan->topology().routers; ++n) EXPECT_EQ(tics(n).used, 0u);
  check_conservation(*net.engine, *net.plan, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SconnectLoops, ::testing::Range(0u, testing::trials(30)));

/// Configuration of a small fabric whose hosts create far more requests than they have space for replies.
RawConfig busy(const char* reply_priority, u32 seed = 1) {
  RawConfig c =
      loop(Settings("topology.shape=[3,3] topology.channel_delay=12 router.buffers=24 traffic.reply_queue=1 run.seed=",
                    static_cast<int>(seed)));
  c["traffic.window"] = integer(64);
  if (reply_priority == std::string("auto"))
    c["host.reply_priority"] = word("auto");
  else
    c["host.reply_priority"] = integer(std::stoi(reply_priority));
  return c;
}

/// If replies have the same priority as requests, they wait behind requests that wait for space for a reply: a
/// deadlock.
TEST(SconnectLoop, OfOnePriorityDeadlocksAndOfTwoDoesNot) {
  Network one(sconnect_experiment(busy("0"))), two(sconnect_experiment(busy("auto")));
  one.step(20000);
  two.step(20000);
  check_conservation(*one.engine, *one.plan, 0);
  const std::string circle = one.plan->find_deadlock(one.engine->state(0));
  EXPECT_NE(circle.find("reply queue"), std::string::npos) << circle;
  const u64 stuck = one.total(Total::kPacketsDelivered);
  one.step(5000);
  EXPECT_EQ(one.total(Total::kPacketsDelivered), stuck);  // the reported deadlock was real
  EXPECT_EQ(two.plan->find_deadlock(two.engine->state(0)), "");
  const u64 before = two.total(Total::kTransactions);
  two.step(1000);
  EXPECT_GT(two.total(Total::kTransactions), before + 100);
}

/// The deadlock search reports no false deadlock: messages that it reports as blocked stay blocked, and otherwise
/// messages move. With routing.age = "requeued" it may miss blocked messages, because older messages are always tried
/// before them.
TEST(SconnectLoop, TheDeadlockSearchAgreesWithTheRun) {
  u32 dead = 0, alive = 0;
  for (u32 seed = 1; seed <= 8; ++seed)
    for (int queue : {1, 4, 600}) {  // 600: space for the requests of all hosts
      RawConfig c = busy("0", seed);
      set(c, "routing.age=head traffic.reply_queue=", queue);
      Network net(sconnect_experiment(c));
      bool deadlocked = false;
      for (u32 part = 0; part < 20 && !deadlocked; ++part) {
        net.step(200);
        deadlocked = !net.plan->find_deadlock(net.engine->state(0)).empty();
        const u64 before = net.total(Total::kPacketsDelivered);
        net.step(deadlocked ? 2000 : 50);  // the rest of the fabric may move for a while
        if (deadlocked)
          EXPECT_NE(net.plan->find_deadlock(net.engine->state(0)), "") << seed;
        else
          EXPECT_GT(net.total(Total::kPacketsDelivered), before) << seed;
      }
      ++(deadlocked ? dead : alive);
      EXPECT_FALSE(deadlocked && queue == 600);
    }
  EXPECT_GT(dead, 0u);
  EXPECT_GT(alive, 0u);
}

/// Priority of replies: the default value, and choices that flitlab rejects.
TEST(SconnectLoop, PriorityOfReplies) {
  const auto of = [](RawConfig c) { return sconnect_reply_priority(sconnect_experiment(loop(std::move(c)))); };
  EXPECT_EQ(of({}), 1u);
  EXPECT_EQ(of(Settings("host.priorities=[1,0,1,0]")), 3u);
  EXPECT_EQ(of(Settings("host.priorities=[0,0,0,1]")), 3u);
  EXPECT_EQ(of(Settings("host.reply_priority=2")), 2u);
  EXPECT_EQ(of(Settings("traffic.packet_flits=[[4,1.0]] host.quad_priority=1")), 2u);
  const auto refused = [](const RawConfig& c, const std::string& what) {
    expect_in(what, message_of([&] { sconnect_experiment(c.contains("traffic.mode") ? c : loop(c)); }));
  };
  refused(Settings("host.priorities=[1,0,1,0] host.reply_priority=1"),
          "host.reply_priority = 1: requests of priority 2 would block the replies");
  refused(Settings("traffic.mode=open host.reply_priority=1"),
          "host.reply_priority = 1: in traffic.mode = \"open\" hosts send no replies");
  refused(Settings("traffic.reply_flits=[[3,1.0]]"), "traffic.reply_flits contains 3");
  refused(Settings("traffic.message_classes=1"), "traffic.message_classes = 1");
  refused(Settings("traffic.reply_flits=[[4,1.0]] router.reserve=[1,3,0,0]"),
          "without the four buffers of a quad reserved for each queue of priority 1");
}

/// The audit rejects a transaction without a request, a request without a transaction, and a reply that is not the
/// oldest.
TEST(SconnectLoop, TheAuditChecksLoops) {
  for (const IntList& priorities : {IntList{1, 0, 0, 0}, IntList{1, 1, 0, 0}})
    for (u32 broken = 0; broken < 6; ++broken) {
      RawConfig c = busy(priorities[1] ? "1" : "0");  // reply priority "0" deadlocks
      c["host.priorities"] = priorities;
      SconnectNet net(c);
      net.step(3000);
      net.check();
      auto control = net.fields<LoopControl>(1, "loop");
      auto transaction = net.fields<Transaction>(1, "transaction");
      auto reply = net.fields<sconnect::Message>(1, "offered_reply");
      const auto source = net.fields<TerminalControl>(1, "control");
      const auto host = net.fields<sconnect::HostControl>(1, "host");
      u32 h = 0, tag = 0;
      while (h < 9 && (!(host(h).ready >> sconnect::kReplies & 1) || source(h).created == source(h).sent)) ++h;
      ASSERT_LT(h, 9u) << "no host with a waiting reply and a waiting request";
      while (transaction(h, tag).id != source(h).created - 1) ++tag;  // finds the last waiting request
      if (broken == 1) ++control(h).outstanding;
      if (broken == 2) transaction(h, tag).id = source(h).created;
      if (broken == 3) transaction(h, tag).id = transaction(h, !tag).id;
      if (broken == 4) ++reply(h).id;
      if (broken == 5) ++control(h).promised;
      control.write();
      transaction.write();
      reply.write();
      if (broken)
        EXPECT_ANY_THROW(net.check()) << broken;
      else
        EXPECT_NO_THROW(net.check());
    }
}

}  // namespace
}  // namespace flitlab::sconnect_closed_loop_test
