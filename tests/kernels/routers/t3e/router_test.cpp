/// The T3E's router: conservation, datelines and routing order.
#include <gtest/gtest.h>

#include "host/routers/t3e/plan.hpp"
#include "host/run/run.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::t3e_router_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::Network;
using testing::TextFile;
using testing::word;

Experiment machine(RawConfig changes) {
  changes["router.kind"] = std::string("t3e");
  return experiment(changes);
}

/// After a batch no more packets are created; then all packets must have arrived and all credits must be back.
TEST(T3eConservation, EveryPacketOfABatchArrives) {
  for (const char* choice : {"highest", "any"})
    for (int adaptive_vcs : {0, 1, 3})
      for (const char* select : {"time_of_crossing", "optimised", "full"}) {
        Network net(machine({{"topology.shape", IntList{8, 4, 3}},
                             {"router.adaptive_vcs", integer(adaptive_vcs)},
                             {"router.adaptive_choice", word(choice)},
                             {"routing.vc_select", word(select)},
                             {"traffic.mode", word("batch")},
                             {"traffic.batch_packets", integer(30)},
                             {"traffic.packet_flits", Lengths{{1, 1.0}, {4, 1.0}, {10, 1.0}}}}));
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
  Network net(machine({{"traffic.load", 0.3}}));
  net.step(200);
  check_conservation(*net.engine, *net.plan, 0);
  std::vector<std::byte> state = net.engine->state(0);
  const auto& plan = dynamic_cast<const T3ePlan&>(*net.plan);
  const Items<1> routers{state.data(), plan.layout().kinds[0].item_bytes};
  --routers[5].at(plan.table().router_fields.output, 2 * plan.table().link_vcs + 4).credits;
  net.engine->set_state(0, state);
  EXPECT_ANY_THROW(check_conservation(*net.engine, *net.plan, 0));
}

/// A packet on set 1 that reaches the dateline is stopped and lost (manual, Dateline Physical Node). In this test
/// software has set every SELECT bit of the nodes' +X registers, so packets start on set 1.
TEST(T3eDateline, StopsPacketsOfSetOne) {
  const TextFile trace(
      "0,7,1,5\n100,6,2,3\n200,6,0,4\n300,1,3,10\n");  // four packets: through node 0, through it, to it, far from it
  Network net(machine({{"topology.shape", IntList{8, 4, 2}},
                       {"routing.adaptive", false},
                       {"traffic.mode", word("trace")},
                       {"traffic.trace_file", trace.path}}));
  const FieldInfo& field = net.plan->layout().kinds[0].field("registers");
  std::vector<t3e::Registers> registers(64);
  net.engine->get_field(0, 0, field, registers.data());
  for (t3e::Registers& r : registers) r.vcsel[0] |= 0xFF;
  net.engine->set_field(0, 0, field, registers.data());
  net.step(500);
  check_conservation(*net.engine, *net.plan, 0);
  EXPECT_EQ(net.total(Total::kPacketsDropped), 2u);
  EXPECT_EQ(net.total(Total::kFlitsDropped), 8u);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 2u);
}

/// A packet changes from set 0 to set 1 at the dateline and stays on set 1.
TEST(T3eDateline, ChangesSetZeroToOne) {
  const TextFile trace("0,6,2,1\n");
  Network net(machine({{"topology.shape", IntList{8, 4, 2}},
                       {"routing.adaptive", false},
                       {"routing.vc_select", word("time_of_crossing")},
                       {"traffic.mode", word("trace")},
                       {"traffic.trace_file", trace.path}}),
              {"cpu", 1, true, 1});
  std::vector<u32> vcs;  // VCs on which the flit leaves nodes 6, 7, 0 and 1
  net.step(100);
  const auto events = net.engine->take_events(0);
  for (u32 node : {6, 7, 0, 1})
    for (const Event& event : events[node])
      if (event.kind == EventKind::kSwitchGranted) vcs.push_back(event.out_vc);
  EXPECT_EQ(vcs, (std::vector<u32>{0, 0, 1, 1}));
}

/// Returns output port and VC at each router of a packet's route.
std::vector<std::pair<u32, u32>> way(Network& net, u32 src, u32 packet) {
  std::vector<std::pair<u32, u32>> list;
  const auto events = net.engine->take_events(0);
  u32 node = src;
  for (;;) {
    const Event* found = nullptr;
    for (const Event& event : events[node])
      if (event.kind == EventKind::kSwitchGranted && event.id == packet && (event.flit & 1)) found = &event;
    if (!found) return list;
    list.emplace_back(found->out_port, found->out_vc);
    const Peer& peer = net.plan->topology().peer(node, found->out_port);
    if (peer.is_terminal) return list;
    node = peer.item;
  }
}

/// Deterministic packets take directions in the order +X +Y +Z -X -Y -Z. In an empty machine adaptive packets take them
/// in reverse order, and their last direction on a deterministic VC.
TEST(T3eRouting, DirectionsAreTakenInOrder) {
  const u32 from = 1 + 8 * (1 + 8 * 0), to = 7 + 8 * (3 + 8 * 2);  // -X twice, +Y twice, +Z twice
  for (bool adaptive : {false, true}) {
    const TextFile trace("0," + std::to_string(from) + "," + std::to_string(to) + ",2\n");
    Network net(machine({{"topology.shape", IntList{8, 8, 8}},
                         {"routing.adaptive", adaptive},
                         {"routing.vc_select", word("time_of_crossing")},
                         {"traffic.mode", word("trace")},
                         {"traffic.trace_file", trace.path}}),
                {"cpu", 1, true, 1});
    net.step(200);
    const std::vector<std::pair<u32, u32>> expected =
        adaptive ? std::vector<std::pair<u32, u32>>{{3, 4}, {3, 4}, {2, 4}, {2, 4}, {1, 0}, {1, 0}, {6, 0}}
                 : std::vector<std::pair<u32, u32>>{{1, 0}, {1, 0}, {2, 0}, {2, 0}, {3, 0}, {3, 0}, {6, 0}};
    EXPECT_EQ(way(net, from, 0), expected) << adaptive;
  }
}

/// Rings without a dateline deadlock. The deadlock search reports a cycle of waiting packets around one of them.
TEST(T3eDeadlock, RingsWithoutDatelineDeadlock) {
  Network net(machine({{"topology.shape", IntList{8, 4, 2}},
                       {"routing.adaptive", false},
                       {"routing.vc_select", word("time_of_crossing")},
                       {"traffic.pattern", word("tornado")},
                       {"traffic.packet_flits", integer(10)},
                       {"traffic.load", 1.0}}));
  const FieldInfo& field = net.plan->layout().kinds[0].field("registers");
  std::vector<t3e::Registers> registers(64);
  net.engine->get_field(0, 0, field, registers.data());
  for (t3e::Registers& r : registers)
    for (u16& vcsel : r.vcsel) vcsel = 0;
  net.engine->set_field(0, 0, field, registers.data());
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
        Network net(machine({{"topology.shape", IntList{8, 4, 4}},
                             {"routing.adaptive", adaptive},
                             {"routing.vc_select", word(select)},
                             {"traffic.mode", word("request_reply")},
                             {"traffic.window", integer(32)},
                             {"traffic.reply_queue", integer(2)},
                             {"traffic.pattern", word(pattern)},
                             {"traffic.packet_flits", Lengths{{2, 1.0}, {10, 1.0}}},
                             {"traffic.reply_flits", Lengths{{2, 1.0}, {10, 1.0}}},
                             {"traffic.load", 1.0}}));
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
