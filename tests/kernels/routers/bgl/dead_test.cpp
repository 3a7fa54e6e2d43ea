/// Dead nodes in Blue Gene/L's torus, and hint bits that software sets: rejected inputs, hand-derived detours, and runs
/// beyond saturation. Routes are tested in dead_ways_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "tests/support/bgl/bgl.hpp"
#include "tests/support/bgl/dead.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/grid.hpp"

namespace flitlab::bgl_dead_test {
namespace {

using namespace testing;
using testing::bgl_dead::Draw;
using testing::bgl_dead::error_of;
using testing::bgl_dead::machine;
using testing::bgl_dead::Nodes;

/// Two dead nodes on a line separate the nodes between them from the rest of the line; two dead neighbours do not.
TEST(BglDead, TwoOnALineAreRejectedByName) {
  EXPECT_EQ(error_of(machine({8, 1, 1}, {1, 7})),
            "faults.nodes: no hint bits lead from node 0 (0,0,0) to node 2 (2,0,0); dead nodes in the way: 1 (1,0,0), "
            "7 (7,0,0). Choose other nodes: up to three are no obstacle if no two of them are on a line along a "
            "dimension.");
  EXPECT_NE(error_of(machine({32, 32, 32}, {0, 5 * 1024})).find("in the way: 0 (0,0,0), 5120 (0,0,5)"),
            std::string::npos);
  EXPECT_EQ(error_of(machine({8, 8, 8}, {1, 2})), "none");
  EXPECT_EQ(error_of(machine({4, 4}, {5}, Settings("router.dynamic_vcs=0"))),
            "faults.nodes: no hint bits lead from node 6 (2,1) to node 9 (1,2); dead nodes in the way: 5 (1,1). Set "
            "router.dynamic_vcs to 1 or more, since only dynamic packets go round them.");
}

TEST(BglDead, BadInputIsRejected) {
  const RawConfig fill = Settings("traffic.mode=broadcast broadcast.root=5");
  RawConfig plane = fill;
  plane["broadcast.dimensions"] = IntList{0, 1};
  const struct {
    RawConfig config;
    const char* message;
  } cases[] = {
      {machine({4, 4}, {16}), "faults.nodes contains 16: nodes are numbered 0 to 15."},
      {machine({4, 4}, {3, 3}), "faults.nodes contains 3 twice"},
      {machine({3}, {0, 1}), "faults.nodes = [0, 1] leaves 1 of 3 nodes. At least two must be live."},
      {machine({8, 8}, {0, 1, 2, 3, 4, 5, 6, 8, 9}), "faults.nodes names 9 nodes; at most 8 are supported."},
      {machine({4, 4}, {3}, Settings("router.escape_order=direction")), "Set router.escape_order = \"direction\" to"},
      {machine({4, 4}, {5}, fill), "broadcast.root = 5 is dead (faults.nodes). Choose a live node."},
      {machine({4, 4}, {7}, fill), "node 7 has to be reached, but is dead"},
      {machine({4, 4}, {8}, plane), "node 8 has to be reached, but is dead"},
      {machine({4, 4}, {5}, Settings("traffic.pattern=hot_spot traffic.hot_terminals=[5]")),
       "traffic.hot_terminals: terminal 5 takes no part"},
  };
  for (const auto& c : cases) EXPECT_NE(error_of(c.config).find(c.message), std::string::npos) << error_of(c.config);
  for (const auto& [line, message] : {std::pair{"5,6,0\n4,6,1\n", "none"},
                                      {"5,6,1\n4,6,1\n", "terminal 5 takes no part"},
                                      {"5,6,0\n4,5,1\n", "terminal 5 takes no part"}}) {
    std::string text = line;
    for (u32 t = 0; t < 16; ++t)
      if (t != 4 && t != 5) text += std::to_string(t) + "," + std::to_string(t == 13 ? 1 : t ^ 8) + ",1\n";
    const TextFile matrix(text);
    const std::string error =
        error_of(machine({4, 4}, {5}, Settings("traffic.pattern=matrix traffic.matrix_file=", matrix.path)));
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
  EXPECT_EQ(error_of(machine({4, 4}, {8}, fill)), "none");
  for (const char* line : {"0,5,1,1\n", "0,1,5,1\n"}) {
    const TextFile trace(line);
    Network net(experiment(machine({4, 4}, {5}, Settings("traffic.mode=trace traffic.trace_file=", trace.path))));
    try {
      net.step(1);
      FAIL();
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("terminal 5 is at a dead node"), std::string::npos) << e.what();
    }
  }
}

/// The corner of the packet's route is dead. So the packet is dynamic even if others are not, and it takes the opposite
/// corner, with no extra hops. From further away its first hop may be in either dimension, but it never enters the dead
/// node.
TEST(BglDead, ACornerIsAvoidedDynamically) {
  BglTorus plane({6, 6}, {{0, 0, 7, 8}, {0, 13, 7, 8}, {1000, 5, 7, 1}, {1000, 5, 7, 1, bgl::kHighPriority}},
                 Settings("faults.nodes=[1]"));
  plane.run(999);
  ASSERT_EQ(plane.way(0).size(), 2u);
  EXPECT_EQ(plane.way(0)[0].out, kPlusY);
  EXPECT_LT(plane.way(0)[0].out_vc, 2u);
  EXPECT_EQ(plane.way(0)[1].out, kPlusX);
  EXPECT_EQ(plane.delivered(0), 3 + 2 * 21 + 256 + 1u);
  EXPECT_EQ(plane.way(1)[0].out_vc, 2u);  // a pair whose route has no dead node stays deterministic
}

/// Pairs without a dead node between them use the hint bits of the hardware. For the others software finds hint bits;
/// equally good ones are equally likely.
TEST(BglDead, TiesAreStillSplitEvenly) {
  const u32 each = 1000;
  std::vector<testing::BglLine> lines;
  for (u32 n = 0; n < each; ++n) lines.push_back({40 * n, 0, 10, 1}), lines.push_back({40 * n, 1, 11, 1});
  BglTorus plane({4, 4}, lines, Settings("faults.nodes=[5] routing.dynamic=1.0 routing.ties=random"));
  plane.drain();
  std::map<u32, u32> of_blocked, of_free;
  for (const BglGrant& g : plane.grants())
    if (g.in == bgl::kReception) ++(plane.line(g.id).src ? of_free : of_blocked)[g.hints];
  // From (0,0) to (2,2) the route must avoid (1,1). From (1,0) to (3,2) the node is inside two of the four boxes of
  // minimal routes; in the other two it is on no line of the route.
  EXPECT_EQ(of_blocked.size(), 3u);
  EXPECT_FALSE(of_blocked.count(1u << kPlusX | 1u << kPlusY));
  for (const auto& [hints, count] : of_blocked) expect_share(count, each, 1 / 3.0, "a set of hint bits");
  EXPECT_EQ(of_free.size(), 2u);
  for (const auto& [hints, count] : of_free) {
    EXPECT_TRUE(hints >> kMinusY & 1);
    expect_share(count, each, 1 / 2.0, "a set of hint bits");
  }
}

/// flitlab uses configured hint bits as they are given. They are written as in a packet, x+ first.
TEST(BglHintsGiven, AreUsedForTheirPairsOnly) {
  const IntList hints{0, 5, 0b011000, 5, 0, 0b100100};
  for (double dynamic : {0.0, 1.0}) {
    BglTorus plane({4, 4}, {{0, 0, 5, 1}, {0, 5, 0, 1}, {0, 1, 4, 1}},
                   Settings("routing.hints=", hints, " routing.dynamic=", dynamic));
    plane.drain();
    EXPECT_EQ(plane.way(0)[0].hints, 1u << kMinusX | 1u << kPlusY);
    EXPECT_EQ(plane.way(0).size(), 4u);
    EXPECT_EQ(plane.way(1)[0].hints, 1u << kPlusX | 1u << kMinusY);
    EXPECT_EQ(plane.way(2).size(), 2u);
    EXPECT_EQ(plane.way(0)[0].out_vc, dynamic ? plane.way(0)[0].out_vc & 1 : 2u);
  }
  // A dead corner makes packets dynamic even if their hint bits are configured.
  BglTorus corner({4, 4}, {{0, 0, 5, 1}}, Settings("routing.hints=", IntList{0, 5, 0b011000}, " faults.nodes=[1]"));
  corner.drain();
  EXPECT_EQ(corner.way(0).size(), 4u);
  EXPECT_EQ(corner.way(0)[0].hints, 1u << kMinusX | 1u << kPlusY);
}

TEST(BglHintsGiven, BadOnesAreRejected) {
  const struct {
    IntList hints;
    const char* message;
  } cases[] = {
      {{0, 5}, "routing.hints has 2 numbers: give three"},
      {{0, 16, 0b101000}, "entry 1, from node 0 to node 16, names a node that does not exist: nodes are numbered 0 to"},
      {{0, 5, 0b101000, 3, 3, 0}, "entry 2, from node 3 to node 3, has the same source and destination"},
      {{0, 5, 64}, "at most 63 = 0b111111"},
      {{0, 5, 0b111000}, "has hint bits 111000, both directions of x: set x+ or x-."},
      {{0, 5, 0b101011}, "has hint bits 101011, both directions of z: set z+ or z-."},
      {{0, 5, 0b100000}, "has hint bits 100000, which do not lead to the destination: set y+ or y- as well."},
      {{0, 1, 0b101000}, "has hint bits 101000, but no hops in y are required: leave y out."},
      {{0, 5, 0b101000, 0, 5, 0b100100}, "names the pair of nodes 0 and 5 twice"},
      {{10, 0, 0b101000}, "names a dead node (faults.nodes)"},
      {{8, 11, 0b100000}, "from node 8 to node 11, has hint bits 100000, which lead packets to nodes where only dead"},
  };
  for (const auto& c : cases) {
    const std::string text = error_of(machine({4, 4}, {10}, Settings("routing.hints=", c.hints)));
    EXPECT_NE(text.find(c.message), std::string::npos) << text;
  }
  EXPECT_EQ(error_of(machine({4, 4}, {10}, Settings("routing.hints=", IntList{8, 11, 0b010000}))), "none");
}

/// Load beyond saturation with several placements of dead nodes: dead nodes send no packets, all packets of the others
/// arrive, and no cyclic wait occurs at any time.
TEST(BglDeadRuns, BeyondSaturationEverythingArrives) {
  Draw draw(5);
  for (u32 i = 0; i < 12; ++i) {
    const IntList shape = std::array{IntList{4, 4, 4}, IntList{6, 6}, IntList{3, 4, 5}}[i % 3];
    const Nodes dead = i < 3 ? Nodes{0, Nodes{21, 7, 16}[i], Nodes{38, 14, 35}[i]} : draw.dead(Grid(shape), 1 + i % 3);
    const RawConfig config = machine(shape, dead,
                                     {{"run.seed", integer(i + 1)},
                                      {"routing.dynamic", i % 4 == 1 ? 0.3 : 1.0},
                                      {"router.dynamic_vcs", integer(1 + i % 2)},
                                      {"router.dynamic_flits", integer(i % 2 ? 32 : 8)},
                                      {"router.escape", word(i % 5 == 4 ? "dateline" : "bubble")},
                                      {"router.escape_flits", integer(16)},
                                      {"injection.priority_share", i % 3 ? 0.0 : 0.2},
                                      {"traffic.mode", word("batch")},
                                      {"traffic.batch_packets", integer(150)},
                                      {"traffic.packet_flits", Lengths{{1, 1.0}, {8, 1.0}}}});
    Network net(experiment(config));
    const u32 nodes = Grid(shape).nodes, live = nodes - static_cast<u32>(dead.size());
    while (net.total(Total::kPacketsDelivered) < live * 150) {
      net.step(1000);
      ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0));
      ASSERT_EQ(net.plan->find_deadlock(net.engine->state(0)), "") << ::testing::PrintToString(dead);
      ASSERT_LT(net.engine->now(), 1000000u);
    }
    EXPECT_EQ(net.total(Total::kPacketsCreated), live * 150);
    EXPECT_EQ(net.plan->facts().active_terminals, live);
    const std::vector<std::byte> state = net.engine->state(0);
    for (u32 n : dead) {
      const TerminalSnapshot s = net.plan->inspect_terminal(state, n);
      EXPECT_EQ(s.created + s.received, 0u);
    }
  }
}

/// Every node on a dead node's line sends to the nodes of the plane behind it. So all packets make a detour, on dynamic
/// channels that hold one packet each.
TEST(BglDeadRuns, WhereAllHaveToGoRoundTheDeadNode) {
  std::string text;
  const Grid grid({6, 6});
  for (u32 n = 0; n < grid.nodes; ++n)
    for (u32 y = 1; y < 6; ++y)
      if (n % 6 != 2) text += std::to_string(n) + "," + std::to_string(grid.node({2, y})) + (n < 6 ? ",1\n" : ",0\n");
  for (u32 y = 0; y < 6; ++y) text += std::to_string(grid.node({2, y})) + ",0,0\n";
  const TextFile matrix(text);
  Network net(experiment(machine({6, 6}, {2},
                                 Settings("traffic.pattern=matrix traffic.matrix_file=", matrix.path,
                                          " traffic.mode=batch traffic.batch_packets=1000 router.dynamic_flits=8 "
                                          "routing.dynamic=0.0 traffic.packet_flits=[[8,1.0]]"))));
  while (net.total(Total::kPacketsDelivered) < 5 * 1000) {
    net.step(1000);
    ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0));
    ASSERT_EQ(net.plan->find_deadlock(net.engine->state(0)), "");
    ASSERT_LT(net.engine->now(), 2000000u);
  }
}

}  // namespace
}  // namespace flitlab::bgl_dead_test
