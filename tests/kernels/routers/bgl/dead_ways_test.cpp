/// Routes round dead nodes in Blue Gene/L's torus: all pairs are connected and no cyclic wait is possible. The test
/// follows routes step by step on coordinates; from the code under test it uses only the chosen hint bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "host/routers/bgl/plan.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/hints.hpp"
#include "tests/support/bgl/dead.hpp"
#include "tests/support/build.hpp"
#include "tests/support/grid.hpp"

namespace flitlab::bgl_dead_ways_test {
namespace {

using namespace testing;
using testing::bgl_dead::Draw;
using testing::bgl_dead::machine;
using testing::bgl_dead::Nodes;

/// Follows packets along all routes that they may take. Records which hint bits can be at the head of each channel.
class Walker {
 public:
  Walker(const IntList& shape, const Nodes& dead) : grid_(shape), dims_(static_cast<u32>(shape.size())) {
    dead_.assign(grid_.nodes, false);
    for (u32 n : dead) dead_[n] = true;
    for (u32 n = 0; n < grid_.nodes; ++n) {
      coordinates_.push_back(grid_.at(n));
      for (u32 d = 0; d < 6; ++d) next_.push_back(d < 2 * dims_ ? grid_.node(grid_.step(coordinates_[n], d)) : n);
    }
    seen_.assign(grid_.nodes, 0);
    dynamic_.assign(grid_.nodes * 6, 0);
    escape_[0] = escape_[1] = dynamic_;
  }

  const Grid& grid() const { return grid_; }
  bool lives(u32 node) const { return !dead_[node]; }

  /// Returns a description of what can go wrong with a packet, "" if it always arrives.
  std::string walk(u32 from, u32 to, u32 route) {
    const u32 hints = route & bgl::kHints;
    const bool dynamic = route & bgl::kDynamic;
    if (dynamic && route & bgl::kHighPriority) return "a packet of high priority is dynamic";
    for (u32 d = 0; d < 3; ++d) {
      const u32 bits = hints >> 2 * d & 3;
      if (d < dims_ && coordinates_[from][d] != coordinates_[to][d] ? bits != 1 && bits != 2 : bits != 0)
        return "wrong hint bits";
    }
    bool arrives = false;
    Nodes queue{from};
    seen_[from] = ++walks_;
    while (!queue.empty()) {
      const u32 at = queue.back(), left = still(at, to, hints), first = left & (~left + 1);
      queue.pop_back();
      if (!left) {
        if (at != to) return "it stops at " + std::to_string(at);
        arrives = true;
        continue;
      }
      bool moves = false;
      for (u32 d = 0; d < 6; ++d) {
        const u32 next = next_[6 * at + d];
        if (!((dynamic ? left : first) >> d & 1) || dead_[next]) continue;
        moves = true;
        const u64 state = u64{1} << still(next, to, hints);
        if (dynamic) dynamic_[6 * next + d] |= state;
        if (first >> d & 1) escape_[!dynamic][6 * next + d] |= state;
        if (seen_[next] == walks_) continue;
        seen_[next] = walks_;
        queue.push_back(next);
      }
      if (!moves) return "it cannot leave " + std::to_string(at);
    }
    return arrives ? "" : "it does not arrive";
  }

  /// Returns whether cyclic waits are impossible. A channel can drain if every head in it has arrived or can enter a
  /// channel that can drain; this rule must reach all channels. The escape channels of a line in one direction count as
  /// one channel, because the bubble rule keeps packets moving that continue along the line.
  bool drains() const {
    std::vector<bool> dynamic(grid_.nodes * 6), line(grid_.nodes * 6);
    const auto line_of = [&](u32 node, u32 d) {
      Coordinates coordinates = coordinates_[node];
      coordinates[d / 2] = 0;
      return 6 * grid_.node(coordinates) + d;
    };
    const auto can_leave = [&](u32 at, u32 hints, bool is_dynamic) {
      const u32 first = lowest_bit(hints);
      if (!dead_[next_[6 * at + first]] && line[line_of(at, first)]) return true;
      bool can = false;
      for (u32 d = 0; is_dynamic && d < 6; ++d) {
        const u32 next = next_[6 * at + d];
        can |= hints >> d & 1 && !dead_[next] && dynamic[6 * next + d];
      }
      return can;
    };
    u32 left = 0;
    for (bool more = true; more;) {
      more = false;
      left = 0;
      std::vector<bool> blocked(line.size());
      for (u32 c = 0; c < grid_.nodes * 2 * dims_; ++c) {
        const u32 node = c / (2 * dims_), d = c % (2 * dims_), channel = 6 * node + d;
        bool all = true;
        for (u64 set = dynamic_[channel] & ~u64{1}; set; set &= set - 1) all &= can_leave(node, lowest_bit(set), true);
        if (all && !dynamic[channel]) dynamic[channel] = more = true;
        left += !all;
        for (bool ordered : {false, true})
          for (u64 set = escape_[ordered][channel] & ~u64{1}; set; set &= set - 1) {
            const u32 hints = lowest_bit(set);
            const bool goes_on = u32{lowest_bit(hints)} == d && !dead_[next_[channel]];
            if (!goes_on && !can_leave(node, hints, !ordered)) blocked[line_of(node, d)] = true;
          }
      }
      for (u32 c = 0; c < line.size(); ++c) {
        left += blocked[c];
        if (!blocked[c] && !line[c]) line[c] = more = true;
      }
    }
    return !left;
  }

 private:
  u32 still(u32 at, u32 to, u32 hints) const {
    for (u32 d = 0; d < dims_; ++d)
      if (coordinates_[at][d] == coordinates_[to][d]) hints &= ~(3u << 2 * d);
    return hints;
  }

  Grid grid_;
  u32 dims_, walks_ = 0;
  std::vector<Coordinates> coordinates_;
  std::vector<bool> dead_;
  Nodes next_, seen_;
  std::vector<u64> dynamic_, escape_[2];  ///< sets of hint bits at the heads; [1]: deterministic packets
};

struct Ways {
  u32 pairs = 0, ordered = 0, round_dead = 0;
  bool drains = true;
  std::vector<std::string> warnings;
};

/// Follows packets of all kinds between all pairs of live nodes.
Ways follow_all(const IntList& shape, const Nodes& dead, Draw& draw) {
  const auto plan = make_plan(experiment(machine(shape, dead)));
  const bgl::Table& t = dynamic_cast<const BglPlan&>(*plan).table();
  Walker walker(shape, dead);
  Ways ways;
  ways.warnings = plan->facts().warnings;
  for (u32 s = 0; s < walker.grid().nodes; ++s)
    for (u32 d = 0; d < walker.grid().nodes; ++d) {
      if (s == d || !walker.lives(s) || !walker.lives(d)) continue;
      ++ways.pairs;
      const u32 a = t.address[s], b = t.address[d];
      for (u32 kind : {u32{bgl::kDynamic}, u32{bgl::kDynamic}, 0u, u32{bgl::kHighPriority}}) {
        const u32 route = bgl::software_route(t, a, b, bgl::minimal_hints(t, a, b, draw() & 7) | kind, draw());
        const std::string wrong = walker.walk(s, d, route);
        EXPECT_EQ(wrong, "") << s << " to " << d << ", dead " << ::testing::PrintToString(dead);
        if (!wrong.empty()) return ways;
        ways.ordered += kind == bgl::kDynamic && !(route & bgl::kDynamic);
        ways.round_dead += kind != bgl::kDynamic && route & bgl::kDynamic;
      }
    }
  ways.drains = walker.drains();
  return ways;
}

/// Test of the walker itself. Of all hint bits from one corner of a plane to another it must reject the bits that
/// lead through the dead node or into a position from which every permitted hop leads to the dead node.
TEST(BglDead, TheWalkerSeesTrapsAndDeadNodes) {
  Walker walker({5, 5}, {6});                                                   // (1,1)
  EXPECT_EQ(walker.walk(0, 12, 0b000101 | bgl::kDynamic), "");                  // (0,0) to (2,2), round the dead node
  EXPECT_EQ(walker.walk(0, 12, 0b000101), "");                                  // through (2,0) to (2,2)
  EXPECT_EQ(walker.walk(5, 11, 0b000101), "it cannot leave 5");                 // from (0,1) to (1,2), x first
  EXPECT_EQ(walker.walk(5, 11, 0b000101 | bgl::kDynamic), "");                  // through (0,2)
  EXPECT_EQ(walker.walk(0, 7, 0b000101 | bgl::kDynamic), "it cannot leave 5");  // (0,0) to (2,1); stuck at (0,1)
  EXPECT_EQ(walker.walk(0, 7, 0b000001 | bgl::kDynamic), "wrong hint bits");
  Walker narrow({4, 4}, {0, 5});
  EXPECT_EQ(narrow.walk(1, 4, 0b000110 | bgl::kDynamic), "it cannot leave 1");  // (1,0) to (0,1): both hops dead
}

/// With up to three dead nodes, no two of them on one line, every node reaches every other one whatever channels
/// dynamic packets choose, and no cyclic wait is possible.
TEST(BglDead, UpToThreeLeaveAllConnected) {
  Draw draw(1);
  u32 round = 0, ordered = 0;
  const auto expect_sound = [&](const IntList& shape, const Nodes& dead) {
    const Ways ways = follow_all(shape, dead, draw);
    const u32 live = Grid(shape).nodes - static_cast<u32>(dead.size());
    EXPECT_EQ(ways.pairs, live * (live - 1));
    EXPECT_TRUE(ways.warnings.empty()) << ::testing::PrintToString(dead) << ways.warnings.front();
    EXPECT_TRUE(ways.drains) << ::testing::PrintToString(dead);
    round += ways.round_dead, ordered += ways.ordered;
    return !::testing::Test::HasFailure();
  };
  const Grid cube({4, 4, 4}), square({5, 5});
  for (u32 n = 1; n < cube.nodes; ++n)
    if (!Draw::in_line(cube, 21, (21 + n) % 64) && !expect_sound({4, 4, 4}, {21, (21 + n) % 64})) return;
  for (u32 b = 0; b < 25; ++b)
    for (u32 c = 0; c < b; ++c)
      if (!Draw::in_line(square, 7, b) && !Draw::in_line(square, 7, c) && !Draw::in_line(square, b, c) &&
          !expect_sound({5, 5}, {7, b, c}))
        return;
  for (const IntList& shape : {IntList{4, 4, 4}, {3, 4, 5}, {5, 4, 6}, {2, 4, 4}, {6, 7}, {4, 1, 5}})
    for (u32 i = 0; i < 8; ++i)
      for (u32 count = 1; count <= 3; ++count)
        if (!expect_sound(shape, draw.dead(Grid(shape), count))) return;
  EXPECT_TRUE(expect_sound({8, 8, 8}, draw.dead(Grid({8, 8, 8}), 3)));
  EXPECT_GT(round, 1000u);
  EXPECT_GT(ordered, 1000u);
}

/// If every layer of a dimension has a dead node, no layer without a dead node is left for the detours that flitlab
/// prefers, and it warns. Every node still reaches every other one.
TEST(BglDead, WarnsIfEveryLayerHasADeadNode) {
  Draw draw(2);
  const Ways ways = follow_all({3, 3, 3}, {0, 13, 26}, draw);
  ASSERT_EQ(ways.warnings.size(), 1u);
  EXPECT_NE(ways.warnings[0].find("may deadlock"), std::string::npos);
  EXPECT_FALSE(ways.drains);
}

/// Returns whether some hint bits lead all packets of a pair to their destination.
bool is_connected(Walker& walker, u32 from, u32 to) {
  for (u32 hints = 1; hints < 64; ++hints)
    for (u32 kind : {0u, u32{bgl::kDynamic}})
      if (walker.walk(from, to, hints | kind).empty()) return true;
  return false;
}

/// flitlab accepts more than three dead nodes if all pairs are still connected, with warnings that must be true.
/// Otherwise its error names a pair, which must be unconnected.
TEST(BglDead, MoreThanThreeAreAcceptedIfConnected) {
  Draw draw(3);
  u32 taken = 0, refused = 0, cut_off = 0;
  for (u32 i = 0; i < 120; ++i) {
    const IntList shape = i % 2 ? IntList{7, 7} : IntList{4, 4, 3};
    Nodes dead = draw.dead(Grid(shape), i % 2 ? 4 + i / 2 % 3 : 3);
    const u32 beside = (dead[0] + 1) % 48;  // this node is mostly on a line with another dead node
    if (i % 2 == 0 && !std::count(dead.begin(), dead.end(), beside)) dead.push_back(beside);
    try {
      const Ways ways = follow_all(shape, dead, draw);
      EXPECT_TRUE(ways.drains || !ways.warnings.empty()) << ::testing::PrintToString(dead);
      ++taken;
    } catch (const ConfigError& e) {
      u32 from = 0, to = 0;
      ASSERT_EQ(std::sscanf(e.what(), "faults.nodes: no hint bits lead from node %u %*s to node %u", &from, &to), 2);
      Walker walker(shape, dead);
      cut_off += !is_connected(walker, from, to);
      ++refused;
    }
  }
  EXPECT_GT(taken, 20u);
  EXPECT_GT(refused, 5u);
  EXPECT_EQ(cut_off, refused);
}

/// Four dead nodes never disconnect a plane, but five can: packets from (0,3) to (4,6), with dead nodes on the last
/// lines or at the corner, fail in all directions.
TEST(BglDead, FiveCanCutAPairOff) {
  Draw draw(4);
  for (u32 i = 0; i < 40; ++i) follow_all({6, 6}, draw.dead(Grid({6, 6}), 4), draw);
  const auto at = [](u32 x, u32 y) { return x + 7 * y; };
  EXPECT_THROW(make_plan(experiment(machine({7, 7}, {0, at(1, 1), at(4, 3), at(3, 4), at(5, 6)}))), ConfigError);
}

}  // namespace
}  // namespace flitlab::bgl_dead_ways_test
