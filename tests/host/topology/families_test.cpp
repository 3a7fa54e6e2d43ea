/// Networks that are built from a few numbers: sizes, degrees and diameters that their papers state, and wiring that is
/// derived in another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "host/topology/families.hpp"
#include "host/topology/galois.hpp"
#include "host/topology/metrics.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/topology.hpp"

namespace flitlab::topology_families_test {
namespace {

using namespace testing;

Topology network(Links links, u32 concentration = 1) {
  links.concentration = concentration;
  Topology t = make_network(links, "test");
  expect_consistent(t);
  return t;
}

std::vector<u32> neighbours(const Topology& t, u32 router) {
  std::vector<u32> list;
  for (u32 p = 0; p < t.network_ports; ++p)
    if (t.peer(router, p).item != kNone) list.push_back(t.peer(router, p).item);
  return list;
}

/// Returns the number of routers with each degree. Links to the same router twice are an error.
std::map<u32, u32> degrees(const Topology& t) {
  std::map<u32, u32> count;
  for (u32 r = 0; r < t.routers; ++r) {
    const std::vector<u32> list = neighbours(t, r);
    EXPECT_EQ(std::set<u32>(list.begin(), list.end()).size(), list.size()) << r;
    ++count[static_cast<u32>(list.size())];
  }
  return count;
}

using Degrees = std::map<u32, u32>;

TEST(GaloisFields, ObeyTheAxioms) {
  for (u32 q : {2u, 3u, 4u, 5u, 7u, 8u, 9u, 11u, 16u, 25u, 27u}) {
    const GaloisField f(q);
    for (u32 a = 0; a < q; ++a) {
      EXPECT_EQ(f.add(a, 0), a);
      EXPECT_EQ(f.multiply(a, 1), a);
      EXPECT_EQ(f.add(a, f.negative(a)), 0u);
      std::set<u32> products;
      for (u32 b = 0; b < q; ++b) {
        EXPECT_EQ(f.add(a, b), f.add(b, a));
        EXPECT_EQ(f.multiply(a, b), f.multiply(b, a));
        products.insert(f.multiply(a, b));
        for (u32 c = 0; c < q; c += 1 + q / 7) {
          EXPECT_EQ(f.multiply(a, f.add(b, c)), f.add(f.multiply(a, b), f.multiply(a, c)));
          EXPECT_EQ(f.multiply(a, f.multiply(b, c)), f.multiply(f.multiply(a, b), c));
          EXPECT_EQ(f.add(a, f.add(b, c)), f.add(f.add(a, b), c));
        }
      }
      EXPECT_EQ(products.size(), a ? q : 1);
    }
  }
  for (u32 q : {0u, 1u, 6u, 10u, 12u, 15u, 36u}) EXPECT_FALSE(is_prime_power(q)) << q;
  for (u32 q : {2u, 4u, 31u, 49u, 64u}) EXPECT_TRUE(is_prime_power(q)) << q;
}

/// Besta & Hoefler, SC 2014, II.B: 2 q^2 routers of degree (3q - d) / 2 for q = 4w + d, and diameter 2.
TEST(SlimFly, HasTheSizesOfThePaper) {
  for (u32 q : {3u, 4u, 5u, 7u, 8u, 9u, 11u, 13u}) {
    const Topology t = network(slim_fly(q));
    const int d = q % 4 == 3 ? -1 : static_cast<int>(q % 4);
    EXPECT_EQ(t.routers, 2 * q * q);
    EXPECT_EQ(degrees(t), (Degrees{{(3 * q - d) / 2, 2 * q * q}})) << q;
    EXPECT_EQ(distance_metrics(t).diameter, 2u) << q;
  }
}

/// The Slim Fly of q = 5 is the Hoffman-Singleton graph: 50 routers, degree 7, and no cycle shorter than 5.
TEST(SlimFly, OfFiveIsTheHoffmanSingletonGraph) {
  const Topology t = network(slim_fly(5));
  for (u32 a = 0; a < t.routers; ++a) {
    std::map<u32, u32> ways;  // in two hops
    for (u32 b : neighbours(t, a))
      for (u32 c : neighbours(t, b)) ++ways[c];
    for (u32 b : neighbours(t, a)) EXPECT_EQ(ways.count(b), 0u);
    for (const auto& [c, count] : ways) EXPECT_EQ(count, c == a ? 7u : 1u);
  }
}

/// Lakhotia et al., SC 2022: q^2 + q + 1 routers of degree q + 1, except q + 1 that would have a link to themselves;
/// two routers have exactly one neighbour in common, counting those loops.
TEST(PolarFly, HasTheSizesOfThePaper) {
  for (u32 q : {2u, 3u, 4u, 5u, 7u, 8u, 9u}) {
    const Topology t = network(polarfly(q));
    EXPECT_EQ(t.routers, q * q + q + 1);
    EXPECT_EQ(degrees(t), (Degrees{{q, q + 1}, {q + 1, q * q}})) << q;
    EXPECT_EQ(distance_metrics(t).diameter, 2u) << q;
    for (u32 a = 0; a < t.routers; ++a)
      for (u32 b = 0; b < a; ++b) {
        const auto of = [&](u32 r) {
          std::vector<u32> list = neighbours(t, r);
          if (list.size() == q) list.push_back(r);
          return std::set<u32>(list.begin(), list.end());
        };
        const std::set<u32> left = of(a), right = of(b);
        EXPECT_EQ(std::count_if(left.begin(), left.end(), [&](u32 r) { return right.count(r); }), 1);
      }
  }
}

/// Lakhotia et al., SPAA 2024: (q^2 + q + 1) supernodes, at most q + 1 + (p - 1) / 2 links, diameter 3.
TEST(PolarStar, HasTheSizesOfThePaper) {
  for (u32 q : {2u, 3u, 4u, 5u})
    for (u32 p : {5u, 9u, 13u}) {
      const Topology t = network(polarstar(q, p));
      EXPECT_EQ(t.routers, (q * q + q + 1) * p);
      const u32 most = q + 1 + (p - 1) / 2;
      // PolarFly has q + 1 routers with one link less.
      EXPECT_EQ(degrees(t), (Degrees{{most - 1, (q + 1) * p}, {most, q * q * p}})) << q << " " << p;
      EXPECT_EQ(distance_metrics(t).diameter, 3u) << q << " " << p;
    }
}

TEST(ConcentratedMesh, HasExpressChannelsBetweenMultiplesOfTheirLength) {
  for (const std::vector<u32>& shape : {std::vector<u32>{7, 5}, {4, 4}, {9}})
    for (u32 express : {2u, 3u}) {
      const Topology t = network(cmesh(shape, express));
      std::set<std::pair<u32, u32>> expected;
      for (u32 a = 0; a < t.routers; ++a) {
        const u32 x = a % shape[0], y = a / shape[0];
        if (x + 1 < shape[0]) expected.insert({a, a + 1});
        if (x % express == 0 && x + express < shape[0]) expected.insert({a, a + express});
        if (shape.size() < 2) continue;
        if (y + 1 < shape[1]) expected.insert({a, a + shape[0]});
        if (y % express == 0 && y + express < shape[1]) expected.insert({a, a + express * shape[0]});
      }
      std::set<std::pair<u32, u32>> found;
      for (u32 a = 0; a < t.routers; ++a)
        for (u32 b : neighbours(t, a))
          if (a < b) found.insert({a, b});
      EXPECT_EQ(found, expected);
      EXPECT_EQ(t.channels, 2 * expected.size());
    }
}

std::multiset<std::pair<u32, u32>> pairs_of(const Topology& t) {
  std::multiset<std::pair<u32, u32>> pairs;
  for (u32 a = 0; a < t.routers; ++a)
    for (u32 b : neighbours(t, a)) pairs.insert({a, b});
  return pairs;
}

TEST(FailedLinks, AreTheOnlyOnesThatAreMissing) {
  for (const Topology& whole : {make_torus({4, 4}, 2), make_torus({2, 3}, 1), network(fat_tree({2, 2}, {2, 2}))}) {
    const u32 next = whole.peer(1, 0).item;
    const Topology t = without_failed(whole, {{1, next}, 0, 0}, "test");
    expect_consistent(t);
    auto expected = pairs_of(whole);
    expected.erase(expected.find({1, next}));  // one of parallel links
    expected.erase(expected.find({next, 1}));
    EXPECT_EQ(pairs_of(t), expected);
    EXPECT_EQ(t.terminals, whole.terminals);
    EXPECT_FALSE(t.grid);
  }
}

TEST(FailedLinks, AtRandomLeaveTheNetworkConnected) {
  const Topology whole = make_torus({5, 4}, 1);
  std::set<std::multiset<std::pair<u32, u32>>> found;
  for (u64 seed = 0; seed < 10; ++seed)
    for (u32 count : {1u, 7u, 21u}) {  // 40 links, of which a tree needs 19
      const Topology t = without_failed(whole, {{}, count, seed}, "test");
      expect_consistent(t);
      EXPECT_EQ(t.channels, whole.channels - 2 * count);
      const auto rest = pairs_of(t), all = pairs_of(whole);
      EXPECT_TRUE(std::includes(all.begin(), all.end(), rest.begin(), rest.end()));
      const std::vector<u32> hops = hops_from(t, 0);
      EXPECT_EQ(std::count(hops.begin(), hops.end(), kNone), 0);
      found.insert(rest);
    }
  EXPECT_GT(found.size(), 25u);  // seeds select different links
  EXPECT_THROW(without_failed(whole, {{}, 22, 1}, "test"), ConfigError);
}

TEST(HyperX, JoinsRoutersThatDifferInOneCoordinate) {
  const std::vector<u32> shape{3, 2, 4};
  const Topology t = network(hyperx(shape, 2), 2);
  ASSERT_EQ(t.routers, 24u);
  EXPECT_EQ(t.terminals, 48u);
  for (u32 a = 0; a < t.routers; ++a)
    for (u32 b = 0; b < t.routers; ++b) {
      const bool differs[] = {a % 3 != b % 3, a / 3 % 2 != b / 3 % 2, a / 6 != b / 6};
      const u32 different = differs[0] + differs[1] + differs[2];
      const std::vector<u32> list = neighbours(t, a);
      EXPECT_EQ(std::count(list.begin(), list.end(), b), different == 1 ? 2 : 0) << a << " " << b;
    }
}

TEST(FullMesh, JoinsAllRouters) {
  const Topology t = network(full_mesh(9), 3);
  EXPECT_EQ(degrees(t), (Degrees{{8, 9}}));
  EXPECT_EQ(t.channels, 72u);
}

TEST(Dragonfly, JoinsAllGroupsEquallyOften) {
  for (Arrangement arrangement :
       {Arrangement::kAbsolute, Arrangement::kRelative, Arrangement::kPalmTree, Arrangement::kCirculant})
    for (const auto& [groups, routers, global] : {std::tuple{9u, 4u, 2u}, {5u, 4u, 2u}, {3u, 4u, 2u}, {3u, 2u, 4u}}) {
      const Topology t = network(dragonfly({groups, routers, global, arrangement}), 2);
      std::map<std::pair<u32, u32>, u32> between;
      for (u32 r = 0; r < t.routers; ++r) {
        u32 global_links = 0;
        std::set<u32> local;
        for (u32 next : neighbours(t, r)) {
          if (next / routers == r / routers) {
            local.insert(next);
            continue;
          }
          ++global_links;
          ++between[{r / routers, next / routers}];
          if (arrangement == Arrangement::kCirculant) {
            EXPECT_EQ(r % routers, next % routers);
          }
        }
        EXPECT_EQ(global_links, global);
        EXPECT_EQ(local.size(), routers - 1);
      }
      EXPECT_EQ(between.size(), groups * (groups - 1));
      for (const auto& [pair, count] : between) EXPECT_EQ(count, routers * global / (groups - 1));
    }
}

/// Figures of the arrangements for 5 groups of 2 routers with 2 global channels each: the group at the end of each
/// channel of group 1, in the order of the channels.
TEST(Dragonfly, ArrangesGlobalChannelsAsDocumented) {
  const auto groups_of = [](Arrangement arrangement) {
    const Topology t = network(dragonfly({5, 2, 2, arrangement}));
    std::vector<std::multiset<u32>> ends;  // of each router of group 1
    for (u32 r : {2u, 3u}) {
      ends.emplace_back();
      for (u32 next : neighbours(t, r))
        if (next / 2 != 1) ends.back().insert(next / 2);
    }
    return ends;
  };
  using Ends = std::vector<std::multiset<u32>>;
  EXPECT_EQ(groups_of(Arrangement::kAbsolute), (Ends{{0, 2}, {3, 4}}));
  EXPECT_EQ(groups_of(Arrangement::kRelative), (Ends{{2, 3}, {4, 0}}));
  EXPECT_EQ(groups_of(Arrangement::kPalmTree), (Ends{{0, 4}, {3, 2}}));
  EXPECT_EQ(groups_of(Arrangement::kCirculant), (Ends{{2, 0}, {3, 4}}));
}

TEST(Dragonfly, NamesTheNumbersOfGroupsThatFit) {
  EXPECT_EQ(misfit({9, 4, 2, Arrangement::kAbsolute}), "");
  const std::string text = misfit({7, 4, 2, Arrangement::kAbsolute});
  EXPECT_NE(text.find("8 global channels"), std::string::npos) << text;
  EXPECT_NE(text.find("5 or 9"), std::string::npos) << text;
  EXPECT_NE(misfit({10, 4, 2, Arrangement::kRelative}).find("fits is 9."), std::string::npos);
  EXPECT_NE(misfit({9, 8, 1, Arrangement::kCirculant}).find("even"), std::string::npos);
}

TEST(Megafly, HasTerminalsAtLeavesAndGlobalChannelsAtSpines) {
  const Topology t = network(megafly({9, 4, 2, Arrangement::kRelative}), 3);
  EXPECT_EQ(t.routers, 72u);
  EXPECT_EQ(t.terminals, 108u);
  for (u32 leaf = 0; leaf < 36; ++leaf) {
    const u32 first = 36 + leaf / 4 * 4;
    EXPECT_EQ(neighbours(t, leaf), (std::vector<u32>{first, first + 1, first + 2, first + 3}));
    EXPECT_EQ(t.group[leaf], leaf / 4);
  }
  std::set<std::pair<u32, u32>> between;
  for (u32 spine = 36; spine < 72; ++spine) {
    EXPECT_EQ(neighbours(t, spine).size(), 6u);
    for (u32 next : neighbours(t, spine))
      if (t.group[next] != t.group[spine]) {
        between.insert({t.group[spine], t.group[next]});
        EXPECT_GE(next, 36u);
      }
  }
  EXPECT_EQ(between.size(), 72u);
}

TEST(Jellyfish, IsRegularAndFollowsItsSeed) {
  for (u32 seed = 0; seed < 5; ++seed) EXPECT_EQ(degrees(network(jellyfish(20, 5, seed))), (Degrees{{5, 20}}));
  const auto edges = [](u64 seed) {
    std::set<std::pair<u32, u32>> set;
    for (const Link& link : jellyfish(20, 3, seed).links) set.insert({link.a, link.b});
    return set;
  };
  EXPECT_EQ(edges(1), edges(1));
  EXPECT_NE(edges(1), edges(2));
  EXPECT_EQ(degrees(network(jellyfish(5, 4, 1))), (Degrees{{4, 5}}));  // only the full mesh is left
  for (u32 degree : {60u, 61u, 62u}) EXPECT_EQ(degrees(network(jellyfish(64, degree, 1), 1)), (Degrees{{degree, 64}}));
  EXPECT_EQ(degrees(network(jellyfish(6, 2, 9))), (Degrees{{2, 6}}));
}

/// A k-ary n-tree has n k^(n-1) routers of radix 2k, and k^(n-1) routes between leaves of different halves.
TEST(FatTree, OfEqualNumbersIsAKAryNTree) {
  for (u32 k : {2u, 3u, 4u}) {
    const Topology t = network(fat_tree({k, k}, {k, k}), k);
    EXPECT_EQ(t.routers, 3 * k * k);
    EXPECT_EQ(t.terminals, k * k * k);
    EXPECT_EQ(degrees(t), (Degrees{{k, 2 * k * k}, {2 * k, k * k}}));
    // Leaves 0 to k-1 share their parents, and every leaf reaches every top router on exactly one way up.
    for (u32 leaf = 0; leaf < k * k; ++leaf) {
      std::map<u32, u32> ways;
      for (u32 parent : neighbours(t, leaf))
        for (u32 top : neighbours(t, parent))
          if (top >= 2 * k * k) ++ways[top];
      EXPECT_EQ(ways.size(), k * k);
      for (const auto& [top, count] : ways) EXPECT_EQ(count, 1u);
      EXPECT_EQ(hops_from(t, leaf)[leaf / k * k + (leaf + 1) % k], k > 1 ? 2u : 0u);
      EXPECT_EQ(hops_from(t, leaf)[(leaf + k) % (k * k)], 4u);
    }
  }
}

TEST(FatTree, TapersWhereItHasFewerParents) {
  // Two levels above 8 leaves: 4 children and 2 parents, then 2 children and 1 parent.
  const Topology t = network(fat_tree({4, 2}, {2, 1}), 4);
  EXPECT_EQ(t.routers, 8u + 4 + 2);
  EXPECT_EQ(t.terminals, 32u);
  EXPECT_EQ(neighbours(t, 0).size(), 2u);
  EXPECT_EQ(neighbours(t, 8).size(), 5u);
  EXPECT_EQ(neighbours(t, 12).size(), 2u);
}

TEST(Networks, RejectMoreThan64Ports) {
  EXPECT_NO_THROW(make_network(full_mesh(64), "test"));
  try {
    make_network(full_mesh(66), "topology.kind = \"full_mesh\"");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("router 0 has 65 channels; at most 63 are supported beside 1 terminal."),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace flitlab::topology_families_test
