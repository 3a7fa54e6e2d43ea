#include "host/routers/sconnect/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "host/routers/sconnect/grid.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "host/routers/sconnect/queues.hpp"
#include "host/routers/sconnect/turns.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/routers/sconnect/route.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/sconnect/fabrics.hpp"

namespace flitlab::sconnect_tables_test {
namespace {

using sconnect::kPorts;
using sconnect::Link;
using sconnect::LinkKind;
using sconnect::option;
using testing::dual_nodes;
using testing::expect_in;
using testing::message_of;
using testing::sconnect_graph;
using testing::single_nodes;
using testing::TextFile;

struct Place {
  u32 tic, vc;
  auto operator<=>(const Place&) const = default;
};

/// A queue of a TIC: what is in it waits for a buffer at the far end of its channel.
struct Queue {
  u32 tic, bit;
  auto operator<=>(const Queue&) const = default;
};

/// Messages as the router moves them, one source and one destination after another; and the circles they make, found
/// by taking queues away in which nothing has to wait.
struct Walker {
  const SconnectFabric& f;
  const std::vector<u16>& entry;
  bool all_arrive = true;
  std::map<Queue, std::set<Queue>> waits = {};

  void walk_all() {
    for (u32 d = 0; d < f.nodes; ++d) {
      std::set<Place> reached;
      for (u32 tic = 0; tic < f.tics; ++tic)
        for (u32 port = 4; port < kPorts; ++port)
          if (f.link(tic, port).kind == LinkKind::kHost) walk({tic, 0}, d, reached);
    }
  }

  u32 bits_at(Place at, u32 d) const {
    const u32 bits = entry[std::size_t{at.tic} * f.nodes + d];
    return at.vc == 1 && bits & 0xAAAA ? bits & 0xAAAA : bits;
  }

  void walk(Place at, u32 d, std::set<Place>& reached) {
    if (!reached.insert(at).second) return;
    const u32 bits = bits_at(at, d);
    if (!bits) all_arrive = false;
    for (u32 bit = 0; bit < 16; ++bit) {
      if (!(bits >> bit & 1)) continue;
      if (bit >= 2 * kPorts) {
        all_arrive = false;
        continue;
      }
      const Link& l = f.link(at.tic, bit / 2);
      if (l.kind == LinkKind::kNone || (l.kind == LinkKind::kHost && (bit % 2 || f.node_of[at.tic] != d))) {
        all_arrive = false;
      } else if (l.kind != LinkKind::kHost) {
        const Place next{l.far, bit % 2};
        std::set<Queue>& for_those = waits[Queue{at.tic, bit}];
        const u32 there = bits_at(next, d);
        for (u32 b = 0; b < 2 * kPorts; ++b)
          if (there >> b & 1 && leads_to_tic(f.link(next.tic, b / 2))) for_those.insert(Queue{next.tic, b});
        walk(next, d, reached);
      }
    }
  }

  bool circles() const {
    std::set<Queue> left;
    for (const auto& [from, to] : waits) left.insert(from);
    for (bool more = true; more;) {
      more = false;
      for (auto at = left.begin(); at != left.end();) {
        const std::set<Queue>& to = waits.at(*at);
        if (std::none_of(to.begin(), to.end(), [&](const Queue& q) { return left.contains(q); }))
          at = left.erase(at), more = true;
        else
          ++at;
      }
    }
    return !left.empty();
  }

  bool good() {
    walk_all();
    return all_arrive && !circles();
  }
};

void expect_good(const SconnectFabric& f, const SconnectTables& t) {
  EXPECT_EQ(sconnect_table_fault(f, t.entry), "");
  Walker walker{f, t.entry};
  EXPECT_TRUE(walker.good());
}

TEST(SconnectTables, OfALineByHand) {
  const SconnectFabric f = make_sconnect_mesh({3}, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  // Nothing turns round, so both virtual channels are free.
  const u32 up = option(0, 0) | option(0, 1), down = option(1, 0) | option(1, 1);
  EXPECT_EQ(t.entry[0 * 3 + 0], option(4, 0));
  EXPECT_EQ(t.entry[0 * 3 + 1], up);
  EXPECT_EQ(t.entry[0 * 3 + 2], up);
  EXPECT_EQ(t.entry[1 * 3 + 2], up);
  EXPECT_EQ(t.entry[1 * 3 + 0], down);
  EXPECT_EQ(t.entry[2 * 3 + 0], down);
  EXPECT_DOUBLE_EQ(t.mean_hops, 4.0 / 3);
  EXPECT_DOUBLE_EQ(t.stretch, 1);
  EXPECT_FALSE(t.tree);
  // On the way: to each end from the other, and in the middle on 0 and on 1, where only 1 is left; to the middle from
  // both sides.
  EXPECT_DOUBLE_EQ(t.alternates, (2 * (2 + 2 + 1) + 2 + 2) / 8.0);
}

TEST(SconnectTables, AreGoodForAllKinds) {
  for (const auto& [name, f] : testing::all_sconnect_fabrics()) {
    SCOPED_TRACE(name);
    const SconnectTables shortest = shortest_sconnect_tables(f), tree = tree_sconnect_tables(f);
    expect_good(f, shortest);
    expect_good(f, tree);
    EXPECT_FALSE(shortest.tree);
    EXPECT_TRUE(tree.tree);
    EXPECT_GE(shortest.stretch, 1);
    EXPECT_LE(shortest.stretch, tree.stretch);
  }
}

TEST(SconnectTables, KeepAllShortestWaysOfGridsCubesAndTrees) {
  for (const SconnectFabric& f :
       {make_sconnect_mesh({4, 4}, single_nodes()), make_sconnect_mesh({8, 8}, single_nodes()),
        make_sconnect_mesh({3, 3, 3, 3}, dual_nodes()), make_sconnect_hypercube(4, single_nodes()),
        make_sconnect_hypercube(6, dual_nodes()), make_sconnect_hypercube(8, dual_nodes()),
        make_sconnect_tree(3, 4, false, single_nodes()), make_sconnect_tree(9, 3, true, single_nodes())}) {
    SCOPED_TRACE(f.kind + " of " + std::to_string(f.nodes));
    const SconnectTables t = shortest_sconnect_tables(f);
    EXPECT_EQ(t.stretch, 1);  // exactly
    EXPECT_EQ(sconnect_table_fault(f, t.entry), "");
  }
}

TEST(SconnectTables, TreeWaysAreNoLongerThanThroughTheRoot) {
  for (const SconnectFabric& f :
       {make_sconnect_random(40, 4, 2, single_nodes()), make_sconnect_random(30, 5, 2, dual_nodes(2))}) {
    const SconnectTables t = tree_sconnect_tables(f);
    const std::vector<u32> depth = sconnect_hops(f, {sconnect_centre(f)});
    const auto hosts = sconnect_hosts(f);
    for (u32 d = 0; d < f.nodes; ++d) {
      u32 nearest = kNone;
      for (u32 tic : hosts[d]) nearest = std::min(nearest, depth[tic]);
      for (u32 s = 0; s < f.nodes; ++s)
        for (u32 at : hosts[s]) {
          const u32 most = depth[at] + nearest;
          u32 hops = 0;
          for (; f.node_of[at] != d; ++hops)
            at = f.link(at, static_cast<u32>(__builtin_ctz(t.entry[at * f.nodes + d])) / 2).far;
          EXPECT_LE(hops, most);
        }
    }
  }
}

TEST(SconnectTables, GridsOfTwoDimensionsOfferAllShortestWays) {
  const SconnectFabric f = make_sconnect_mesh({4, 4}, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  // Ports 0 and 1 lead up and down in the first dimension, 2 and 3 in the second.
  EXPECT_EQ(t.entry[0 * 16 + 15], option(0, 1) | option(2, 0) | option(2, 1));
  EXPECT_EQ(t.entry[15 * 16 + 0], option(1, 0) | option(3, 0));
  EXPECT_EQ(t.entry[12 * 16 + 3], option(0, 1) | option(3, 0) | option(3, 1));
  EXPECT_EQ(t.entry[3 * 16 + 12], option(1, 0) | option(2, 0));
  EXPECT_EQ(t.entry[3 * 16 + 15], option(2, 0) | option(2, 1));
  for (u32 s = 0; s < 16; ++s)
    for (u32 d = 0; d < 16; ++d) {
      const u32 set = t.entry[s * 16 + d];
      if (s == d) continue;
      EXPECT_EQ((set & 0x3) != 0, d % 4 > s % 4);
      EXPECT_EQ((set & 0xC) != 0, d % 4 < s % 4);
      EXPECT_EQ((set & 0x30) != 0, d / 4 > s / 4);
      EXPECT_EQ((set & 0xC0) != 0, d / 4 < s / 4);
    }
}

TEST(SconnectTables, DualNodesCrossOnce) {
  // Dimensions 0 and 1 are on TIC 2n, 2 and 3 on 2n + 1.
  const SconnectFabric f = make_sconnect_mesh({3, 3, 3, 3}, dual_nodes(2));
  const SconnectTables t = shortest_sconnect_tables(f);
  const auto entry = [&](u32 tic, u32 d) { return u32{t.entry[tic * f.nodes + d]}; };
  const u32 far = 80;  // 2, 2, 2, 2, seen from 0, 0, 0, 0
  EXPECT_EQ(entry(0, far), option(0, 0) | option(2, 0));
  EXPECT_EQ(entry(1, far), option(0, 0) | option(2, 0) | option(0, 1) | option(2, 1));
  EXPECT_EQ(entry(0, 72) & 0xFF, 0u);  // 0, 0, 2, 2
  EXPECT_EQ(entry(0, 72) & (option(4, 1) | option(5, 1)), 0u);
  EXPECT_EQ(entry(1, 8) & 0xFF, 0u);  // 2, 2, 0, 0
  EXPECT_EQ(entry(1, 8) & (option(4, 0) | option(5, 0)), 0u);
}

TEST(SconnectTables, ByCoordinatesAreGoodForAllShapes) {
  for (u32 hosts : {1u, 2u})
    for (const SconnectFabric& f :
         {make_sconnect_mesh({2}, single_nodes()), make_sconnect_mesh({5, 7}, single_nodes()),
          make_sconnect_mesh({4, 2, 2}, single_nodes()), make_sconnect_mesh({2, 2, 2, 2}, single_nodes()),
          make_sconnect_mesh({6, 1, 3}, single_nodes()), make_sconnect_mesh({3, 4}, dual_nodes(hosts)),
          make_sconnect_mesh({3, 4, 3}, dual_nodes(hosts)), make_sconnect_mesh({4, 3, 4, 3}, dual_nodes(hosts)),
          make_sconnect_mesh({2, 3, 2, 3, 2, 2}, dual_nodes(hosts)), make_sconnect_hypercube(7, dual_nodes(hosts))}) {
      SCOPED_TRACE(f.kind + " of " + std::to_string(f.nodes) + ", " + std::to_string(hosts) + " hosts");
      const SconnectTables t = given_sconnect_tables(f, sconnect_tables_by_coordinates(f));
      expect_good(f, t);
      EXPECT_EQ(t.stretch, 1);  // exactly
    }
}

TEST(SconnectTables, RandomGraphsGetGoodOnesThatDependOnTheGraphAlone) {
  for (u64 seed = 0; seed < 30; ++seed) {
    const u32 nodes = 8 + 3 * static_cast<u32>(seed);
    const bool dual = seed % 3 == 1;
    const SconnectFabric f =
        make_sconnect_random(nodes, dual ? 6 : 4, seed, dual ? dual_nodes(1 + seed % 2) : single_nodes());
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SconnectTables t = shortest_sconnect_tables(f), again = shortest_sconnect_tables(f);
    expect_good(f, t);
    EXPECT_EQ(t.entry, again.entry);
    EXPECT_FALSE(t.tree);
    EXPECT_LT(t.stretch, 1.06);
  }
}

TEST(SconnectTurns, AreAllowedUnlessTheyCloseACircle) {
  // All turns of a fabric in random order, against a search from scratch for each.
  for (u64 seed = 0; seed < 10; ++seed) {
    const SconnectFabric f = make_sconnect_random(12, 4, seed, single_nodes());
    SconnectTurns turns(f);
    std::vector<std::pair<u32, u32>> all;
    for (u32 c = 0; c < f.tics * kPorts; ++c)
      for (u32 port = 0; port < 4; ++port)
        if (leads_to_tic(f.links[c])) all.emplace_back(c, port);
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      const auto key = [&](const auto& t) { return philox(seed, 0, t.first, t.second).word[0]; };
      return key(a) < key(b);
    });
    std::map<u32, std::set<u32>> after;
    u32 refused = 0;
    for (const auto& [channel, port] : all) {
      const u32 next = f.links[channel].far * kPorts + port;
      std::set<u32> reached{next};
      std::vector<u32> stack{next};
      while (!stack.empty()) {
        const u32 at = stack.back();
        stack.pop_back();
        for (u32 c : after[at])
          if (reached.insert(c).second) stack.push_back(c);
      }
      const bool fits = !reached.contains(channel);
      EXPECT_EQ(turns.allow(channel, port), fits);
      EXPECT_EQ(turns.allowed(channel, port), fits);
      EXPECT_EQ(turns.possible(channel, port), fits);
      if (fits) after[channel].insert(next);
      refused += !fits;
    }
    EXPECT_GT(refused, 20u);
  }
}

TEST(SconnectQueues, KeepMoreShortestWaysThanTurns) {
  for (u64 seed : {1, 2}) {
    const SconnectFabric f = make_sconnect_random(64, 4, seed, single_nodes());
    const SconnectTables queues = given_sconnect_tables(f, sconnect_tables_by_queues(f)),
                         turns = given_sconnect_tables(f, sconnect_tables_by_turns(f));
    expect_good(f, queues);
    EXPECT_EQ(queues.kept, 1);
    EXPECT_LT(turns.kept, 1);
    EXPECT_EQ(queues.entry, sconnect_tables_by_queues(f));
  }
  const SconnectFabric f = make_sconnect_random(120, 3, 4, single_nodes());
  const SconnectTables queues = given_sconnect_tables(f, sconnect_tables_by_queues(f)),
                       turns = given_sconnect_tables(f, sconnect_tables_by_turns(f));
  expect_good(f, queues);
  EXPECT_GT(queues.kept, turns.kept);
  EXPECT_LT(queues.stretch, turns.stretch);
}

TEST(SconnectTables, OfLargeRandomGraphsKeepNearlyAllShortestWays) {
  const SconnectFabric f = make_sconnect_random(256, 4, 1, single_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  expect_good(f, t);
  EXPECT_LT(t.stretch, 1.03);
  EXPECT_GT(t.alternates, 1.2);
}

TEST(SconnectTables, StretchIsThatOfTheWays) {
  const SconnectFabric f = make_sconnect_random(40, 4, 2, single_nodes());
  const SconnectTables t = tree_sconnect_tables(f);
  // One option an entry, so there is one way.
  u64 hops = 0, direct = 0;
  for (u32 d = 0; d < f.nodes; ++d)
    for (u32 s = 0; s < f.nodes; ++s) {
      u32 at = s;
      for (; at != d; ++hops) {
        const u16 entry = t.entry[at * f.nodes + d];
        ASSERT_EQ(entry & (entry - 1), 0);
        at = f.link(at, static_cast<u32>(__builtin_ctz(entry)) / 2).far;
      }
      direct += sconnect_hops(f, {d})[s];
    }
  EXPECT_DOUBLE_EQ(t.mean_hops, static_cast<double>(hops) / (40 * 39));
  EXPECT_DOUBLE_EQ(t.stretch, static_cast<double>(hops) / static_cast<double>(direct));
  EXPECT_DOUBLE_EQ(t.alternates, 1);
}

TEST(SconnectTables, TreeTurnsAtTheLowestCommonAncestor) {
  const SconnectFabric f = make_sconnect_tree(3, 3, false, single_nodes());
  const SconnectTables t = tree_sconnect_tables(f);
  EXPECT_EQ(t.stretch, 1);
  // From leaf 4 to its sister 5: up to 1 on virtual channel 0, and down from there on 1.
  EXPECT_EQ(t.entry[4 * 13 + 5], option(0, 0));
  EXPECT_EQ(t.entry[1 * 13 + 5], option(2, 1));
  EXPECT_EQ(t.entry[1 * 13 + 7], option(0, 0));
}

TEST(SconnectTableFault, AgreesWithANaiveWalkOnSpoiledTables) {
  u32 bad = 0, circles = 0, good = 0;
  const auto fabrics = testing::all_sconnect_fabrics();
  for (u32 i = 0; i < fabrics.size(); ++i) {
    const SconnectFabric& f = fabrics[i].second;
    if (f.tics > 70) continue;
    const std::vector<u16> whole = shortest_sconnect_tables(f).entry;
    for (u32 round = 0; round < 24; ++round) {
      SCOPED_TRACE(fabrics[i].first + ", round " + std::to_string(round));
      std::vector<u16> entry = whole;
      for (u32 change = 0; change < 1 + round % 4; ++change) {
        const Random4 r = philox(99, 0, i, 8 * round + change);
        u16& e = entry[below(r.word[0], static_cast<u32>(entry.size()))];
        switch (round % 3) {
          case 0: e ^= static_cast<u16>(1u << below(r.word[1], 12)); break;
          case 1: e = static_cast<u16>((e & 0xAAA) >> 1 | (e & 0x555) << 1); break;  // the other virtual channel
          default: {                                                                 // any channels that are there
            const u32 tic = static_cast<u32>(&e - entry.data()) / f.nodes;
            for (u32 port = 0; port < 4; ++port)
              if (leads_to_tic(f.link(tic, port)) && r.word[1] >> port & 1)
                e |= static_cast<u16>(option(port, r.word[1] >> (8 + port) & 1));
          }
        }
      }
      Walker walker{f, entry};
      const bool fine = walker.good();
      EXPECT_EQ(sconnect_table_fault(f, entry).empty(), fine);
      ++(fine ? good : bad);
      circles += walker.all_arrive && !fine;
    }
  }
  EXPECT_GT(good, 20u);
  EXPECT_GT(bad, 20u);
  EXPECT_GT(circles, 20u);
}

/// A ring, everybody going one way round on one virtual channel.
std::string ring_lines(u32 nodes = 4) {
  std::string text;
  for (u32 s = 0; s < nodes; ++s)
    for (u32 hops = 1; hops < nodes; ++hops)
      text += std::to_string(s) + "," + std::to_string((s + hops) % nodes) + ",0,0\n";
  return text;
}

SconnectFabric ring(u32 nodes = 4) {
  // Port 0 leads on, port 1 back.
  SconnectBuilder builder("graph", single_nodes());
  for (u32 n = 0; n < nodes; ++n) builder.add_node(std::to_string(n), 1);
  for (u32 n = 0; n < nodes; ++n) builder.join(n, 0, 0, (n + 1) % nodes, 0, 1);
  return builder.finish();
}

TEST(SconnectTableFile, ShowsTheCircle) {
  const TextFile file(ring_lines());
  const std::string text = message_of([&] { read_sconnect_tables(ring(), TextSource(file.path)); });
  expect_in("routing.file: " + file.path + ": messages can wait for one another in a circle", text);
  expect_in("0 (0) -> 1 (0) -> 2 (0) -> 3 (0) -> 0 (0)", text);
}

TEST(SconnectTableFile, LeavesOutTheMiddleOfALongCircle) {
  const TextFile file(ring_lines(16));
  expect_in(
      ": 0 (0) -> 1 (0) -> 2 (0) -> 3 (0) -> 4 (0) -> 5 (0) -> 6 (0) -> 7 (0) -> 8 (0) -> 9 (0) -> 10 (0) -> "
      "(5 more) -> 0 (0).",
      message_of([&] { read_sconnect_tables(ring(16), TextSource(file.path)); }));
}

TEST(SconnectTableFile, ShowsAWayThatNeverEnds) {
  // Two hops on, or one back: from 0 to 2 by 1, from 1 to 2 by 0.
  std::string lines = "0,1,0,0\n0,3,1,0\n1,0,1,0\n2,3,0,0\n3,2,1,0\n2,1,1,0\n3,0,0,0\n1,3,0,0\n2,0,0,0\n3,1,0,0\n";
  const TextFile endless(lines + "0,2,0,0\n1,2,1,0\n");
  expect_in("messages to node 2 may go round for ever: 0 (0) -> 1 (0) -> 0 (0).",
            message_of([&] { read_sconnect_tables(ring(), TextSource(endless.path)); }));
}

TEST(SconnectTableFile, NamesWhoCannotBeReached) {
  const std::string lines =
      "0,1,0,0\n0,2,0,0\n0,3,1,0\n1,0,1,1\n1,3,0,0\n2,3,0,0\n2,0,1,1\n2,1,1,1\n3,0,0,0\n3,1,0,0\n3,2,1,1\n";
  const TextFile file(lines);
  expect_in("messages from node 1 to node 2 have no way on.",
            message_of([&] { read_sconnect_tables(ring(), TextSource(file.path)); }));
  const TextFile none("");
  expect_in("messages from node 3 to node 0 have no way on.",
            message_of([&] { read_sconnect_tables(ring(), TextSource(none.path)); }));
}

TEST(SconnectTableFile, TakesGoodTables) {
  const SconnectFabric f = make_sconnect_mesh({3, 3, 3}, dual_nodes());
  const SconnectTables t = shortest_sconnect_tables(f);
  std::string lines = "# TIC,destination,port,virtual channel\n";
  for (u32 tic = 0; tic < f.tics; ++tic)
    for (u32 d = 0; d < f.nodes; ++d)
      for (u32 bit = 0; bit < 12; ++bit)
        if ((tic % 2 || f.node_of[tic] != d) && t.entry[tic * f.nodes + d] >> bit & 1)
          lines += (tic < 20 ? f.names[tic] : std::to_string(tic)) + "," + std::to_string(d) + "," +
                   std::to_string(bit / 2) + "," + std::to_string(bit % 2) + "\n";
  const TextFile file(lines);
  const SconnectTables read = read_sconnect_tables(f, TextSource(file.path));
  EXPECT_EQ(read.entry, t.entry);
  EXPECT_EQ(read.mean_hops, t.mean_hops);
  EXPECT_EQ(read.alternates, t.alternates);
}

TEST(SconnectTableFile, FillsInTheWayToTheOtherTic) {
  const SconnectFabric f = make_sconnect_mesh({2, 1, 2, 1}, dual_nodes());  // a square: 0 1 below 2 3
  const auto lines = [] {
    std::string text;
    for (u32 n = 0; n < 4; ++n) {
      const bool down0 = n & 1, down1 = n & 2;
      const auto add = [&](const char* tic, u32 d, u32 port, u32 vc) {
        text += std::to_string(n) + tic + "," + std::to_string(d) + "," + std::to_string(port) + "," +
                std::to_string(vc) + "\n";
      };
      // Up along the first dimension, over, along the second, over, down along the first.
      add("a", n ^ 1, 0, down0);
      add("a", n ^ 2, 5, 0);
      add("a", n ^ 3, down0 ? 5 : 0, 0);
      add("b", n ^ 1, 5, 1);
      add("b", n ^ 2, 0, down1);
      add("b", n ^ 3, 0, down1);
    }
    return text;
  };
  const TextFile file(lines());
  const SconnectTables t = read_sconnect_tables(f, TextSource(file.path));
  expect_good(f, t);
  EXPECT_EQ(t.stretch, 1);
  for (u32 n = 0; n < 4; ++n) EXPECT_EQ(t.entry[(2 * n + 1) * 4 + n], option(5, 1));
  // Somebody who has come to a TIC without a host is told so.
  std::string rest = lines();
  rest.erase(rest.find("2b,0,0,1\n"), 9);
  const TextFile cut(rest);
  expect_in(" to node 0 (TIC 0a), having come to TIC 2b on virtual channel 0, have no way on.",
            message_of([&] { read_sconnect_tables(f, TextSource(cut.path)); }));
}

TEST(SconnectTableFile, SaysWhichLineIsWrong) {
  const auto wrong = [](const std::string& text) {
    const TextFile file(text);
    return message_of([&] { read_sconnect_tables(ring(), TextSource(file.path)); });
  };
  expect_in(":1: \"0,1,0\": a line is TIC,destination node,port,virtual channel", wrong("0,1,0\n"));
  expect_in("there is no TIC \"x\"", wrong("x,1,0,0\n"));
  expect_in("there is no TIC \"4\"", wrong("4,1,0,0\n"));
  expect_in("destination node = \"4\"", wrong("0,4,0,0\n"));
  expect_in("port = \"6\"", wrong("0,1,6,0\n"));
  expect_in("virtual channel = \"2\"", wrong("0,1,0,2\n"));
  expect_in("port 2 of TIC 0 leads to no other TIC", wrong("0,1,2,0\n"));
  expect_in("port 4 of TIC 0 leads to no other TIC", wrong("0,1,4,0\n"));
  expect_in("TIC 1 has a host of the destination", wrong("1,1,0,0\n"));
}

TEST(SconnectTableFault, SeesWrongHostsAndPorts) {
  const SconnectFabric f = make_sconnect_mesh({3}, single_nodes());
  const std::vector<u16> whole = shortest_sconnect_tables(f).entry;
  const auto fault = [&](u32 tic, u32 d, u32 entry) {
    std::vector<u16> spoiled = whole;
    spoiled[tic * 3 + d] = static_cast<u16>(entry);
    return sconnect_table_fault(f, spoiled);
  };
  EXPECT_EQ(fault(0, 2, option(4, 0)), "messages from node 0 to node 2 may be taken by the host of node 0.");
  EXPECT_EQ(fault(2, 2, option(4, 1)),
            "messages from node 2 to node 2 may take port 4 on virtual channel 1, which hosts do not have.");
  EXPECT_EQ(fault(0, 1, option(3, 0)), "messages from node 0 to node 1 may take port 3, which leads nowhere.");
  EXPECT_EQ(fault(0, 1, 1u << 13), "messages from node 0 to node 1 may take port 6, which leads nowhere.");
}

}  // namespace
}  // namespace flitlab::sconnect_tables_test
