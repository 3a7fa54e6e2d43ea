/// Wiring and routing tables of the T3E, compared with the manual and with walks that the test makes itself.
#include <gtest/gtest.h>

#include "host/routers/t3e/numbers.hpp"
#include "host/routers/t3e/tables.hpp"
#include "host/routing/dependency.hpp"
#include "host/topology/metrics.hpp"

namespace flitlab::t3e::tables_test {
namespace {

/// Returns `options` with the PE numbers and links of a standard machine.
TableOptions with_numbers(const Shape& shape, TableOptions options) {
  options.lut_mode = shape.nodes() > kLutRegisters;
  options.logical = number_pes(shape, options.lut_mode, {}, "");
  options.broken.assign(shape.nodes(), 0);
  return options;
}

const std::vector<std::vector<u32>> kShapes{{2, 2, 1}, {2, 4, 2},  {4, 4, 3}, {8, 4, 4},
                                            {8, 8, 8}, {8, 12, 9}, {8, 32, 8}};

/// Every channel has a reverse channel, and the number of channels is that of the manual's machine shapes.
TEST(T3eTables, LinksJoinOppositePorts) {
  for (const auto& extents : kShapes) {
    const Shape shape(extents);
    const Topology t = make_topology(shape);
    u64 channels = 0;
    for (u32 n = 0; n < t.routers; ++n)
      for (u32 p = 0; p < kDirections; ++p) {
        const Peer& peer = t.peer(n, p);
        if (peer.item == kNone) continue;
        ++channels;
        EXPECT_EQ(peer.port, opposite(p));
        EXPECT_EQ(t.peer(peer.item, peer.port).item, n);
      }
    EXPECT_EQ(channels, t.channels);
    const u64 n = t.routers;
    EXPECT_EQ(channels, 2 * n + (extents[1] == 2 ? n : 2 * n) + (extents[2] == 1 ? 0 : 2 * n));
  }
}

/// The bisection is the narrowest of the three cuts through the middle of a dimension, counted in the wiring. 2 x 2 x 1
/// and 8 x 2 x 1 have single links in Y, 2 x 4 x 2 has two single links in X. Paper, section 11: 153.6 GB/s, 256
/// channels, from 8 x 8 x 8 on.
TEST(T3eTables, BisectionIsTheNarrowestCut) {
  std::vector<std::vector<u32>> shapes = kShapes;
  shapes.insert(shapes.end(), {{8, 2, 1}, {2, 2, 2}, {4, 2, 2}, {8, 16, 8}});
  for (const auto& extents : shapes) {
    const Topology t = make_topology(Shape(extents));
    u64 narrowest = kNone;
    for (u32 d = 0; d < 3; ++d) {
      if (extents[d] == 1) continue;
      u64 cut = 0;
      const auto side = [&](u32 n) { return ordinate(t.address[n], d) < extents[d] / 2; };
      for (u32 n = 0; n < t.routers; ++n)
        for (u32 p = 0; p < kDirections; ++p)
          if (const u32 to = t.peer(n, p).item; to != kNone) cut += side(n) != side(to);
      narrowest = std::min(narrowest, cut);
    }
    EXPECT_EQ(t.bisection_channels, narrowest) << extents[0] << " x " << extents[1] << " x " << extents[2];
    if (extents[0] * extents[2] == 64) {
      EXPECT_EQ(narrowest, 256u);
    }
  }
}

/// Manual, Table 13: register R_NET_LUT of node 000100 in a 2 x 4 x 2 machine, with logical numbers in Format 1 (Y1 Z0
/// Y0 X0).
TEST(T3eTables, TheManualsTable13) {
  const Shape shape({2, 4, 2});
  const Topology t = make_topology(shape);
  const Tables tables = make_tables(shape, with_numbers(shape, {.balanced = false}));
  const u32 here = 2;  // X 0, Y 1, Z 0
  ASSERT_EQ(t.address[here], 0x000100u);
  struct Row {
    u32 x, y;
    char y_direction;
    u32 z;
  };
  const Row rows[] = {{0, 0, '-', 0}, {1, 0, '-', 0}, {0, 1, '+', 0}, {1, 1, '+', 0}, {0, 0, '-', 1}, {1, 0, '-', 1},
                      {0, 1, '+', 1}, {1, 1, '+', 1}, {0, 2, '+', 0}, {1, 2, '+', 0}, {0, 3, '+', 0}, {1, 3, '+', 0},
                      {0, 2, '+', 1}, {1, 2, '+', 1}, {0, 3, '+', 1}, {1, 3, '+', 1}};
  for (const Row& r : rows) {
    const u32 node = r.x + 2 * (r.y + 4 * r.z);
    const Tag tag = tables.lut[here * tables.entries + tables.registers[node].lwho];
    EXPECT_EQ(tag_address(tag), pack_address(r.x, r.y, r.z));
    EXPECT_EQ(tag_signs(tag), r.y_direction == '-' ? 2u : 0u) << node;
    EXPECT_EQ(tag_initial(tag), kNoHop);
    EXPECT_EQ(tag_final(tag), 0u);
  }
}

/// Returns the routing tag of PE `to`, looked up as the router does.
Tag tag_of(const Tables& tables, u32 here, u32 to) {
  const u32 logical = tables.registers[to].lwho;
  if (tables.registers[here].lut_mode == 0) return tables.lut[here * tables.entries + logical];
  return (tables.lut[std::size_t{here} * tables.entries + logical / 4] & ~0x11u) | (logical & 1) |
         (logical >> 1 & 1) << 4;
}

/// Follows every route through the wiring in direction order. It is a shortest path, reaches its destination, and on
/// rings never passes the dateline on set 1. The channel dependencies have no cycle.
TEST(T3eTables, RoutesAreShortestAndFreeOfDeadlock) {
  for (const auto& extents : kShapes)
    for (const TableOptions& options : {TableOptions{}, TableOptions{.balanced = false},
                                        TableOptions{.optimised = false}, TableOptions{.full_select = true}}) {
      const Shape shape(extents);
      const Topology t = make_topology(shape);
      if (t.routers > 600 && (options.full_select || !options.balanced)) continue;
      const Tables tables = make_tables(shape, with_numbers(shape, options));
      DependencyGraph graph(t.routers * kDirections * 2);
      const u32 stride = t.routers > 600 ? 37 : 1;
      for (u32 s = 0; s < t.routers; s += stride) {
        const std::vector<u32> hops = hops_from(t, s);
        for (u32 d = 0; d < t.routers; ++d) {
          if (s == d) continue;
          const Tag tag = tag_of(tables, s, d);
          ASSERT_EQ(tag_address(tag), t.address[d]);
          u32 at = s, steps = 0, last = kNone, direction = kNone, vc = 0;
          while (at != d) {
            u32 next = kNone;
            for (u32 o = 0; o < kDirections && next == kNone; ++o) {
              const u32 dim = dimension_of(o);
              const bool minus = tag_signs(tag) >> dim & 1;
              if ((o >= 3) == minus && ordinate(t.address[at], dim) != ordinate(t.address[d], dim)) next = o;
            }
            const Registers& r = tables.registers[at];
            const bool dateline = r.vcsel[next] & kDateline;
            if (next == direction) {
              ASSERT_FALSE(dateline && vc) << "node " << at << ", " << s << " to " << d;
              vc |= dateline;
            } else {
              const u32 to = ordinate(t.address[d], dimension_of(next));
              vc = options.full_select ? tables.full_select[at * kDirections + next] >> to & 1
                                       : r.vcsel[next] >> (to & 7) & 1;
            }
            direction = next;
            const u32 channel = (at * kDirections + next) * 2 + vc;
            if (last != kNone) graph.add(last, channel);
            last = channel;
            at = t.peer(at, next).item;
            ASSERT_NE(at, kNone);
            ASSERT_LE(++steps, hops[d]);
          }
          ASSERT_EQ(steps, hops[d]);
        }
      }
      EXPECT_TRUE(graph.cycle().empty());
    }
}

/// The computed tables balance the two virtual channels (sets) as in the paper's Table 1, in both directions and both
/// modes of the routing tables. The test follows all routes of the ring through node 0 and counts them on every link.
TEST(T3eTables, RoutesBalanceAsPublished) {
  struct Ring {
    std::vector<u32> extents;
    u32 dim;
    double average, maximum;
  };
  const Ring rings[] = {{{4, 4, 4}, 1, 0, 0},        {{8, 8, 8}, 0, .031, .25},   {{8, 8, 8}, 2, .031, .25},
                        {{8, 16, 8}, 0, .031, .25},  {{8, 16, 8}, 2, .031, .25},  {{4, 16, 8}, 1, .137, .563},
                        {{8, 16, 8}, 1, .137, .563}, {{8, 32, 2}, 1, .220, .875}, {{8, 32, 8}, 1, .220, .875}};
  for (const Ring& ring : rings) {
    const Shape shape(ring.extents);
    const Topology t = make_topology(shape);
    const Tables tables = make_tables(shape, with_numbers(shape, {}));
    const u32 k = shape.radix(ring.dim);
    const auto node = [&](u32 at) {
      const u32 stride[] = {1, shape.radix(0), shape.radix(0) * shape.radix(1)};
      return at * stride[ring.dim];
    };
    std::vector<int> difference[2] = {std::vector<int>(k), std::vector<int>(k)},
                     routes[2] = {difference[0], difference[0]};
    for (u32 s = 0; s < k; ++s)
      for (u32 d = 0; d < k; ++d) {
        if (s == d) continue;
        const u32 minus = tag_signs(tag_of(tables, node(s), node(d))) >> ring.dim & 1, port = ring.dim + 3 * minus;
        u32 vc = 0;
        for (u32 at = s; at != d; at = (at + (minus ? k - 1 : 1)) % k) {
          const u16 select = tables.registers[node(at)].vcsel[port];
          vc = at == s ? select >> (d & 7) & 1 : vc | !!(select & kDateline);
          ++routes[minus][at];
          difference[minus][at] += vc ? -1 : 1;
        }
      }
    for (u32 minus : {0, 1}) {
      const double most = *std::max_element(routes[minus].begin(), routes[minus].end());
      double average = 0, maximum = 0;
      for (int d : difference[minus]) {
        average += std::abs(d) / most / k;
        maximum = std::max(maximum, std::abs(d) / most);
      }
      EXPECT_LE(average, ring.average + 0.0005) << "ring of " << k << " in " << t.routers << " nodes";
      EXPECT_LE(maximum, ring.maximum + 0.0005) << "ring of " << k << " in " << t.routers << " nodes";
    }
  }
}

}  // namespace
}  // namespace flitlab::t3e::tables_test
