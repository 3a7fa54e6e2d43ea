/// Clocks of messages between nodes whose routing cycles start at different times, counted by hand (S-Connect, 4.1). An
/// arriving message waits for the turn of its arrival port. In cycle c of a node of phase f, port p has its turn in
/// clock 6 c + f + p. Every cycle number is that of the node at which the event occurs.
#include <gtest/gtest.h>

#include "tests/support/sconnect/sconnect.hpp"

namespace flitlab::sconnect_phases_test {
namespace {

using namespace testing;

/// Configuration of nodes in a line with the given phases. Port 0 leads forward, port 1 back, and the host is at port
/// 4.
RawConfig line(const std::vector<u8>& phases, std::int64_t delay) {
  RawConfig c = Settings{"topology.shape=", IntList{static_cast<std::int64_t>(phases.size())},
                         " topology.phases=random topology.channel_delay=", delay};
  for (std::int64_t seed = 0;; ++seed) {
    c["topology.phase_seed"] = integer(seed);
    if (make_sconnect_fabric(testing::sconnect_experiment(c)).phase == phases) return c;
  }
}

/// Returns the mean number of clocks from entry into the fabric to exit.
double clocks_of(SconnectNet& net, u32 messages) {
  ReplicaRow row = net.engine().row(0);
  row.window_begin = 0;
  row.window_end = 1000000;
  net.engine().set_row(0, row);
  net.deliver(messages);
  return net.plan().figures(net.engine().counters(0), net.engine().state(0), 0).at("network_latency_clocks");
}

/// With equal phases a channel from port 0 to port 1 takes 6 D clocks plus one, because the header is read in the clock
/// of its arrival port; from port 1 back to port 0 it takes one less. The figure includes the time in each TIC.
TEST(SconnectPhases, OfEqualPhases) {
  const auto clocks = [](const std::string& trace, u32 messages) {
    SconnectNet net(Settings("topology.shape=[5]"), trace);
    return clocks_of(net, messages);
  };
  const u32 there = 2 + 4 * 13 + 3 * 5 + 3;  // from port 4 to 0; four channels; three times from 1 to 0; from 1 to 4
  const u32 back = 3 + 4 * 11 + 3 * 1 + 4;
  EXPECT_EQ(clocks(sends(10, 0, 4), 1), there);
  EXPECT_EQ(clocks(sends(10, 4, 0), 1), back);
  EXPECT_EQ(clocks(sends(10, 0, 4) + sends(100, 4, 0), 2), (there + back) / 2.0);
  EXPECT_EQ(clocks(sends(10, 0, 4, 4), 1), there + 3 * 6);
}

const std::vector<u8> kPhases{0, 4, 1};

/// A message is injected in clock 6 * 10 + 4 and leaves node 0 in clock 66 (cycle 11, port 0). It reaches node 1 in
/// clock 74, is read there in 77 (cycle 12, port 1) and leaves in 82 (cycle 13, port 0). It reaches node 2 in clock 90,
/// is read in 92 (cycle 15, port 1), and goes to the host in 95.
TEST(SconnectPhases, OfALineForward) {
  SconnectNet net(line(kPhases, 8), sends(10, 0, 2));
  EXPECT_EQ(clocks_of(net, 1), 95 - 64);
  EXPECT_EQ(net.delivered({0, 0}), 15u);
  EXPECT_EQ(net.events(EventKind::kArrived, {0, 0}).front().cycle, 12u);
}

/// A message is injected in clock 65 and leaves node 2 in 68 (cycle 11, port 1). It reaches node 1 in clock 76, is read
/// at once (cycle 12, port 0) and leaves in 77 (cycle 12, port 1). It reaches node 0 in clock 85, is read in 90 (cycle
/// 15, port 0), and goes to the host in 94.
TEST(SconnectPhases, OfALineBack) {
  SconnectNet net(line(kPhases, 8), sends(10, 2, 0));
  EXPECT_EQ(clocks_of(net, 1), 94 - 65);
  EXPECT_EQ(net.delivered({2, 0}), 15u);
  EXPECT_EQ(net.events(EventKind::kArrived, {2, 0}).front().cycle, 12u);
}

TEST(SconnectPhases, OfBothInTheMean) {
  SconnectNet net(line(kPhases, 8), sends(10, 0, 2) + sends(100, 2, 0));
  EXPECT_EQ(clocks_of(net, 2), (31 + 29) / 2.0);
}

/// By the nodes' cycle numbers, a message takes one cycle from node 0 to node 1 and three cycles back (11 to 12, 12 to
/// 15). So the answer for a slot, which frees the buffer, returns after six cycles. Between nodes 1 and 2 a message
/// takes two cycles one way (13 to 15) and one back (11 to 12), so the answer returns after five.
TEST(SconnectPhases, OfABuffersReturn) {
  SconnectNet net(line(kPhases, 8), sends(10, 0, 2));
  EXPECT_EQ(net.fabric().link(0, 0).round, 1 + 3 + 2);
  EXPECT_EQ(net.fabric().link(1, 0).round, 2 + 1 + 2);
  net.step(11);
  for (; net.now() <= 11 + 6; net.step()) EXPECT_EQ(net.control(0).used, 1u) << "before cycle " << net.now();
  EXPECT_EQ(net.control(0).used, 0u);
  for (; net.now() <= 13 + 5; net.step()) EXPECT_EQ(net.control(1).used, 1u) << "before cycle " << net.now();
  EXPECT_EQ(net.control(1).used, 0u);
  net.check();
}

/// For all pairs of phases and any delay, a message is read in the first turn of its port after its arrival. By the
/// cycle numbers of the two nodes, the delay may differ for the two directions.
TEST(SconnectPhases, OfAllPairsOfPhases) {
  for (u8 from = 0; from < 6; ++from)
    for (u8 to = 0; to < 6; ++to)
      for (std::int64_t delay : {6, 7, 9, 16}) {
        SconnectNet net(line({from, to}, delay), sends(10, 0, 1));
        net.deliver(1);
        const auto arrivals = net.events(EventKind::kArrived, {0, 0});
        ASSERT_EQ(arrivals.size(), 1u);
        const u32 there = 6 * 11 + from + static_cast<u32>(delay);
        u32 cycle = 12;
        while (6 * cycle + to < there) ++cycle;  // next turn of port 0, the only channel of two nodes
        EXPECT_EQ(arrivals[0].cycle, cycle) << int{from} << " to " << int{to} << ", " << delay;
      }
}

}  // namespace
}  // namespace flitlab::sconnect_phases_test
