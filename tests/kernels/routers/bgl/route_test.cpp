/// Routes of Blue Gene/L's packets: hint bits, the order of directions on the escape channels, and datelines. The test
/// finds expected routes by counting steps on coordinates, without the code under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/routers/bgl/route.hpp"
#include "kernels/routers/bgl/tokens.hpp"
#include "tests/support/bgl/bgl.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/grid.hpp"

namespace flitlab::bgl_route_test {
namespace {

using namespace testing;

/// Returns one packet for every pair. With at most 63 other nodes the source queues stay short enough for the trace.
std::vector<BglLine> all_pairs(const Grid& grid, u32 route = 0) {
  std::vector<BglLine> lines;
  for (u32 s = 0; s < grid.nodes; ++s)
    for (u32 d = 0; d < grid.nodes; ++d)
      if (s != d) lines.push_back({0, s, d, 1 + (s + d) % 8, route});
  return lines;
}

const IntList kShapes[] = {{2}, {7}, {8}, {2, 2}, {1, 5}, {4, 3, 2}, {3, 1, 4}, {2, 2, 2}};

TEST(BglHints, AreMinimal) {
  for (const IntList& shape : {IntList{8, 5, 2}, IntList{1, 6, 3}, IntList{7}}) {
    const Grid grid(shape);
    const BglTorus torus(shape, {});
    const bgl::Table& t = torus.table();
    for (u32 s = 0; s < grid.nodes; ++s)
      for (u32 d = 0; d < grid.nodes; ++d)
        for (u32 ties = 0; ties < 8; ++ties) {
          const u32 hints = bgl::minimal_hints(t, t.address[s], t.address[d], ties);
          u32 expected = grid.nearer(grid.at(s), grid.at(d));
          for (u32 dim = 0; dim < shape.size(); ++dim)
            if ((expected >> 2 * dim & 3) == 3) expected &= ~(ties >> dim & 1 ? 1u << 2 * dim : 2u << 2 * dim);
          ASSERT_EQ(hints, expected) << s << " to " << d;
        }
  }
}

TEST(BglHints, OrderOfTheEscapeChannels) {
  using bgl::escape_direction;
  using bgl::Order;
  for (u32 hints = 1; hints < 64; ++hints) {
    u32 dimension = 6, direction = 6;
    for (u32 d : {5u, 4u, 3u, 2u, 1u, 0u})
      if (hints >> d & 1) dimension = d;
    for (u32 d : {5u, 3u, 1u, 4u, 2u, 0u})  // x+ y+ z+ x- y- z-, from the last bit on
      if (hints >> d & 1) direction = d;
    EXPECT_EQ(escape_direction(Order::kDimension, hints), dimension);
    EXPECT_EQ(escape_direction(Order::kDirection, hints), direction);
  }
}

/// Fullness is a number of two bits: the quarter of the buffer.
TEST(BglHints, RangesAreQuarters) {
  for (u32 most : {8u, 16u, 30u, 32u, 248u})
    for (u32 amount = 0; amount <= most; ++amount) {
      u32 range = 0;
      while (range < 3 && 4 * amount >= (range + 1) * most) ++range;
      EXPECT_EQ(bgl::range_of(amount, most), range) << amount << " of " << most;
    }
}

struct Routing {
  const char* name;
  bool dynamic;
  const char *escape, *order;
};

class BglRoutes : public ::testing::TestWithParam<Routing> {};

/// Every packet of all pairs takes a shortest route, in order if it is deterministic. At every node its hint bits are
/// the directions still to go. With a dateline pair it uses the lower channel until it crosses between the largest
/// coordinate and 0 in a dimension, and the higher channel from that hop on.
TEST_P(BglRoutes, LeadEveryPairToItsDestination) {
  const Routing& p = GetParam();
  const bool pair = p.escape == std::string("dateline");
  u32 escapes = 0;
  for (const IntList& shape : kShapes) {
    const Grid grid(shape);
    BglTorus torus(shape, all_pairs(grid),
                   Settings("routing.dynamic=", p.dynamic ? 1.0 : 0.0, " router.dynamic_vcs=", p.dynamic ? 1 : 2,
                            " router.dynamic_flits=8 router.escape=", p.escape, " router.escape_order=", p.order));
    torus.drain();
    std::map<u32, std::vector<BglGrant>> ways;
    for (const BglGrant& g : torus.grants()) ways[g.id].push_back(g);
    for (const auto& [id, way] : ways) {
      const BglLine& line = torus.line(id);
      const Coordinates to = grid.at(line.dst);
      Coordinates at = grid.at(line.src);
      u32 hints = way.front().hints;
      ASSERT_EQ(hints & ~grid.nearer(at, to), 0u);
      bool crossed[3] = {};
      for (const BglGrant& hop : way) {
        ASSERT_EQ(hop.node, grid.node(at));
        for (u32 d = 0; d < 6; ++d)
          if (hints >> d & 1 && at[d / 2] == to[d / 2]) hints &= ~(1u << d);
        ASSERT_EQ(hop.hints, hints) << "packet " << id << " at " << hop.node;
        ASSERT_TRUE(hints >> hop.out & 1);
        const u32 dim = hop.out / 2, next = grid.step(at, hop.out)[dim];
        const bool plus = hop.out % 2 == 0;
        if (plus ? next < at[dim] : next > at[dim]) crossed[dim] = true;
        const u32 dynamic_vcs = p.dynamic ? 1 : 2;
        if (!p.dynamic || hop.out_vc >= dynamic_vcs) {
          ++escapes;
          // Finds the first direction in order: x before y before z, or all plus directions before all minus
          // directions.
          for (u32 d = 0; d < 6; ++d) {
            const bool by_direction = p.order == std::string("direction");
            const bool before =
                by_direction ? d % 2 < hop.out % 2 || (d % 2 == hop.out % 2 && d < hop.out) : d < hop.out;
            ASSERT_FALSE(before && (hints >> d & 1)) << "packet " << id << " at " << hop.node;
          }
          ASSERT_EQ(hop.out_vc, dynamic_vcs + (pair && crossed[dim]));
        }
        at = grid.step(at, hop.out);
      }
      ASSERT_EQ(at, to);
      u32 shortest = 0;
      for (u32 dim = 0; dim < shape.size(); ++dim)
        shortest +=
            std::min(grid.steps(grid.at(line.src), to, 2 * dim), grid.steps(grid.at(line.src), to, 2 * dim + 1));
      ASSERT_EQ(way.size(), shortest);
    }
    ASSERT_EQ(ways.size(), std::size_t{grid.nodes} * (grid.nodes - 1));
  }
  EXPECT_GT(escapes, 30u);
}

INSTANTIATE_TEST_SUITE_P(All, BglRoutes,
                         ::testing::Values(Routing{"xyz", false, "bubble", "dimension"},
                                           Routing{"directions", false, "bubble", "direction"},
                                           Routing{"xyz_pair", false, "dateline", "dimension"},
                                           Routing{"directions_pair", false, "dateline", "direction"},
                                           Routing{"dynamic", true, "bubble", "dimension"},
                                           Routing{"dynamic_pair", true, "dateline", "direction"}),
                         [](const auto& p) { return p.param.name; });

/// Packets of high priority are deterministic and use a separate channel, whatever the escape channels are.
TEST(BglRoutes, OfHighPriority) {
  for (const char* escape : {"bubble", "dateline"}) {
    const Grid grid({4, 3, 2});
    BglTorus torus({4, 3, 2}, all_pairs(grid),
                   Settings("injection.priority_share=1.0 routing.dynamic=1.0 router.escape=", escape));
    torus.drain();
    for (const BglGrant& g : torus.grants()) {
      EXPECT_EQ(g.out_vc, torus.table().vcs - 1);
      EXPECT_EQ(g.hints & ((1u << g.out) - 1), 0u);
    }
  }
}

/// If the destination is half-way round a ring, a register of the node decides: always the same direction, opposite to
/// that of the neighbouring nodes.
TEST(BglTies, AreDecidedByTheNode) {
  const Grid grid({4, 6, 2});
  std::vector<BglLine> lines;
  for (u32 s = 0; s < 2 * grid.nodes; ++s) {
    Coordinates to = grid.at(s % grid.nodes);
    for (u32 d = 0; d < 3; ++d) to[d] = (to[d] + grid.shape[d] / 2) % grid.shape[d];
    lines.push_back({0, s % grid.nodes, grid.node(to), 1});
  }
  BglTorus torus({4, 6, 2}, lines);
  torus.drain();
  u32 counted = 0;
  for (const BglGrant& g : torus.grants()) {
    if (g.in != bgl::kReception) continue;
    const Coordinates from = grid.at(g.node);
    EXPECT_EQ(g.hints, (from[0] + from[1] + from[2]) % 2 ? 0b101010u : 0b010101u) << g.node;
    ++counted;
  }
  EXPECT_EQ(counted, lines.size());
}

/// The load of the busiest link under uniform traffic, found by following all pairs in dimension order, gives the bound
/// that flitlab prints.
TEST(BglTies, SetTheBoundOfTheLoad) {
  for (const IntList& shape : {IntList{8}, {7}, {6}, {2}, {10, 3}, {4, 4, 2}, {6, 6, 6}, {1, 5, 2}})
    for (const char* ties : {"registers", "random"}) {
      const Grid grid(shape);
      const Experiment e =
          experiment("router.kind=bgl topology.shape=", shape, " routing.ties=", ties, " traffic.self=false");
      const Network net(e);
      const bgl::Table& t = dynamic_cast<const BglPlan&>(*net.plan).table();
      std::map<std::pair<u32, u32>, double> load;  // load of a link, in packets per packet that each node sends
      const bool random = std::string(ties) == "random";
      for (u32 s = 0; s < grid.nodes; ++s)
        for (u32 to = 0; to < grid.nodes; ++to)
          for (u32 draw = 0; draw < 8; ++draw) {
            const u32 by = random ? draw : bgl::ties_by_registers(t, t.address[s]);
            Coordinates at = grid.at(s);
            for (u32 left = bgl::minimal_hints(t, t.address[s], t.address[to], by); left; left &= left - 1)
              for (const u32 d = lowest_bit(left); at[d / 2] != grid.at(to)[d / 2]; at = grid.step(at, d))
                load[{grid.node(at), d}] += 1.0 / 8 / (grid.nodes - 1);
          }
      double most = 0;
      for (const auto& [link, packets] : load) most = std::max(most, packets);
      EXPECT_NEAR(derived(e, "saturation_load_bound"), 4 / 142.0 / most, 1e-9)
          << grid.nodes << ties;  // a packet of 4 chunks takes 142 cycles
    }
}

/// If the destination is half-way round a ring, both directions are equally likely, independently for each dimension
/// and packet.
TEST(BglTies, AreSplitEvenlyPerPacket) {
  const Grid grid({4, 6, 2});
  const u32 each = 60;
  std::vector<BglLine> lines;
  for (u32 n = 0; n < each; ++n)
    for (u32 s = 0; s < grid.nodes; ++s) {
      Coordinates to = grid.at(s);
      for (u32 d = 0; d < 3; ++d) to[d] = (to[d] + grid.shape[d] / 2) % grid.shape[d];
      lines.push_back({0, s, grid.node(to), 1});
    }
  std::map<u32, u32> combinations;
  u32 minus_again = 0, packets = static_cast<u32>(lines.size());
  std::set<std::vector<u32>> sequences;
  for (u32 seed : {1u, 2u}) {
    BglTorus torus({4, 6, 2}, lines, Settings("routing.dynamic=1.0 routing.ties=random run.seed=", seed));
    torus.drain();
    std::vector<u32> hints(lines.size());
    for (const BglGrant& g : torus.grants())
      if (g.in == bgl::kReception) hints[g.id] = g.hints;
    for (u32 id = 0; id < packets; ++id) {
      ++combinations[hints[id]];
      if (id >= grid.nodes) minus_again += (hints[id] & 2) == (hints[id - grid.nodes] & 2);
    }
    sequences.insert(hints);
  }
  EXPECT_EQ(combinations.size(), 8u);
  for (const auto& [hints, count] : combinations) expect_share(count, 2 * packets, 1 / 8.0, "a combination");
  expect_share(minus_again, 2 * (packets - grid.nodes), 0.5, "the direction of the packet before");
  EXPECT_EQ(sequences.size(), 2u);
}

/// Given shares of the packets are dynamic or have high priority (these are deterministic). With two groups of
/// reception FIFOs, half of the packets are for each group. All three draws are independent.
TEST(BglTies, SoAreTheKindsOfPackets) {
  const Grid grid({4, 3, 2});
  std::vector<BglLine> lines;
  for (u32 n = 0; n < 60; ++n)
    for (u32 s = 0; s < grid.nodes; ++s) lines.push_back({0, s, (s + 1 + n % 23) % grid.nodes, 1});
  const u32 packets = static_cast<u32>(lines.size());
  BglTorus torus({4, 3, 2}, lines, Settings("routing.dynamic=0.25 injection.priority_share=0.4 reception.groups=2"));
  std::map<u32, u32> kinds;
  std::set<u32> seen;
  while (seen.size() < packets) {
    torus.run(20);
    for (const Packet& p : torus.field<Packet>(0, "injection_ring"))
      if (p.flits && seen.insert(p.id).second)
        ++kinds[bgl::route_of(p) & (bgl::kDynamic | bgl::kHighPriority | bgl::kSecondGroup)];
  }
  for (u32 group : {0u, u32{bgl::kSecondGroup}}) {
    expect_share(kinds[group | bgl::kHighPriority], packets, 0.5 * 0.4, "high priority");
    expect_share(kinds[group | bgl::kDynamic], packets, 0.5 * 0.6 * 0.25, "dynamic");
    expect_share(kinds[group], packets, 0.5 * 0.6 * 0.75, "deterministic");
  }
  EXPECT_EQ(kinds.size(), 6u);
}

}  // namespace
}  // namespace flitlab::bgl_route_test
