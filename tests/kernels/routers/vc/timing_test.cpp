/// Hand-derived cycle counts of the virtual-channel router.
#include <gtest/gtest.h>

#include "tests/support/build.hpp"

namespace flitlab::vc_timing_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::word;

struct Delays {
  int routing, allocation, switching, traversal, channel;
};

class ZeroLoad : public ::testing::TestWithParam<std::tuple<Delays, int, const char*>> {};

/// Every terminal of a 9-ring sends one packet: single flits 4 hops on (tornado), longer packets to the neighbour, so
/// that no two packets ever meet in a channel or a buffer. With H hops the latency is 1 (injection) + (H + 1) (routing
/// + allocation + switching + traversal) + H channels + 1 (ejection) + length - 1.
TEST_P(ZeroLoad, LatencyIsTheSumOfItsParts) {
  const auto [d, flits, flow] = GetParam();
  Network net(experiment({{"topology.kind", word("ring")},
                          {"topology.shape", integer(9)},
                          {"topology.channel_delay", integer(d.channel)},
                          {"router.routing_delay", integer(d.routing)},
                          {"router.vc_allocation_delay", integer(d.allocation)},
                          {"router.switch_allocation_delay", integer(d.switching)},
                          {"router.switch_traversal_delay", integer(d.traversal)},
                          {"router.flow_control", word(flow)},
                          {"traffic.mode", word("batch")},
                          {"traffic.batch_packets", integer(1)},
                          {"traffic.pattern", word(flits == 1 ? "tornado" : "neighbour")},
                          {"traffic.packet_flits", integer(flits)}}));
  net.step(400);
  ASSERT_EQ(net.total(Total::kPacketsDelivered), 9u);
  const int router = d.routing + d.allocation + d.switching + d.traversal;
  const int hops = flits == 1 ? 4 : 1;
  int latency = 1 + (hops + 1) * router + hops * d.channel + 1 + flits - 1;
  // With store and forward every router waits for the packet's tail; route computation overlaps with this wait.
  if (std::string(flow) == "store_and_forward") latency += (hops + 1) * (std::max(flits - 1, d.routing) - d.routing);
  EXPECT_EQ(net.total(Total::kLatencySum), 9u * static_cast<u64>(latency));
}

INSTANTIATE_TEST_SUITE_P(Delays, ZeroLoad,
                         ::testing::Combine(::testing::Values(Delays{1, 1, 1, 1, 1}, Delays{0, 1, 1, 1, 1},
                                                              Delays{1, 0, 1, 1, 1}, Delays{0, 0, 1, 0, 1},
                                                              Delays{2, 3, 2, 2, 3}, Delays{4, 1, 3, 0, 7}),
                                            ::testing::Values(1, 3, 4),
                                            ::testing::Values("wormhole", "virtual_cut_through", "store_and_forward")));

/// Speculation saves the cycle of VC allocation at each of the five routers, because no other packet requests the
/// crossbar.
TEST(Speculation, SavesTheAllocationStage) {
  for (bool speculative : {false, true}) {
    Network net(experiment({{"topology.kind", word("ring")},
                            {"topology.shape", integer(9)},
                            {"router.speculative", speculative},
                            {"traffic.mode", word("batch")},
                            {"traffic.batch_packets", integer(1)},
                            {"traffic.packet_flits", integer(1)},
                            {"traffic.pattern", word("tornado")}}));
    net.step(200);
    EXPECT_EQ(net.total(Total::kLatencySum), 9u * (1 + 5 * (speculative ? 3 : 4) + 4 + 1));
  }
}

/// A flit's buffer slot is free again link_delay (3) + credit_delay (3) cycles after the flit was sent. So one VC of B
/// flits carries at most B flits in 6 cycles, and one flit per cycle if B is 6 or more.
TEST(CreditLoop, BoundsTheRateOfOneVc) {
  for (int buffer = 1; buffer <= 7; ++buffer) {
    Network net(experiment({{"topology.kind", word("ring")},
                            {"topology.shape", integer(8)},
                            {"router.vcs", integer(1)},
                            {"router.buffer_flits", integer(buffer)},
                            {"routing.vc_assignment", word("any")},
                            {"traffic.pattern", word("neighbour")},
                            {"traffic.packet_flits", integer(1000)},
                            {"traffic.mode", word("batch")},
                            {"traffic.batch_packets", integer(100)}}));
    net.step(1000);
    const u64 before = net.total(Total::kFlitsDelivered);
    net.step(10000);
    const double rate = static_cast<double>(net.total(Total::kFlitsDelivered) - before) / (8.0 * 10000);
    // Between two packets of a VC there is a gap of one cycle plus the pipeline stages of a head: less than 1 % of the
    // time that a packet takes.
    EXPECT_NEAR(rate, std::min(1.0, buffer / 6.0), 0.01) << buffer;
  }
}

/// Two flows share one channel of a line: it carries one flit per cycle, and each flow gets half.
TEST(Channel, CarriesOneFlitPerCycle) {
  Network net(experiment({{"topology.kind", word("mesh")},
                          {"topology.shape", IntList{3}},
                          {"traffic.pattern", word("hot_spot")},
                          {"traffic.hot_terminals", IntList{2}},
                          {"traffic.hot_fraction", 1.0},
                          {"traffic.load", 1.0}}));
  net.step(1000);
  const u64 before = net.total(Total::kFlitsDelivered);
  net.step(1000);
  // The channel from the router to the hot terminal carries one flit per cycle.
  EXPECT_EQ(net.total(Total::kFlitsDelivered) - before, 1000u);
}

}  // namespace
}  // namespace flitlab::vc_timing_test
