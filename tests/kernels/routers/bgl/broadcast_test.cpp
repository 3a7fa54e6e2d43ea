/// Line fill and plane fill on Blue Gene/L (broadcasts along a line or over a plane): which node receives which
/// packets, how long it takes, and bit identity of all engines.
#include <gtest/gtest.h>

#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/totals.hpp"
#include "tests/support/build.hpp"

namespace flitlab::bgl_broadcast_test {
namespace {

using namespace testing;

/// Configuration of a broadcast. Hand-derived times assume links whose data packets carry the tokens: 270 cycles a
/// packet.
Experiment broadcast(IntList shape, IntList dimensions, u32 root, u32 packets, RawConfig changes = {}) {
  changes.merge(Settings("router.kind=bgl topology.shape=", shape, " traffic.mode=broadcast broadcast.dimensions=",
                         dimensions, " broadcast.root=", root, " broadcast.packets=", packets, " router.acks=charged"));
  return experiment(changes);
}

TEST(BglBroadcast, EveryNodeOfAPlaneGetsEveryColour) {
  struct Case {
    IntList shape, dimensions;
    u32 root, others;
  };
  for (const Case& c : {Case{{4, 3, 2}, {0, 1}, 0, 11}, Case{{4, 3, 2}, {1, 2}, 13, 5}, Case{{5, 1, 4}, {2, 0}, 7, 19},
                        Case{{2, 2, 1}, {0, 1}, 3, 3}}) {
    Network net(broadcast(c.shape, c.dimensions, c.root, 50));
    net.step(100000);
    EXPECT_EQ(net.total(Total::kPacketsDelivered) + net.total(bgl::Count::kCopies), 4 * 50 * c.others);
    EXPECT_EQ(net.total(Total::kPacketsCreated), net.total(Total::kPacketsDelivered));
    check_conservation(*net.engine, *net.plan, 0);
  }
}

/// Every link of the plane carries one colour (one of the spanning trees), except links to the root, which carry no
/// data. A separate token packet of 8 bytes travels against every data packet; the root sends no token packets, because
/// it receives no data.
TEST(BglBroadcast, EveryLinkOfAPlaneCarriesOneColour) {
  for (bool charged : {true, false}) {
    Network net(broadcast({4, 4, 2}, {0, 1}, 5, 30, Settings("router.acks=", charged ? "charged" : "packets")));
    net.step(60000);
    const std::vector<u32> busy = net.plan->channel_flits(net.engine->state(0));
    const Topology& topology = net.plan->topology();
    const u32 packet = charged ? 270 : 262, tokens = charged ? 0 : 8;
    std::size_t channel = 0;
    for (u32 router = 0; router < topology.routers; ++router)
      for (u32 port = 0; port < topology.network_ports; ++port, ++channel) {
        const bool in_plane = router < 16 && port < 4;
        const bool to_root = in_plane && topology.peer(router, port).item == 5;
        EXPECT_EQ(busy[channel], 30 * ((in_plane && !to_root) * packet + (in_plane && router != 5) * tokens))
            << router << ' ' << port;
      }
  }
}

TEST(BglBroadcast, SlowSoftwareLosesNothing) {
  const Experiment e =
      broadcast({4, 4, 1}, {1, 0}, 6, 20, Settings("injection.put_interval=20 reception.take_interval=100"));
  Network one(e), three(e, {"cpu", 3, false, 1}), wide(e, {"cpu", 2, false, 1, testing::kWide});
  for (u32 i = 0; i < 50; ++i) {
    one.step(2000);
    if (i < 3)  // few trials: barriers of more threads than cores are slow, and so are wide layouts
      for (Network* net : {&three, &wide}) {
        net->step(2000);
        ASSERT_EQ(one.engine->state_hash(0), net->engine->state_hash(0));
      }
    check_conservation(*one.engine, *one.plan, 0);
  }
  EXPECT_EQ(one.total(Total::kPacketsDelivered) + one.total(bgl::Count::kCopies), 4 * 20 * 15u);
}

TEST(BglBroadcast, BadInputIsNamed) {
  const auto refused = [](IntList dimensions, u32 root, RawConfig changes = {}) {
    try {
      make_plan(broadcast({4, 4, 1}, dimensions, root, 5, changes));
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refused({2}, 0).find("broadcast.dimensions = [2]"), std::string::npos);
  EXPECT_NE(refused({1, 1}, 0).find("broadcast.dimensions = [1, 1]"), std::string::npos);
  EXPECT_NE(refused({0}, 16).find("broadcast.root = 16"), std::string::npos);
  EXPECT_NE(refused({0}, 0, Settings("injection.fifos=3")).find("injection.fifos"), std::string::npos);
  EXPECT_EQ(refused({0, 1}, 15), "");
  try {
    experiment("traffic.mode=broadcast");
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("router.kind = \"vc\""), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace flitlab::bgl_broadcast_test
