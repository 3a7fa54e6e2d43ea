/// Rates of the virtual-channel router, derived by hand.
#include <gtest/gtest.h>

#include "tests/support/build.hpp"

namespace flitlab::vc_timing_test {
namespace {

using namespace testing;

/// A flit's buffer slot is free again link_delay (3) + credit_delay (3) cycles after the flit was sent. So one VC of B
/// flits carries at most B flits in 6 cycles, and one flit per cycle if B is 6 or more.
TEST(CreditLoop, BoundsTheRateOfOneVc) {
  for (int buffer = 1; buffer <= 7; ++buffer) {
    Network net(experiment("topology.kind=ring topology.shape=8 router.vcs=1 router.buffer_flits=", buffer,
                           " routing.vc_assignment=any traffic.pattern=neighbour traffic.packet_flits=1000 "
                           "traffic.mode=batch traffic.batch_packets=100"));
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
  Network net(
      experiment("topology.kind=mesh topology.shape=[3] traffic.pattern=hot_spot traffic.hot_terminals=[2] "
                 "traffic.hot_fraction=1.0 traffic.load=1.0"));
  net.step(1000);
  const u64 before = net.total(Total::kFlitsDelivered);
  net.step(1000);
  // The channel from the router to the hot terminal carries one flit per cycle.
  EXPECT_EQ(net.total(Total::kFlitsDelivered) - before, 1000u);
}

}  // namespace
}  // namespace flitlab::vc_timing_test
