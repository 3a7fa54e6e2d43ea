/// The T3E's router: conservation and deadlock.
#include <gtest/gtest.h>

#include "host/routers/t3e/plan.hpp"
#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/fields.hpp"

namespace flitlab::t3e_router_test {
namespace {

using namespace testing;

Experiment machine(RawConfig changes) {
  changes["router.kind"] = std::string("t3e");
  return experiment(changes);
}

/// The arbiter looks one clock ahead, so flitlab rejects delays of less than two clocks.
TEST(T3eArbiter, RejectsDelaysOfOneClock) {
  const auto machine = [](const char* path, int clocks) {
    return experiment({{"router.kind", word("t3e")}, {path, integer(clocks)}});
  };
  EXPECT_NO_THROW(machine("router.source_delay", 5));
  EXPECT_THROW(machine("router.source_delay", 4), ConfigError);
  EXPECT_NO_THROW(machine("router.credit_delay", 2));
  EXPECT_THROW(machine("router.credit_delay", 1), ConfigError);
}

/// After a batch no more packets are created; then all packets must have arrived and all credits must be back.
TEST(T3eConservation, EveryPacketOfABatchArrives) {
  for (const char* choice : {"highest", "any"})
    for (int adaptive_vcs : {0, 1, 3})
      for (const char* select : {"time_of_crossing", "optimised", "full"}) {
        Network net(machine(
            Settings("topology.shape=[8,4,3] router.adaptive_vcs=", adaptive_vcs, " router.adaptive_choice=", choice,
                     " routing.vc_select=", select,
                     " traffic.mode=batch traffic.batch_packets=30 traffic.packet_flits=[[1,1.0],[4,1.0],[10,1.0]]")));
        for (int i = 0; i < 10; ++i) {
          net.step(37);
          check_conservation(*net.engine, *net.plan, 0);
        }
        net.step(5000);
        check_conservation(*net.engine, *net.plan, 0);
        EXPECT_EQ(net.total(Total::kPacketsDelivered), 96u * 30);
        EXPECT_EQ(net.total(Total::kPacketsDropped), 0u);
        for (u32 r = 0; r < 96; ++r)
          for (const PortSnapshot& port : net.plan->inspect_router(net.engine->state(0), r))
            for (u32 vc = 0; vc < port.vcs.size(); ++vc) {
              EXPECT_EQ(port.vcs[vc].flits, 0u);
              EXPECT_EQ(port.vcs[vc].credits, vc < 4 ? 12u : 22u);
              EXPECT_EQ(port.vcs[vc].owner_port, kNone);
            }
      }
}

TEST(T3eConservation, AStolenCreditIsFound) {
  Network net(machine(Settings("traffic.load=0.3")));
  net.step(200);
  check_conservation(*net.engine, *net.plan, 0);
  std::vector<std::byte> state = net.engine->state(0);
  const auto& plan = dynamic_cast<const T3ePlan&>(*net.plan);
  const Items<1> routers{state.data(), plan.layout().kinds[0].item_bytes};
  --routers[5].at(plan.table().router_fields.output, 2 * plan.table().link_vcs + 4).credits;
  net.engine->set_state(0, state);
  EXPECT_ANY_THROW(check_conservation(*net.engine, *net.plan, 0));
}

/// Rings without a dateline deadlock. The deadlock search reports a cycle of waiting packets around one of them.
TEST(T3eDeadlock, RingsWithoutDatelineDeadlock) {
  Network net(
      machine(Settings("topology.shape=[8,4,2] routing.adaptive=false routing.vc_select=time_of_crossing "
                       "traffic.pattern=tornado traffic.packet_flits=10 traffic.load=1.0")));
  edit<t3e::Registers>(net, 0, "registers", [](std::vector<t3e::Registers>& registers, u32) {
    for (t3e::Registers& r : registers)
      for (u16& vcsel : r.vcsel) vcsel = 0;
  });
  net.step(3000);
  const std::string found = net.plan->find_deadlock(net.engine->state(0));
  EXPECT_NE(found.find("wait for one another in a cycle"), std::string::npos);
  EXPECT_NE(found.find("input -x VC 0"), std::string::npos) << found;
  const u64 before = net.total(Total::kFlitMoves);
  net.step(500);
  EXPECT_EQ(net.total(Total::kFlitMoves), before);
}

/// The standard machine, with datelines, never deadlocks, whatever the traffic.
TEST(T3eDeadlock, TheMachineNeverDeadlocks) {
  for (const char* select : {"time_of_crossing", "optimised", "full"})
    for (const char* pattern : {"uniform", "tornado", "bit_complement", "bit_reverse"})
      for (bool adaptive : {false, true}) {
        Network net(machine(Settings(
            "topology.shape=[8,4,4] routing.adaptive=", adaptive, " routing.vc_select=", select,
            " traffic.mode=request_reply traffic.window=32 traffic.reply_queue=2 traffic.pattern=", pattern,
            " traffic.packet_flits=[[2,1.0],[10,1.0]] traffic.reply_flits=[[2,1.0],[10,1.0]] traffic.load=1.0")));
        net.step(2000);
        EXPECT_EQ(net.plan->find_deadlock(net.engine->state(0)), "") << select << pattern << adaptive;
        const u64 before = net.total(Total::kTransactions);
        net.step(500);
        EXPECT_GT(net.total(Total::kTransactions), before + 300);
        check_conservation(*net.engine, *net.plan, 0);
      }
}

}  // namespace
}  // namespace flitlab::t3e_router_test
