/// Ranks of channels: numbers of classes derived by hand, and an independent search along routes.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/routing/ranks.hpp"
#include "host/topology/families.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/bits.hpp"
#include "tests/support/topology.hpp"

namespace flitlab::routing_ranks_test {
namespace {

using namespace testing;

struct Numbers {
  u32 minimal, over_router, over_group;
};

/// Returns the classes of shortest routes, and of routes over intermediate routers and groups.
Numbers classes(const Links& links) {
  const Topology t = make_network(links, "test");
  const Ranks ranks = t.rank.empty() ? tree_ranks(t) : t.rank;
  const RouteTable table = shortest_table(t, ranks, shortest_ports(t));
  const auto ports = [&](u32 r, u32 d) { return ports_toward(t, table, r, d); };
  return {classes_of_routes(t, ranks, ports), classes_via(t, ranks, table, false),
          t.group.empty() ? 0 : classes_via(t, ranks, table, true)};
}

void expect(const Links& links, Numbers n) {
  const Numbers found = classes(links);
  EXPECT_EQ(found.minimal, n.minimal) << links.kind;
  EXPECT_EQ(found.over_router, n.over_router) << links.kind;
  EXPECT_EQ(found.over_group, n.over_group) << links.kind;
}

/// Numbers of classes that the papers give, or that follow from the number of hops.
TEST(Ranks, NeedTheClassesOfThePapers) {
  // Kim et al., ISCA 2008, section 4.1: two virtual channels for minimal routes, three for Valiant's by groups. A
  // route l g l | l g l over a router changes before both l after a g, and at the middle.
  expect(dragonfly({9, 4, 2, Arrangement::kAbsolute}), {2, 4, 3});
  // Besta & Hoefler, SC 2014, section IV.D: one virtual channel per hop, so two and four.
  expect(slim_fly(5), {2, 4, 0});
  expect(polarfly(4), {2, 4, 0});
  expect(full_mesh(5), {1, 2, 0});
  expect(hyperx({3, 3, 3}, 1), {1, 2, 0});  // dimension order; the second part begins again
  expect(fat_tree({2, 2}, {2, 2}), {1, 2, 0});
  // Up, global, down needs one class; a second global channel needs another.
  expect(megafly({5, 2, 2, Arrangement::kRelative}), {1, 2, 2});
}

/// Follows every route and counts where the rank does not rise.
u32 changes_along(const Topology& t, const Ranks& ranks, const RouteTable& table, u32 from, u32 to, u32 hops) {
  u32 changes = 0, last = kNone, r = from, count = 0;
  for (; r != to; ++count) {
    const u32 port = lowest_bit(ports_toward(t, table, r, to)), rank = ranks[r * t.network_ports + port];
    changes += last != kNone && rank <= last;
    last = rank;
    r = t.peer(r, port).item;
  }
  EXPECT_EQ(count, hops);
  return changes;
}

TEST(Ranks, OfATreeNeedOneClassForUpDownRoutes) {
  for (u32 seed = 0; seed < 8; ++seed) {
    const Topology t = make_network(jellyfish(24, 3, seed), "test");
    const Ranks ranks = tree_ranks(t);
    const RouteTable up_down = up_down_table(t), shortest = shortest_table(t, ranks, shortest_ports(t));
    const std::vector<u8> hops = hops_of(t, up_down), least = hops_of(t, shortest);
    u32 most = 0;
    for (u32 from = 0; from < t.routers; ++from)
      for (u32 to = 0; to < t.routers; ++to) {
        EXPECT_EQ(changes_along(t, ranks, up_down, from, to, hops[from * t.routers + to]), 0u);
        most = std::max(most, changes_along(t, ranks, shortest, from, to, least[from * t.routers + to]));
        EXPECT_EQ(least[from * t.routers + to], hops_from(t, to)[from]);
        EXPECT_GE(hops[from * t.routers + to], least[from * t.routers + to]);
      }
    const auto ports = [&](u32 r, u32 d) { return ports_toward(t, shortest, r, d); };
    EXPECT_EQ(classes_of_routes(t, ranks, ports), most + 1);
    EXPECT_LE(most, distance_metrics(t).diameter / 2);  // a change needs a hop down before it and a hop up after it
  }
}

/// From a router with a route that only goes down, up*/down* routes take one, wherever they came from.
TEST(Ranks, UpDownRoutesDoNotDependOnTheSource) {
  const Topology t = make_network(jellyfish(20, 3, 3), "test");
  const Ranks ranks = tree_ranks(t);
  const RouteTable table = up_down_table(t);
  for (u32 to = 0; to < t.routers; ++to)
    for (u32 r = 0; r < t.routers; ++r)
      for (u32 p = 0; p < t.network_ports; ++p) {
        const u32 next = t.peer(r, p).item;
        if (next == kNone || next == to || ranks[r * t.network_ports + p] < t.routers) continue;
        if (lowest_bit(ports_toward(t, table, r, to)) != p || r == to) continue;
        const u32 then = lowest_bit(ports_toward(t, table, next, to));
        EXPECT_GE(ranks[next * t.network_ports + then], t.routers) << "down, then up";
      }
}

/// Shortest routes of a dragonfly have one channel between groups, even where two such channels would be fewer hops.
TEST(ShortestPorts, UseFewChannelsBetweenGroups) {
  const Topology t = make_network(dragonfly({9, 4, 2, Arrangement::kPalmTree}), "test");
  const RouteTable table = shortest_table(t, t.rank, shortest_ports(t));
  u32 longest = 0;
  for (u32 from = 0; from < t.routers; ++from)
    for (u32 to = 0; to < t.routers; ++to) {
      u32 between = 0, hops = 0;
      for (u32 r = from; r != to; ++hops) {
        const u32 next = t.peer(r, lowest_bit(ports_toward(t, table, r, to))).item;
        between += t.group[r] != t.group[next];
        r = next;
      }
      EXPECT_EQ(between, t.group[from] == t.group[to] ? 0u : 1u);
      longest = std::max(longest, hops);
    }
  EXPECT_EQ(longest, 3u);
}

}  // namespace
}  // namespace flitlab::routing_ranks_test
