/// Channels of TICs, one case at a time (S-Connect, 3.1, 3.2): damaged messages, parallel ports, and ports that are
/// off.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/routers/sconnect/totals.hpp"
#include "tests/support/sconnect/sconnect.hpp"
#include "tests/support/sconnect/two_hosts.hpp"

namespace flitlab::sconnect_channel_test {
namespace {

using sconnect::option;
using namespace testing;
using testing::two_hosts::graph;
using testing::two_hosts::line;
using testing::two_hosts::sent_by;

/// A message damaged in transit is requeued a round later and sent once more; none is lost or accepted twice.
TEST(SconnectRouter, ADamagedMessageIsSentAgain) {
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

/// An error hits the answer. So the message is sent again in the same slot and with the same sequence bit, by which the
/// receiver recognises the repetition.
TEST(SconnectRouter, ALostAnswerRepeatsTheMessageInItsSlot) {
  SconnectNet net(line(2), sends(10, 0, 2) + sends(15, 0, 2) + sends(16, 0, 2));
  net.step(12);
  const auto first = net.sent(0, 0);
  EXPECT_TRUE(first.first & sconnect::kPresent);
  net.step(3);  // the answer leaves in cycle 14
  EXPECT_FALSE(net.sent(1, 0).first & sconnect::kPresent);
  EXPECT_TRUE(net.sent(1, 0).first & sconnect::kAcknowledge);
  net.hit(1, 0);
  net.step(3);  // cycle 17: a round of 6 after cycle 11
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
  EXPECT_EQ(net.delivered({0, 1}), 15u + 1 + 2);  // sent in cycle 16, before the occupied slot
  EXPECT_EQ(net.delivered({0, 2}), 16u + 2 + 2);  // sent in cycle 18, after the occupied slot
  EXPECT_EQ(net.control(0).used, 0u);
  net.check();
}

/// A damaged message that is already being forwarded when the damage is detected is aborted while it leaves (S-Connect,
/// 3.1, 3.2). Node 1 sends it with an abort bit, and node 2 does not accept it.
TEST(SconnectRouter, ADamagedMessageIsAbortedOnItsWayOut) {
  for (const bool back : {false, true})
    for (u32 flits : {1u, 4u}) {
      SconnectNet net(line(3), back ? sends(10, 4, 0, flits) : sends(10, 0, 4, flits));
      const u32 first = back ? 2 : 0, in = back ? 0 : 1, out = back ? 1 : 0, last = back ? 0 : 2;
      net.step(11 + flits);
      net.hit(first, back ? 1 : 0);  // damages a message, or the last part of a quad
      net.step(2 + !back);           // arrives in 11 + flits + 1 and leaves in that cycle or the next one
      EXPECT_TRUE(net.sent(1, out).first & sconnect::kAbort);
      EXPECT_EQ(net.total(sconnect::Count::kAborted), 1u);
      EXPECT_EQ(net.control(1).used, 0u);
      EXPECT_EQ(net.register_of(1, "damaged." + std::to_string(in)), 1u);
      net.step();
      EXPECT_EQ(net.control(last).used, flits == 1 ? 0u : 4u);  // three parts of the quad have arrived
      net.step();
      EXPECT_EQ(net.control(last).used, 0u);
      net.deliver(1);
      net.step(30);
      EXPECT_EQ(net.total(Total::kPacketsDelivered), 1u);
      EXPECT_EQ(net.register_of(1, "failed." + std::to_string(out)), 0u);  // no retransmission is requested
      net.check();
    }
}

/// A damaged message that still waits is discarded: no part of it leaves.
TEST(SconnectRouter, AWaitingDamagedMessageIsDiscarded) {
  std::string trace = sends(10, 0, 4);
  for (u32 cycle = 11; cycle < 14; ++cycle) trace += sends(cycle, 2, 4) + sends(cycle, 3, 4);
  SconnectNet net(line(3), trace);
  net.set_table(1, 2, option(0, 0));
  net.step(12);
  net.hit(0, 0);
  net.step(2);  // cycle 13
  EXPECT_EQ(net.queue(1, 0, 0, 0).size(), 2 * 3 - 2 + 1u);
  net.step();
  EXPECT_EQ(net.queue(1, 0, 0, 0).size(), 2 * 3 - 3u);
  EXPECT_EQ(net.total(sconnect::Count::kAborted), 0u);
  net.deliver(7);
  net.check();
}

/// A damaged quad and a damaged message in the next slot are both discarded. Because the quad's first part was hit, the
/// receiver takes the four parts from the second one on to be the quad, so it ends with the slot after the quad's last
/// part.
TEST(SconnectRouter, ADamagedQuadAndMessageAreBothDiscarded) {
  const std::string trace = sends(10, 0, 4, 4) + sends(10, 1, 4);
  RawConfig c = line(3);
  c["host.refuses"] = IntList{0};
  SconnectNet net(c, trace);
  net.set_table(0, 2, option(0, 0));
  net.set_table(1, 2, option(4, 0));  // the messages wait at node 1
  net.step(12);
  net.hit(0, 0);  // damages the first part of the quad
  net.step(3);
  net.hit(0, 0);  // damages the last part
  net.step();
  net.hit(0, 0);  // damages the message after the quad
  net.step();
  EXPECT_EQ(net.control(1).used, 4u);
  net.step();
  EXPECT_EQ(net.control(1).used, 4u + 1);
  net.step();
  EXPECT_EQ(net.control(1).used, 0u);
  net.check();
}

// Parallel ports.

/// A parallel port between two TICs is a channel with a delay of one routing cycle. It carries one message per cycle,
/// without errors.
TEST(SconnectRouter, ParallelPortsJoinTics) {
  const TextFile file("node,a,2\nnode,b,2\nchannel,a,b\nchannel,a,b\nchannel,a,b\n");
  RawConfig c = Settings("topology.kind=graph topology.file=", file.path, " topology.node=dual");
  std::string trace;
  for (u32 i = 0; i < 50; ++i) trace += sends(10, 0, 1);
  SconnectNet net(c, trace);
  ASSERT_EQ(net.fabric().link(0, 5).kind, sconnect::LinkKind::kParallel);
  ASSERT_EQ(net.fabric().link(0, 5).far, 1u);
  net.set_table(0, 1, option(5, 0));
  net.set_table(1, 1, option(0, 1));
  ASSERT_EQ(net.fabric().link(1, 0).far, 3u);
  net.set_table(3, 1, option(5, 0));
  net.deliver(50);
  EXPECT_EQ(net.register_of(0, "carried.5"), 50u);
  EXPECT_EQ(net.register_of(3, "carried.5"), 50u);
  // In cycle 10 the message goes from port 4 to 5, in 11 over the parallel port, in 12 by channel 0 of the other TIC,
  // and so on.
  EXPECT_EQ(net.delivered({0, 0}), 10u + 1 + 1 + 2 + 1 + 1);
  EXPECT_EQ(net.total(Total::kLastDelivery), net.delivered({0, 0}) + 49);

  set(c, "channel.error_rate=0.01 traffic.load=0.3");
  SconnectNet noisy(c);
  noisy.set_table(0, 1, option(5, 0));
  noisy.set_table(1, 1, option(0, 1));
  noisy.set_table(3, 1, option(5, 0));
  noisy.step(500);
  EXPECT_GT(noisy.register_of(0, "carried.5"), 50u);  // half of 0.3 times 500 messages: the others stay at their node
  for (u32 tic = 0; tic < 4; ++tic) EXPECT_EQ(noisy.register_of(tic, "damaged.5"), 0u);
  EXPECT_GT(noisy.register_of(3, "damaged.0"), 50u);
  noisy.check();
}

// Ports that are switched off.

/// Messages that wait for a port that is switched off are rerouted, one per cycle in order of priority, and no message
/// leaves by that port.
TEST(SconnectRouter, APortThatIsOffIsAvoided) {
  const TextFile file("0,1\n0,1\n");
  std::string trace;
  for (u32 i = 0; i < 6; ++i) trace += sends(10, 0, 2) + sends(10, 1, 2);
  trace += sends(30, 0, 2);
  SconnectNet net(graph(file), trace);
  net.set_table(0, 1, option(0, 0));
  net.step(16);  // 12 messages have arrived, 5 have left
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

/// One end of a channel is off at any time and for any duration: no message is lost or accepted twice.
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
}  // namespace flitlab::sconnect_channel_test
