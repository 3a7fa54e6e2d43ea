/// Deadlock: channel dependencies of all routing functions, which must be acyclic, and the watchdog that detects a
/// deadlock in a run.
#include <gtest/gtest.h>

#include "host/routers/vc/plan.hpp"
#include "host/routing/dependency.hpp"
#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/vc/route.hpp"
#include "tests/support/build.hpp"

namespace flitlab::vc_deadlock_test {
namespace {

using namespace testing;

/// Follows every packet of every pair over every VC that it may take. Returns a cycle of channel dependencies, if there
/// is one. With `escape_only` it follows only the escape function of adaptive routing, from every router, because
/// Duato's theorem requires that the escape channels alone be acyclic. `one_class`: all packets may take all VCs.
std::vector<u32> dependency_cycle(const Experiment& e, bool escape_only = false, bool one_class = false) {
  const VcPlan plan(e);
  vc::VcTable t = plan.table();
  for (u16& mask : t.class_mask[0]) mask = one_class ? t.message_mask[0] : mask;
  // UGAL and PAR: both outcomes of each choice between two routes.
  constexpr i32 kVia = -(1 << 20);
  const u32 draws = t.vc_assignment == vc::VcAssignment::kTwoDatelines ? 16 : 2;
  const bool chooses = t.algorithm == vc::Algorithm::kUgal || t.algorithm == vc::Algorithm::kPar;
  if (escape_only) t.algorithm = t.by_tables ? vc::Algorithm::kUpDown : vc::Algorithm::kDimensionOrder;
  std::vector<u8> one_port;  // the escape function takes the first of parallel channels
  if (escape_only && t.by_tables) {
    one_port.assign(t.next_port, t.next_port + std::size_t{t.routers} * t.routers);
    for (u8& port : one_port) port &= static_cast<u8>(~kAnyParallel);
    t.next_port = one_port.data();
    t.shortest = nullptr;
  }
  const Topology& topology = plan.topology();
  std::vector<std::byte> blank(plan.layout().bytes(1));
  const Items<1> routers{blank.data(), plan.layout().kinds[0].item_bytes};
  DependencyGraph graph(t.routers * t.ports * t.vcs);
  const auto number = [&](u32 r, u32 port, u32 v) { return (r * t.ports + port) * t.vcs + v; };
  // All choices that routing draws at the source: intermediate routers, dimension orders, and both directions of a ring
  // if they are equally short.
  const u32 vias = vc::goes_via(t) || t.algorithm == vc::Algorithm::kRomm ? t.terminal_routers : 1;
  const u32 orders = t.algorithm == vc::Algorithm::kO1Turn ? 2 : 1;
  for (u32 source = 0; source < t.terminal_routers; ++source)
    for (u32 destination = 0; destination < t.terminal_routers; ++destination)
      for (u32 variant = 0; variant < vias * orders * draws * (chooses ? 2 : 1); ++variant) {
        struct At {
          u32 router, port, vc, channel;
          Packet packet;
        };
        Packet packet{};
        packet.src = source;
        // Ties between directions are decided differently for the first two packet numbers, classes for several ones.
        packet.id = variant % draws == 0 ? 4 : variant % draws == 1 ? 11 : 20 + variant % draws;
        packet.dst = t.address[destination];
        packet.dst_port = static_cast<u8>(t.network_ports);
        packet.via = t.address[variant / draws % vias];
        packet.route_bits = orders == 2 && variant / draws % 2 ? vc::kReverseOrder : 0;
        t.threshold = kVia;
        // The shortest route, which PAR leaves as soon as it decides again.
        if (chooses && variant / draws / vias)
          packet.route_bits = vc::kPastIntermediate | vc::kDecided | vc::kOnShortest;
        std::vector<At> stack{{source, t.network_ports, 0, kNone, packet}};
        while (!stack.empty()) {
          At at = stack.back();
          stack.pop_back();
          vc::RouterControl& control = routers[at.router].at(t.router_fields.control);
          const vc::Route route = vc::compute_route(t, vc::outputs_of(t, routers[at.router], control), at.router,
                                                    at.packet, at.port, at.vc);
          if (route.port >= t.network_ports) continue;
          u64 ports = u64{1} << route.port;
          if (vc::forbids_turns(t.algorithm)) ports = vc::permitted_ports(t, at.packet, t.address[at.router]);
          const auto outputs = vc::outputs_of(t, routers[at.router], control);
          const vc::HyperxRoutes<vc::VcTable, vc::Outputs<vc::VcTable, 1>> hyperx{
              {t, at.packet, outputs, at.router, at.port, at.vc}, at.packet};
          if (vc::deroutes(t.algorithm)) ports = hyperx.permitted();
          EXPECT_TRUE(ports >> route.port & 1);
          for (u64 set = ports; set; set &= set - 1) {
            const u32 port = lowest_bit(set);
            const Peer& peer = topology.peer(at.router, port);
            EXPECT_NE(peer.item, kNone);
            At then = at;
            ++then.packet.hops;
            for (u32 mask = vc::deroutes(t.algorithm) ? hyperx.allowed(port) : route.allowed; mask; mask &= mask - 1) {
              const u32 v = lowest_bit(mask), next = number(at.router, port, v);
              if (at.channel != kNone) graph.add(at.channel, next);
              stack.push_back({peer.item, peer.port, v, next, then.packet});
            }
          }
        }
      }
  return graph.cycle();
}

RawConfig torus(const char* algorithm, const char* assignment, int vcs) {
  return Settings("topology.shape=[4,3] router.vcs=", vcs, " routing.algorithm=", algorithm,
                  " routing.vc_assignment=", assignment);
}

RawConfig mesh(const char* algorithm, int vcs) {
  return Settings("topology.kind=mesh topology.shape=[3,3] router.vcs=", vcs, " routing.algorithm=", algorithm);
}

TEST(Dependencies, OfDimensionOrderAreAcyclic) {
  EXPECT_TRUE(dependency_cycle(experiment(mesh("dimension_order", 2))).empty());
  for (const char* assignment : {"dateline", "balanced", "by_crossing", "two_datelines"})
    for (int vcs : {2, 3, 4})
      EXPECT_TRUE(dependency_cycle(experiment(torus("dimension_order", assignment, vcs))).empty());
}

TEST(Dependencies, OfObliviousRoutingAreAcyclic) {
  EXPECT_TRUE(dependency_cycle(experiment(mesh("o1turn", 2))).empty());
  EXPECT_TRUE(dependency_cycle(experiment(mesh("romm", 2))).empty());
  EXPECT_TRUE(dependency_cycle(experiment(mesh("valiant", 2))).empty());
  EXPECT_TRUE(dependency_cycle(experiment(torus("valiant", "dateline", 4))).empty());
  EXPECT_TRUE(dependency_cycle(experiment(torus("valiant", "balanced", 4))).empty());
  EXPECT_TRUE(dependency_cycle(experiment(torus("valiant", "by_crossing", 4))).empty());
  EXPECT_TRUE(dependency_cycle(experiment(torus("valiant", "two_datelines", 4))).empty());
}

TEST(Dependencies, OfTurnModelsAreAcyclic) {
  for (const char* algorithm : {"west_first", "north_last", "negative_first", "odd_even"})
    for (const char* shape : {"[4,4]", "[5,3]"})
      EXPECT_TRUE(dependency_cycle(experiment("topology.kind=mesh topology.shape=", shape,
                                              " router.vcs=1 routing.algorithm=", algorithm))
                      .empty())
          << algorithm << shape;
  EXPECT_TRUE(dependency_cycle(experiment("topology.kind=mesh topology.shape=[3,2,3] router.vcs=1 "
                                          "routing.algorithm=negative_first"))
                  .empty());
}

TEST(Dependencies, OfEscapeChannelsAreAcyclic) {
  EXPECT_TRUE(dependency_cycle(experiment(mesh("minimal_adaptive", 2)), true).empty());
  EXPECT_TRUE(dependency_cycle(experiment(torus("minimal_adaptive", "dateline", 3)), true).empty());
}

/// Families of networks, with two routers or groups more than the smallest.
const char* const kFamilies[] = {"full_mesh topology.routers=5",
                                 "hyperx topology.shape=[3,3]",
                                 "flattened_butterfly topology.shape=[2,2,2] topology.copies=2",
                                 "fat_tree topology.children=[2,2] topology.parents=[2,2]",
                                 "dragonfly topology.group_routers=2 topology.groups=5",
                                 "megafly topology.group_routers=2 topology.groups=5",
                                 "slim_fly topology.order=3",
                                 "polarfly topology.order=3",
                                 "jellyfish topology.routers=12 topology.degree=3",
                                 "polarstar topology.order=2",
                                 "cmesh topology.shape=[5,3] topology.express=2",
                                 "cmesh topology.shape=[9] topology.express=4",
                                 "mesh topology.shape=[3,3] topology.random_failures=2",
                                 "torus topology.shape=[3,3] topology.random_failures=3",
                                 "fat_tree topology.children=[2,3] topology.parents=[2,2] topology.random_failures=3"};

Experiment family(const std::string& kind, const std::string& algorithm, int vcs = 8) {
  return experiment(
      Settings("topology.concentration=1 topology.kind=", kind, " routing.algorithm=", algorithm, " router.vcs=", vcs));
}

TEST(Dependencies, OfFamiliesOfNetworksAreAcyclic) {
  for (const std::string kind : kFamilies) {
    const bool failed = kind.find("failures") != kind.npos, tree = kind.starts_with("fat_tree") && !failed;
    std::vector<std::string> algorithms{"minimal", "up_down"};
    if (failed) algorithms.push_back("table");
    if (!tree && !kind.starts_with("polarstar")) algorithms.insert(algorithms.end(), {"valiant", "ugal_l"});
    for (const std::string& algorithm : algorithms)
      EXPECT_TRUE(dependency_cycle(family(kind, algorithm)).empty()) << kind << " " << algorithm;
    EXPECT_TRUE(dependency_cycle(family(kind, "minimal_adaptive"), true).empty()) << kind;
    if (kind.starts_with("hyperx") || kind.starts_with("flattened")) {
      for (const char* algorithm : {"dal", "dimwar", "omniwar"})
        EXPECT_TRUE(dependency_cycle(family(kind, algorithm, 6)).empty()) << kind << " " << algorithm;
    }
    if (tree) {
      EXPECT_TRUE(dependency_cycle(family(kind, "nearest_common_ancestor")).empty());
    }
    if (!kind.starts_with("dragonfly") && !kind.starts_with("megafly")) continue;
    for (const char* intermediate : {"router", "group"})
      for (const char* algorithm : {"valiant", "ugal_l", "par"})
        EXPECT_TRUE(
            dependency_cycle(family(kind, algorithm + std::string(" routing.intermediate=") + intermediate)).empty())
            << kind << " " << algorithm << " " << intermediate;
  }
}

TEST(Dependencies, OfFamiliesOfNetworksWithOneClassHaveACycle) {
  for (const char* kind : {kFamilies[4], kFamilies[6], kFamilies[8]})
    EXPECT_FALSE(dependency_cycle(family(kind, "minimal", 2), false, true).empty()) << kind;
  for (const char* kind : {kFamilies[0], kFamilies[1], kFamilies[2]})
    EXPECT_FALSE(dependency_cycle(family(kind, "valiant", 2), false, true).empty()) << kind;
}

TEST(Dependencies, WithoutDatelineHaveACycle) {
  EXPECT_FALSE(dependency_cycle(experiment(torus("dimension_order", "any", 2))).empty());
}

Experiment heavy(const char* assignment, int vcs) {
  return experiment("topology.shape=[8,8] router.vcs=", vcs,
                    " router.buffer_flits=2 routing.vc_assignment=", assignment,
                    " traffic.load=1.0 traffic.packet_flits=8 run.warmup_cycles=0 run.measure_cycles=20000");
}

TEST(Watchdog, NamesTheCycleOfADeadlock) {
  try {
    run_job({heavy("any", 1)}, {"cpu", 1, false, 1}, nullptr);
    FAIL() << "a torus with one VC did not deadlock";
  } catch (const RunError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("deadlock (replica 0, found at cycle 5000)"), std::string::npos) << text;
    EXPECT_NE(text.find("wait for one another in a cycle"), std::string::npos) << text;
    EXPECT_NE(text.find("VC 0 waits for"), std::string::npos) << text;
  }
}

TEST(Watchdog, IsSilentWithoutADeadlock) {
  for (const char* assignment : {"dateline", "balanced", "by_crossing"})
    EXPECT_TRUE(run_job({heavy(assignment, 2)}, {"cpu", 1, false, 1}, nullptr).front().saturated);
}

/// A flit in an output queue, or a credit that an input port has yet to return, will arrive later. So a packet that
/// waits for it is not deadlocked. Dimension order on a mesh cannot deadlock, and a torus without datelines can.
TEST(Watchdog, KnowsFlitsAndCreditsThatWaitForAChannel) {
  for (const char* speedup :
       {"router.internal_speedup=2", "router.input_speedup=2", "router.output_speedup=2",
        "router.internal_speedup=3 router.output_queue_flits=1 router.wait_for_tail_credit=true",
        "router.input_speedup=2 router.internal_speedup=2 traffic.mode=request_reply traffic.reply_queue=1"}) {
    Network mesh(experiment("topology.kind=mesh topology.shape=[4,4] router.vcs=4 router.buffer_flits=2 ",
                            "traffic.load=0.9 ", speedup));
    for (u32 cycle = 0; cycle < 1000; ++cycle) {
      mesh.step(1);
      ASSERT_EQ(mesh.plan->find_deadlock(mesh.engine->state(0)), "") << speedup;
    }
    Network torus(experiment("topology.shape=[8,8] router.vcs=2 router.buffer_flits=2 routing.vc_assignment=any ",
                             "traffic.load=1.0 traffic.packet_flits=8 ", speedup));
    torus.step(30000);
    EXPECT_NE(torus.plan->find_deadlock(torus.engine->state(0)), "") << speedup;
  }
}

}  // namespace
}  // namespace flitlab::vc_deadlock_test
