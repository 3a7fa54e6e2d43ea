/// Routing cycles and clocks of messages, counted by hand from the order within a routing cycle (S-Connect, 2.2, 3.1;
/// kernels/routers/sconnect/phases.hpp). In the clock of port p its transmitter first selects a message; then its
/// receiver reads the arriving header. So a message from port i leaves by an idle port j > i in the same routing cycle,
/// and by j < i in the next one. Channels take D routing cycles. The answer to a message arrives a round, 2 (D + 1)
/// cycles, after the message was sent.
#include <gtest/gtest.h>

#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::sconnect_timing_test {
namespace {

using sconnect::kPorts;
using sconnect::option;
using testing::integer;
using testing::SconnectNet;
using testing::sends;
using testing::TextFile;
using testing::word;

/// Nodes in a line: port 0 leads forward, port 1 back, the host is at port 4.
RawConfig plain_line(std::int64_t nodes, std::int64_t delay = 2) {
  return {{"topology.shape", IntList{nodes}}, {"topology.channel_delay", 6 * delay}};
}

/// An edge list: node 0 is in the middle, with leaf 1 + p at its port p. All nodes have two host ports, 4 and 5. A
/// leaf's channel is its port 0.
const char* kStar = "0,1\n0,2\n0,3\n0,4\n";
RawConfig star(const std::string& file, std::int64_t delay = 2) {
  return {{"topology.kind", word("graph")},
          {"topology.file", file},
          {"topology.host_ports", integer(2)},
          {"topology.channel_delay", 6 * delay}};
}

/// Returns the cycles in which a TIC started to send messages by a port.
std::vector<Cycle> sending_cycles(const SconnectNet& net, u32 tic, u32 p) {
  std::vector<Cycle> cycles;
  for (const auto& e : net.events_at(EventKind::kSwitchGranted, tic))
    if (e.event.out_port == p) cycles.push_back(e.cycle);
  return cycles;
}

std::vector<Cycle> delivery_cycles(const SconnectNet& net, u32 terminal) {
  std::vector<Cycle> cycles;
  for (const auto& e : net.events_at(EventKind::kDelivered, net.fabric().tics + terminal)) cycles.push_back(e.cycle);
  return cycles;
}

std::vector<Cycle> from(Cycle first, u32 count, u32 step = 1) {
  std::vector<Cycle> cycles;
  for (u32 i = 0; i < count; ++i) cycles.push_back(first + i * step);
  return cycles;
}

/// A message that is injected in cycle 10 at port 4 leaves by port 0 in cycle 11. At the next node it arrives by port 1
/// and leaves by port 0 a cycle later, so a hop takes D + 1 cycles. It reaches the host at port 4 in the cycle in which
/// it arrives at the last node.
TEST(SconnectTiming, OfALineForward) {
  for (u32 delay : {1u, 2u, 5u, 60u}) {
    SconnectNet net(plain_line(5, delay), sends(10, 0, 4));
    net.deliver(1);
    EXPECT_EQ(net.injected({0, 0}), 10u);
    EXPECT_EQ(net.delivered({0, 0}), 10 + 1 + 4 * delay + 3) << delay;
    net.check();
  }
}

/// In the other direction a message arrives by port 0 and leaves by port 1 in the same cycle.
TEST(SconnectTiming, OfALineBack) {
  for (u32 delay : {1u, 2u, 5u, 60u}) {
    SconnectNet net(plain_line(5, delay), sends(10, 4, 0));
    net.deliver(1);
    EXPECT_EQ(net.delivered({4, 0}), 10 + 1 + 4 * delay) << delay;
  }
}

/// The header of a quad (a message of four parts) takes as long as a single message, and its last part arrives three
/// cycles later.
TEST(SconnectTiming, OfAQuad) {
  for (u32 delay : {1u, 2u, 5u, 60u}) {
    SconnectNet net(plain_line(5, delay), sends(10, 0, 4, 4) + sends(200 + delay, 4, 0, 4));
    net.deliver(2);
    EXPECT_EQ(net.delivered({0, 0}), 10 + 1 + 4 * delay + 3 + 3) << delay;
    EXPECT_EQ(net.delivered({4, 1}), 200 + delay + 1 + 4 * delay + 3) << delay;
    for (u32 tic : {1u, 2u, 3u}) {
      const auto arrived = net.events_at(EventKind::kArrived, tic),
                 left = net.events_at(EventKind::kSwitchGranted, tic);
      EXPECT_EQ(left.front().clock(0) - arrived.front().clock(1), 5u);
    }
    net.check();
  }
}

/// A header leaves a TIC less than 6 clocks after it can (S-Connect, 3.1): from port i to port j it takes j - i clocks,
/// or 6 more if that is not positive.
TEST(SconnectTiming, FromAnyPortToAnyOther) {
  const TextFile file(kStar);
  for (u32 i = 0; i < kPorts; ++i)
    for (u32 j = 0; j < kPorts; ++j) {
      if (i == j) continue;
      const u32 source = i < 4 ? 2 * (1 + i) : i - 4, node = j < 4 ? 1 + j : 0;
      SconnectNet net(star(file.path), sends(10, source, 2 * node));
      net.set_table(0, node, option(j, 0));
      net.deliver(1);
      const auto left = net.events_at(EventKind::kSwitchGranted, 0);
      ASSERT_EQ(left.size(), 1u) << i << " " << j;
      EXPECT_EQ(left[0].event.port, i);
      EXPECT_EQ(left[0].event.out_port, j);
      const u32 arrival = 6 * (i < 4 ? 10 + 1 + 2 : 10) + i;
      EXPECT_EQ(left[0].clock(j) - arrival, j > i ? j - i : 6 + j - i) << i << " " << j;
      const u32 into = i < 4 ? 3 : 0, over = j > i ? 0 : 1, out = j < 4 ? 2 : 0;
      EXPECT_EQ(net.total(Total::kLatencySum), into + over + out) << i << " " << j;
    }
}

/// The figure of network latency counts clocks from the header's entry into the first TIC to its exit from the last. It
/// includes the time in each TIC. A channel from port 0 to port 1 takes 6 D clocks plus one, because the header is read
/// in the clock of its arrival port; from port 1 back to port 0 it takes one less.
TEST(SconnectTiming, TheFigureInClocks) {
  const auto clocks = [](RawConfig c, const std::string& trace, u32 messages) {
    SconnectNet net(std::move(c), trace);
    ReplicaRow row = net.engine().row(0);
    row.window_begin = 0;
    row.window_end = 1000000;
    net.engine().set_row(0, row);
    net.deliver(messages);
    return net.plan().figures(net.engine().counters(0), net.engine().state(0)).at("network_latency_clocks");
  };
  const u32 there = 2 + 4 * 13 + 3 * 5 + 3;  // from port 4 to 0; four channels; three times from 1 to 0; from 1 to 4
  EXPECT_EQ(clocks(plain_line(5), sends(10, 0, 4), 1), there);
  const u32 back = 3 + 4 * 11 + 3 * 1 + 4;
  EXPECT_EQ(clocks(plain_line(5), sends(10, 4, 0), 1), back);
  EXPECT_EQ(clocks(plain_line(5), sends(10, 0, 4) + sends(100, 4, 0), 2), (there + back) / 2.0);
  EXPECT_EQ(clocks(plain_line(5), sends(10, 0, 4, 4), 1), there + 3 * 6);
}

/// A buffer is free again when the answer confirms that the message was accepted: a round after the message left.
TEST(SconnectTiming, OfABuffersReturn) {
  for (u32 delay : {1u, 2u, 5u}) {
    SconnectNet net(plain_line(2, delay), sends(10, 0, 1));
    const u32 round = 2 * (delay + 1), left = 11;
    net.step(11);
    for (; net.now() <= left + round; net.step()) EXPECT_EQ(net.control(0).used, 1u) << "before cycle " << net.now();
    EXPECT_EQ(net.control(0).used, 0u) << delay;
  }
}

/// The first answer after a quad's header is sent too early to cover the whole quad, so the buffers of the quad wait
/// for one more round.
TEST(SconnectTiming, OfAQuadsBuffersReturn) {
  for (u32 delay : {1u, 2u, 5u}) {
    SconnectNet net(plain_line(2, delay), sends(10, 0, 1, 4));
    const u32 round = 2 * (delay + 1), left = 11;
    net.step(11);
    for (; net.now() <= left + 2 * round; net.step())
      EXPECT_EQ(net.control(0).used, 4u) << "before cycle " << net.now();
    EXPECT_EQ(net.control(0).used, 0u) << delay;
  }
}

/// The host may use four buffers, so the fifth message follows when the buffer of the first is free. It is injected in
/// the cycle in which the outcome of the first is processed, and sent in the next one. So four messages leave in every
/// round + 1 cycles.
TEST(SconnectTiming, OfFourBuffers) {
  std::string trace;
  for (u32 i = 0; i < 12; ++i) trace += sends(10, 0, 1);
  RawConfig c = plain_line(2);
  c["router.host_buffers"] = integer(4);
  SconnectNet net(c, trace);
  net.deliver(12);
  EXPECT_EQ(sending_cycles(net, 0, 0), (std::vector<Cycle>{11, 12, 13, 14, 18, 19, 20, 21, 25, 26, 27, 28}));
  for (u32 i = 0; i < 12; ++i) EXPECT_EQ(net.injected({0, i}), 10 + 7 * (i / 4) + i % 4);
}

/// Each slot of a round carries another message. So a channel is fully used, although a message holds its slot for a
/// whole round.
TEST(SconnectTiming, MessagesInARow) {
  for (u32 delay : {1u, 2u, 5u}) {
    std::string trace;
    for (u32 i = 0; i < 60; ++i) trace += sends(10, 0, 1);
    SconnectNet net(plain_line(2, delay), trace);
    net.deliver(60);
    EXPECT_EQ(sending_cycles(net, 0, 0), from(11, 60)) << delay;
    EXPECT_EQ(delivery_cycles(net, 1), from(11 + delay, 60)) << delay;
  }
}

/// Quads follow one another without a gap if, whenever the fourth part of a quad has left, the slot that comes next is
/// free. With an odd delay the round is a multiple of 4, so the slot of the first quad returns before it is free. Once
/// in every round this slot is skipped and requests an answer.
TEST(SconnectTiming, QuadsInARow) {
  const auto starts = [](u32 delay) {
    std::string trace;
    for (u32 i = 0; i < 9; ++i) trace += sends(10, 0, 1, 4);
    SconnectNet net(plain_line(2, delay), trace);
    net.deliver(9);
    net.check();
    for (u32 i = 0; i < 5; ++i) EXPECT_EQ(net.injected({0, i}), 10 + 4 * i);  // one part per cycle
    return sending_cycles(net, 0, 0);
  };
  EXPECT_EQ(starts(2), from(11, 9, 4));
  EXPECT_EQ(starts(4), from(11, 9, 4));
  EXPECT_EQ(starts(1), from(11, 9, 5));
  EXPECT_EQ(starts(3), (std::vector<Cycle>{11, 15, 20, 24, 29, 33, 38, 42, 47}));
  EXPECT_EQ(starts(5), (std::vector<Cycle>{11, 15, 19, 24, 28, 32, 37, 41, 45}));
}

/// Two channels lead to a node that accepts only eight messages: it has 12 buffers, of which one each is reserved for
/// the four queues of its channels. The next message leaves by port 0 and is refused. It is requeued a round later, is
/// sent by port 1 in the next cycle, and so on in turn.
TEST(SconnectTiming, OfARefusedMessage) {
  const TextFile file("0,1\n0,1\n");
  RawConfig c{{"topology.kind", word("graph")},      {"topology.file", file.path},
              {"router.buffers", integer(12)},       {"router.reserve", IntList{1, 0, 0, 0}},
              {"router.host_buffers", integer(12)},  {"host.refuses", IntList{0}},
              {"router.control_buffers", integer(0)}};
  std::string trace;
  for (u32 i = 0; i < 9; ++i) trace += sends(10, 0, 1);
  for (u32 delay : {1u, 2u}) {
    c["topology.channel_delay"] = integer(6 * delay);
    SconnectNet net(c, trace);
    net.set_table(0, 1, option(0, 0) | option(1, 0));
    const u32 round = 2 * (delay + 1), first = 19;
    net.step(first + 4 * (round + 1));
    std::vector<Cycle> by_0 = from(11, 9);
    by_0.push_back(first + 2 * (round + 1));
    EXPECT_EQ(sending_cycles(net, 0, 0), by_0) << delay;
    EXPECT_EQ(sending_cycles(net, 0, 1), (std::vector<Cycle>{first + round + 1, first + 3 * (round + 1)})) << delay;
    EXPECT_EQ(net.register_of(1, "refused.0"), 2u);
    EXPECT_EQ(net.register_of(0, "failed.0"), 2u);
    EXPECT_EQ(net.control(1).used, 8u);
    net.check();
  }
}

/// A quad is requeued after two rounds, although its first part was refused: 48 buffers, less four for each of the four
/// queues of the node's channels, hold eight quads.
TEST(SconnectTiming, OfARefusedQuad) {
  const TextFile file("0,1\n0,1\n");
  std::string trace;
  for (u32 i = 0; i < 9; ++i) trace += sends(10, 0, 1, 4);
  SconnectNet net({{"topology.kind", word("graph")},
                   {"topology.file", file.path},
                   {"router.buffers", integer(48)},
                   {"router.reserve", IntList{4, 0, 0, 0}},
                   {"router.host_buffers", integer(48)},
                   {"router.control_buffers", integer(0)},
                   {"host.refuses", IntList{0}}},
                  trace);
  net.set_table(0, 1, option(0, 0) | option(1, 0));
  const u32 ninth = 11 + 8 * 4;
  net.step(ninth + 13 * 4);
  EXPECT_EQ(sending_cycles(net, 0, 0), (std::vector<Cycle>{11, 15, 19, 23, 27, 31, 35, 39, ninth, ninth + 26}));
  EXPECT_EQ(sending_cycles(net, 0, 1), (std::vector<Cycle>{ninth + 13, ninth + 39}));
  EXPECT_EQ(net.control(1).held[4 * 8], 32u);
  EXPECT_EQ(net.register_of(1, "refused.0"), 2u);
  EXPECT_EQ(net.register_of(1, "refused.1"), 2u);
  net.check();
}

/// By a host's port one message enters and one leaves per cycle (S-Connect, 3: two of each by two ports).
TEST(SconnectTiming, AHostsPortTakesAndGivesOneMessageACycle) {
  const TextFile file(kStar);
  std::string trace;
  for (u32 i = 0; i < 20; ++i)
    for (u32 leaf = 1; leaf <= 4; ++leaf) trace += sends(10, 2 * leaf, 0);
  SconnectNet one(star(file.path), trace);
  one.set_table(0, 0, option(4, 0));
  one.deliver(80);
  EXPECT_EQ(delivery_cycles(one, 0), from(13, 80));
  EXPECT_EQ(delivery_cycles(one, 1), from(0, 0));
  for (u32 i = 0; i < 20; ++i) EXPECT_EQ(one.injected({2, 4 * i}), 10 + i);

  // By its two ports the host receives two messages per cycle.
  SconnectNet two(star(file.path), trace);
  two.deliver(80);
  EXPECT_EQ(delivery_cycles(two, 0).size() + delivery_cycles(two, 1).size(), 80u);
  EXPECT_EQ(two.total(Total::kLastDelivery), 13 + 40 - 1u);
}

}  // namespace
}  // namespace flitlab::sconnect_timing_test
