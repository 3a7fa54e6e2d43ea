/// Conservation of packets, flits and credits over many configurations, and tests that the audit detects damage.
#include <gtest/gtest.h>

#include "host/routers/vc/plan.hpp"
#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::vc_conservation_test {
namespace {

using namespace testing;

/// After a batch no more packets are created; then all packets must arrive and all credits must return.
TEST(Conservation, EveryPacketOfABatchArrives) {
  for (const char* allocator : {"separable_input_first", "separable_output_first", "islip", "wavefront"})
    for (const char* arbiter : {"round_robin", "matrix", "oldest_first", "most_hops_first", "random", "fixed_priority"})
      for (bool speculative : {false, true}) {
        Network net(
            experiment("router.vc_allocator=", allocator, " router.switch_allocator=", allocator,
                       " router.arbiter=", arbiter, " router.speculative=", speculative,
                       " traffic.mode=batch traffic.batch_packets=40 traffic.packet_flits=[[1,1.0],[3,1.0],[9,1.0]]"));
        for (int i = 0; i < 10; ++i) {
          net.step(57);
          check_conservation(*net.engine, *net.plan, 0);
        }
        net.step(4000);
        check_conservation(*net.engine, *net.plan, 0);
        EXPECT_EQ(net.total(Total::kPacketsDelivered), 16u * 40);
        EXPECT_EQ(net.total(Total::kFlitsDelivered), net.total(Total::kFlitsCreated));
        for (u32 r = 0; r < 16; ++r)
          for (const PortSnapshot& port : net.plan->inspect_router(net.engine->state(0), r))
            for (const VcSnapshot& vc : port.vcs) {
              EXPECT_EQ(vc.flits, 0u);
              EXPECT_EQ(vc.credits, 8u);
              EXPECT_EQ(vc.owner_port, kNone);
            }
      }
}

TEST(Conservation, AStolenCreditIsFound) {
  Network net(experiment("traffic.load=0.3"));
  net.step(200);
  check_conservation(*net.engine, *net.plan, 0);
  std::vector<std::byte> state = net.engine->state(0);
  const auto& plan = dynamic_cast<const VcPlan&>(*net.plan);
  const Items<1> routers{state.data(), plan.layout().kinds[0].item_bytes};
  vc::OutputVc& out = routers[5].at(plan.table().router_fields.output, 2);
  ASSERT_GT(out.credits, 0u);
  --out.credits;
  net.engine->set_state(0, state);
  try {
    check_conservation(*net.engine, *net.plan, 0);
    ADD_FAILURE();
  } catch (const RunError& e) {  // the error message names replica, cycle, router and port
    EXPECT_NE(std::string(e.what()).find("replica 0, cycle 200, router "), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(", port "), std::string::npos) << e.what();
  }
}

/// The audit finds a summary bit (a bit set over a router's VCs) that disagrees with the state of the VCs.
TEST(Conservation, AWrongSetIsFound) {
  for (u64 vc::RouterControl::* set : {&vc::RouterControl::flits, &vc::RouterControl::granted,
                                       &vc::RouterControl::waiting, &vc::RouterControl::taken}) {
    Network net(experiment("traffic.load=0.3"));
    net.step(200);
    std::vector<std::byte> state = net.engine->state(0);
    const auto& plan = dynamic_cast<const VcPlan&>(*net.plan);
    const Items<1> routers{state.data(), plan.layout().kinds[0].item_bytes};
    routers[5].at(plan.table().router_fields.control).*set ^= 1u << 3;
    net.engine->set_state(0, state);
    EXPECT_THROW(check_conservation(*net.engine, *net.plan, 0), RunError);
  }
}

TEST(Conservation, ALostPacketIsFound) {
  Network net(experiment("traffic.load=0.3"));
  net.step(200);
  CounterShard counters = net.engine->counters(0);
  ++counters.total[static_cast<u32>(Total::kPacketsInjected)];
  net.engine->set_counters(0, counters);
  EXPECT_THROW(check_conservation(*net.engine, *net.plan, 0), RunError);
}

TEST(Conservation, ALostFlitIsFound) {
  Network net(experiment("traffic.load=0.3"));
  net.step(200);
  CounterShard counters = net.engine->counters(0);
  ++counters.total[static_cast<u32>(Total::kFlitsInjected)];
  net.engine->set_counters(0, counters);
  EXPECT_THROW(check_conservation(*net.engine, *net.plan, 0), RunError);
}

}  // namespace
}  // namespace flitlab::vc_conservation_test
