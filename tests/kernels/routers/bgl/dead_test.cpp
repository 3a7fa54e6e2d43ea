/// Dead nodes in Blue Gene/L's torus, and hint bits that software sets. Ways are followed step by step on coordinates,
/// without the code under test but for the hint bits that it chose.
#include <gtest/gtest.h>

#include <random>

#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/hints.hpp"
#include "tests/support/bgl/bgl.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/grid.hpp"

namespace flitlab::bgl_dead_test {
namespace {

using testing::BglGrant;
using testing::BglTorus;
using testing::expect_share;
using testing::experiment;
using testing::Grid;
using testing::integer;
using testing::kMinusX;
using testing::kMinusY;
using testing::kPlusX;
using testing::kPlusY;
using testing::Network;
using testing::Place;
using testing::TextFile;
using testing::word;

using Nodes = std::vector<u32>;

IntList listed(const Nodes& nodes) { return {nodes.begin(), nodes.end()}; }

RawConfig machine(const IntList& shape, const Nodes& dead, RawConfig changes = {}) {
  changes.insert({{"router.kind", word("bgl")}, {"topology.shape", shape}, {"faults.nodes", listed(dead)}});
  return changes;
}

/// Dead nodes of which no two are on a line along a dimension.
class Draw {
 public:
  explicit Draw(u64 seed) : engine_(seed) {}
  u32 operator()() { return static_cast<u32>(engine_()); }
  Nodes dead(const Grid& grid, u32 count) {
    Nodes nodes;
    for (u32 tries = 0; nodes.size() < count && tries < 1000; ++tries) {
      const u32 node = (*this)() % grid.nodes;
      bool alone = true;
      for (u32 other : nodes) alone = alone && !in_line(grid, node, other);
      if (alone) nodes.push_back(node);
    }
    return nodes.size() == count ? nodes : dead(grid, count);
  }
  static bool in_line(const Grid& grid, u32 a, u32 b) {
    const Place p = grid.at(a), q = grid.at(b);
    u32 differ = 0;
    for (u32 d = 0; d < p.size(); ++d) differ += p[d] != q[d];
    return differ < 2;
  }

 private:
  std::mt19937_64 engine_;
};

/// Follows packets wherever they may go, and notes what can be at the head of each channel.
class Walker {
 public:
  Walker(const IntList& shape, const Nodes& dead) : grid_(shape), dims_(static_cast<u32>(shape.size())) {
    dead_.assign(grid_.nodes, false);
    for (u32 n : dead) dead_[n] = true;
    for (u32 n = 0; n < grid_.nodes; ++n) {
      place_.push_back(grid_.at(n));
      for (u32 d = 0; d < 6; ++d) next_.push_back(d < 2 * dims_ ? grid_.node(grid_.step(place_[n], d)) : n);
    }
    seen_.assign(grid_.nodes, 0);
    dynamic_.assign(grid_.nodes * 6, 0);
    escape_[0] = escape_[1] = dynamic_;
  }

  const Grid& grid() const { return grid_; }
  bool lives(u32 node) const { return !dead_[node]; }

  /// What can go wrong with a packet; "" if it always arrives.
  std::string walk(u32 from, u32 to, u32 route) {
    const u32 hints = route & bgl::kHints;
    const bool dynamic = route & bgl::kDynamic;
    if (dynamic && route & bgl::kHighPriority) return "a packet of high priority is dynamic";
    for (u32 d = 0; d < 3; ++d) {
      const u32 bits = hints >> 2 * d & 3;
      if (d < dims_ && place_[from][d] != place_[to][d] ? bits != 1 && bits != 2 : bits != 0) return "wrong hint bits";
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

  /// Whether nobody can wait in a circle: from channels whose heads have all arrived back to those whose every head can
  /// enter one of those, all channels are reached. The escape channels of a line in a direction are taken as one:
  /// within it the bubble rule keeps packets moving that go on along the line.
  bool drains() const {
    std::vector<bool> dynamic(grid_.nodes * 6), line(grid_.nodes * 6);
    const auto line_of = [&](u32 node, u32 d) {
      Place place = place_[node];
      place[d / 2] = 0;
      return 6 * grid_.node(place) + d;
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
      if (place_[at][d] == place_[to][d]) hints &= ~(3u << 2 * d);
    return hints;
  }

  Grid grid_;
  u32 dims_, walks_ = 0;
  std::vector<Place> place_;
  std::vector<bool> dead_;
  Nodes next_, seen_;
  std::vector<u64> dynamic_, escape_[2];  ///< hint bits of heads, as sets; ordered packets have escapes of their own
};

struct Ways {
  u32 pairs = 0, ordered = 0, round_dead = 0;
  bool drains = true;
  std::vector<std::string> warnings;
};

/// Follows packets of all kinds between all live pairs.
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

/// The walker itself sees what is wrong: of all hint bits from one corner of a plane to another, those through the dead
/// node, and those that end next to it.
TEST(BglDead, TheWalkerSeesTrapsAndDeadNodes) {
  Walker walker({5, 5}, {6});                                                   // (1,1)
  EXPECT_EQ(walker.walk(0, 12, 0b000101 | bgl::kDynamic), "");                  // (0,0) to (2,2): round it
  EXPECT_EQ(walker.walk(0, 12, 0b000101), "");                                  // (2,0), (2,2)
  EXPECT_EQ(walker.walk(5, 11, 0b000101), "it cannot leave 5");                 // (0,1) to (1,2), in order
  EXPECT_EQ(walker.walk(5, 11, 0b000101 | bgl::kDynamic), "");                  // by (0,2)
  EXPECT_EQ(walker.walk(0, 7, 0b000101 | bgl::kDynamic), "it cannot leave 5");  // (0,0) to (2,1), by (0,1)
  EXPECT_EQ(walker.walk(0, 7, 0b000001 | bgl::kDynamic), "wrong hint bits");
  Walker narrow({4, 4}, {0, 5});
  EXPECT_EQ(narrow.walk(1, 4, 0b000110 | bgl::kDynamic), "it cannot leave 1");  // (1,0) to (0,1): both are dead
}

/// Wherever up to three nodes are dead, no two of them on a line: everybody reaches everybody, whatever dynamic packets
/// choose, and nobody waits in a circle.
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

/// Where every layer of a dimension has a dead node there is no layer to wait for, and that is said; still everybody
/// reaches everybody.
TEST(BglDead, WithoutALayerThatIsWholeAWarningIsGiven) {
  Draw draw(2);
  const Ways ways = follow_all({3, 3, 3}, {0, 13, 26}, draw);
  ASSERT_EQ(ways.warnings.size(), 1u);
  EXPECT_NE(ways.warnings[0].find("may wait for one another in a circle"), std::string::npos);
  EXPECT_FALSE(ways.drains);
}

/// Whether some hint bits lead all packets of a pair there.
bool is_connected(Walker& walker, u32 from, u32 to) {
  for (u32 hints = 1; hints < 64; ++hints)
    for (u32 kind : {0u, u32{bgl::kDynamic}})
      if (walker.walk(from, to, hints | kind).empty()) return true;
  return false;
}

/// More dead nodes are taken if all pairs are still connected, and what is said about them holds; else the pair that is
/// named is not connected, but for traps that cannot be reached.
TEST(BglDead, MoreThanThreeAreTakenOrRefused) {
  Draw draw(3);
  u32 taken = 0, refused = 0, cut_off = 0;
  for (u32 i = 0; i < 120; ++i) {
    const IntList shape = i % 2 ? IntList{7, 7} : IntList{4, 4, 3};
    Nodes dead = draw.dead(Grid(shape), i % 2 ? 4 + i / 2 % 3 : 3);
    const u32 beside = (dead[0] + 1) % 48;  // mostly on a line with another one
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

/// Four are no obstacle in a plane; five can be: from (0,3) to (4,6) with dead nodes on the last lines or at the
/// corner, whatever the directions.
TEST(BglDead, FiveCanCutAPairOff) {
  Draw draw(4);
  for (u32 i = 0; i < 40; ++i) follow_all({6, 6}, draw.dead(Grid({6, 6}), 4), draw);
  const auto at = [](u32 x, u32 y) { return x + 7 * y; };
  EXPECT_THROW(make_plan(experiment(machine({7, 7}, {0, at(1, 1), at(4, 3), at(3, 4), at(5, 6)}))), ConfigError);
}

std::string error_of(const RawConfig& config) {
  try {
    make_plan(experiment(config));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "none";
}

/// Two on a line cut nodes between them off from others of the line; next to each other they do not.
TEST(BglDead, TwoOnALineAreRefusedByName) {
  EXPECT_EQ(error_of(machine({8, 1, 1}, {1, 7})),
            "faults.nodes: no hint bits lead from node 0 (0,0,0) to node 2 (2,0,0); in the way: 1 (1,0,0), 7 (7,0,0). "
            "Take other nodes: up to three are no obstacle if no two of them are on a line along a dimension.");
  EXPECT_NE(error_of(machine({32, 32, 32}, {0, 5 * 1024})).find("in the way: 0 (0,0,0), 5120 (0,0,5)"),
            std::string::npos);
  EXPECT_EQ(error_of(machine({8, 8, 8}, {1, 2})), "none");
  EXPECT_EQ(error_of(machine({4, 4}, {5}, {{"router.dynamic_vcs", integer(0)}})),
            "faults.nodes: no hint bits lead from node 6 (2,1) to node 9 (1,2); in the way: 5 (1,1). Set "
            "router.dynamic_vcs to 1 or more, since only dynamic packets get round them.");
}

TEST(BglDead, BadInputIsRefused) {
  const RawConfig fill{{"traffic.mode", word("broadcast")}, {"broadcast.root", integer(5)}};
  RawConfig plane = fill;
  plane["broadcast.dimensions"] = IntList{0, 1};
  const struct {
    RawConfig config;
    const char* says;
  } cases[] = {
      {machine({4, 4}, {16}), "faults.nodes contains 16: nodes are numbered 0 to 15."},
      {machine({4, 4}, {3, 3}), "faults.nodes contains 3 twice"},
      {machine({3}, {0, 1}), "faults.nodes = [0, 1] leaves 1 of 3 nodes: at least two have to live."},
      {machine({8, 8}, {0, 1, 2, 3, 4, 5, 6, 8, 9}), "faults.nodes names 9 nodes; at most 8 can be dead."},
      {machine({4, 4}, {3}, {{"router.escape_order", word("direction")}}),
       "set router.escape_order = \"direction\" to"},
      {machine({4, 4}, {5}, fill), "broadcast.root = 5 is dead (faults.nodes). Choose a live node."},
      {machine({4, 4}, {7}, fill), "node 7 is among those to be reached, and it is dead"},
      {machine({4, 4}, {8}, plane), "node 8 is among those to be reached, and it is dead"},
      {machine({4, 4}, {5}, {{"traffic.pattern", word("hot_spot")}, {"traffic.hot_terminals", IntList{5}}}),
       "traffic.hot_terminals: terminal 5 takes no part"},
  };
  for (const auto& c : cases) EXPECT_NE(error_of(c.config).find(c.says), std::string::npos) << error_of(c.config);
  EXPECT_EQ(error_of(machine({4, 4}, {8}, fill)), "none");
  for (const char* line : {"0,5,1,1\n", "0,1,5,1\n"}) {
    const TextFile trace(line);
    Network net(
        experiment(machine({4, 4}, {5}, {{"traffic.mode", word("trace")}, {"traffic.trace_file", trace.path}})));
    try {
      net.step(1);
      FAIL();
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("terminal 5 is at a dead node"), std::string::npos) << e.what();
    }
  }
}

/// In a ring the other way round: three cycles to the first request, 21 for each of 6 hops, 256 for the packet, one to
/// be taken.
TEST(BglDead, ADetourTakesItsHops) {
  BglTorus ring({8}, {{0, 0, 2, 8}}, {{"faults.nodes", IntList{1}}});
  ring.drain();
  ASSERT_EQ(ring.way(0).size(), 6u);
  for (const BglGrant& hop : ring.way(0)) EXPECT_EQ(hop.out, kMinusX);
  EXPECT_EQ(ring.delivered(0), 3 + 6 * 21 + 256 + 1u);
}

/// With a dead corner a packet is dynamic though others are not, and goes the other way round the square, which costs
/// nothing. From further off its first hop may be in either dimension, but the dead node is never entered.
TEST(BglDead, ACornerIsAvoidedDynamically) {
  BglTorus plane({6, 6}, {{0, 0, 7, 8}, {0, 13, 7, 8}, {1000, 5, 7, 1}, {1000, 5, 7, 1, bgl::kHighPriority}},
                 {{"faults.nodes", IntList{1}}});
  plane.run(999);
  ASSERT_EQ(plane.way(0).size(), 2u);
  EXPECT_EQ(plane.way(0)[0].out, kPlusY);
  EXPECT_LT(plane.way(0)[0].out_vc, 2u);
  EXPECT_EQ(plane.way(0)[1].out, kPlusX);
  EXPECT_EQ(plane.delivered(0), 3 + 2 * 21 + 256 + 1u);
  EXPECT_EQ(plane.way(1)[0].out_vc, 2u);  // a pair without dead nodes stays deterministic
}

/// Hint bits of pairs without a dead node between them are those of the hardware; among equally good ones that software
/// finds, each is as likely.
TEST(BglDead, TiesAreStillSplitEvenly) {
  const u32 each = 1000;
  std::vector<testing::BglLine> lines;
  for (u32 n = 0; n < each; ++n) lines.push_back({40 * n, 0, 10, 1}), lines.push_back({40 * n, 1, 11, 1});
  BglTorus plane({4, 4}, lines, {{"faults.nodes", IntList{5}}, {"routing.dynamic", 1.0}});
  plane.drain();
  std::map<u32, u32> of_blocked, of_free;
  for (const BglGrant& g : plane.grants())
    if (g.in == bgl::kReception) ++(plane.line(g.id).src ? of_free : of_blocked)[g.hints];
  // (0,0) to (2,2): not by (1,1). (1,0) to (3,2): two of four boxes hold it, for the others it is on no line.
  EXPECT_EQ(of_blocked.size(), 3u);
  EXPECT_FALSE(of_blocked.count(1u << kPlusX | 1u << kPlusY));
  for (const auto& [hints, count] : of_blocked) expect_share(count, each, 1 / 3.0, "a set of hint bits");
  EXPECT_EQ(of_free.size(), 2u);
  for (const auto& [hints, count] : of_free) {
    EXPECT_TRUE(hints >> kMinusY & 1);
    expect_share(count, each, 1 / 2.0, "a set of hint bits");
  }
}

/// What the configuration says is done: written as in a packet, x+ first.
TEST(BglHintsGiven, AreUsedForTheirPairsOnly) {
  const IntList hints{0, 5, 0b011000, 5, 0, 0b100100};
  for (double dynamic : {0.0, 1.0}) {
    BglTorus plane({4, 4}, {{0, 0, 5, 1}, {0, 5, 0, 1}, {0, 1, 4, 1}},
                   {{"routing.hints", hints}, {"routing.dynamic", dynamic}});
    plane.drain();
    EXPECT_EQ(plane.way(0)[0].hints, 1u << kMinusX | 1u << kPlusY);
    EXPECT_EQ(plane.way(0).size(), 4u);
    EXPECT_EQ(plane.way(1)[0].hints, 1u << kPlusX | 1u << kMinusY);
    EXPECT_EQ(plane.way(2).size(), 2u);
    EXPECT_EQ(plane.way(0)[0].out_vc, dynamic ? plane.way(0)[0].out_vc & 1 : 2u);
  }
  // A dead corner makes them dynamic.
  BglTorus corner({4, 4}, {{0, 0, 5, 1}}, {{"routing.hints", IntList{0, 5, 0b011000}}, {"faults.nodes", IntList{1}}});
  corner.drain();
  EXPECT_EQ(corner.way(0).size(), 4u);
  EXPECT_EQ(corner.way(0)[0].hints, 1u << kMinusX | 1u << kPlusY);
}

TEST(BglHintsGiven, BadOnesAreRefused) {
  const struct {
    IntList hints;
    const char* says;
  } cases[] = {
      {{0, 5}, "routing.hints has 2 numbers: give three"},
      {{0, 16, 0b101000}, "entry 1, from node 0 to node 16, names a node that does not exist: nodes are numbered 0 to"},
      {{0, 5, 0b101000, 3, 3, 0}, "entry 2, from node 3 to node 3, leads nowhere"},
      {{0, 5, 64}, "at most 63 = 0b111111"},
      {{0, 5, 0b111000}, "has hint bits 111000, both directions of x: set x+ or x-."},
      {{0, 5, 0b101011}, "has hint bits 101011, both directions of z: set z+ or z-."},
      {{0, 5, 0b100000}, "has hint bits 100000, which do not lead to the destination: set y+ or y- as well."},
      {{0, 1, 0b101000}, "has hint bits 101000, but no hops in y are required: leave y out."},
      {{0, 5, 0b101000, 0, 5, 0b100100}, "names the pair of nodes 0 and 5 twice"},
      {{10, 0, 0b101000}, "names a dead node (faults.nodes)"},
      {{8, 11, 0b100000}, "from node 8 to node 11, has hint bits 100000, which lead packets to where only dead nodes"},
  };
  for (const auto& c : cases) {
    const std::string text = error_of(machine({4, 4}, {10}, {{"routing.hints", c.hints}}));
    EXPECT_NE(text.find(c.says), std::string::npos) << text;
  }
  EXPECT_EQ(error_of(machine({4, 4}, {10}, {{"routing.hints", IntList{8, 11, 0b010000}}})), "none");
}

/// More than the network can carry, on several placements: dead nodes stay silent, all that others send arrives, and
/// nobody waits in a circle at any time.
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
      const TerminalSnapshot s = net.plan->inspector()->inspect_terminal(state, n);
      EXPECT_EQ(s.created + s.received, 0u);
    }
  }
}

/// Everybody on a dead node's line sends to the nodes of the plane behind it, so that all packets go round it, on
/// dynamic channels of one packet each.
TEST(BglDeadRuns, WhereAllHaveToGoRoundTheDeadNode) {
  std::string text;
  const Grid grid({6, 6});
  for (u32 n = 0; n < grid.nodes; ++n)
    for (u32 y = 1; y < 6; ++y)
      if (n % 6 != 2) text += std::to_string(n) + "," + std::to_string(grid.node({2, y})) + (n < 6 ? ",1\n" : ",0\n");
  for (u32 y = 0; y < 6; ++y) text += std::to_string(grid.node({2, y})) + ",0,0\n";
  const TextFile matrix(text);
  Network net(experiment(machine({6, 6}, {2},
                                 {{"traffic.pattern", word("matrix")},
                                  {"traffic.matrix_file", matrix.path},
                                  {"traffic.mode", word("batch")},
                                  {"traffic.batch_packets", integer(1000)},
                                  {"router.dynamic_flits", integer(8)},
                                  {"routing.dynamic", 0.0},
                                  {"traffic.packet_flits", Lengths{{8, 1.0}}}})));
  while (net.total(Total::kPacketsDelivered) < 5 * 1000) {
    net.step(1000);
    ASSERT_NO_THROW(check_conservation(*net.engine, *net.plan, 0));
    ASSERT_EQ(net.plan->find_deadlock(net.engine->state(0)), "");
    ASSERT_LT(net.engine->now(), 2000000u);
  }
}

}  // namespace
}  // namespace flitlab::bgl_dead_test
