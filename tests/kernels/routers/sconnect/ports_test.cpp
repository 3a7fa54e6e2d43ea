/// Ports of TICs that are switched off and on under traffic (S-Connect, 3.4).
#include <gtest/gtest.h>

#include <set>

#include "host/routers/sconnect/control.hpp"
#include "host/routers/sconnect/plan.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/build.hpp"

namespace flitlab::sconnect_ports_test {
namespace {

using namespace testing;

/// A TIC's ports are switched off and on in random cycles. Every message and quad arrives once, whatever was in
/// transit.
TEST(SconnectPorts, SwitchingThemCostsNoMessage) {
  for (u32 seed = 0; seed < 20; ++seed) {
    Network net(experiment(Settings{
                    "router.kind=sconnect topology.kind=hypercube topology.dimensions=3 topology.channel_delay=",
                    6 * (1 + seed % 3), " traffic.mode=batch traffic.batch_packets=200 traffic.packet_flits=",
                    Lengths{{1, 1.0}, {4, seed % 2 ? 1.0 : 0.0}}}),
                {"cpu", 1, true, 1});
    std::set<std::pair<u32, u32>> arrived;
    for (u32 i = 0; net.engine->now() < 20000 && arrived.size() < 1600; ++i) {
      const Random4 r = philox(seed, 0x5C, 1, i);
      const bool over = net.engine->now() > 1500;
      for (u32 tic = 0; tic < (over ? 8 : 0); ++tic)
        set_sconnect_register(*net.engine, dynamic_cast<const SconnectPlan&>(*net.plan).table(), tic, "enabled", 63);
      if (!over)
        set_sconnect_register(*net.engine, dynamic_cast<const SconnectPlan&>(*net.plan).table(), r.word[0] % 8,
                              "enabled", 48 | (r.word[1] % 16));
      net.step(1 + r.word[2] % 5);
      for (const std::vector<Event>& list : net.engine->take_events(0))
        for (const Event& event : list)
          EXPECT_TRUE(event.kind != EventKind::kDelivered || arrived.emplace(event.src, event.id).second);
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0)) << seed;
    }
    EXPECT_EQ(arrived.size(), 1600u) << seed;
  }
}

}  // namespace
}  // namespace flitlab::sconnect_ports_test
