/// METRO networks, generated and from files, and the headers that route messages through them.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/metro/config.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::metro_network_test {
namespace {

using namespace testing;
using testing::metro_config::error_of;
using testing::metro_config::metro;

/// Checks that both ends of every wire name each other.
void expect_whole(const MetroNetwork& n) {
  std::set<std::pair<u32, u32>> taken;
  for (u32 t = 0; t < n.terminals; ++t)
    for (u32 l = 0; l < n.links; ++l) {
      const metro::Wire &out = n.leaving(t, l), &in = n.entering(t, l);
      ASSERT_NE(out.item, kNone);
      ASSERT_NE(in.item, kNone);
      EXPECT_TRUE(taken.insert({out.item, out.port}).second);
      EXPECT_EQ(n.wire(out.item, out.port).item, t);
      EXPECT_EQ(n.wire(out.item, out.port).port, l);
      EXPECT_EQ(n.wire(in.item, in.port).item, t);
      EXPECT_EQ(n.wire(in.item, in.port).port, n.links + l);
    }
  for (u32 r = 0; r < n.routers(); ++r)
    for (u32 q = 0; q < n.setup[r].backward; ++q) {
      const metro::Wire& wire = n.wire(r, n.inputs + q);
      ASSERT_NE(wire.item, kNone) << n.backward_name(r, q);
      if (wire.to_endpoint) continue;
      EXPECT_TRUE(taken.insert({wire.item, wire.port}).second);
      EXPECT_EQ(n.wire(wire.item, wire.port).item, r);
      EXPECT_EQ(n.wire(wire.item, wire.port).port, n.inputs + q);
    }
  for (u32 r = 0; r < n.routers(); ++r)
    for (u32 p = 0; p < n.setup[r].forward; ++p) EXPECT_TRUE(taken.count({r, p})) << n.names[r] << " " << p;
}

/// Checks that a header's directions lead only to its destination, whichever of the equivalent ports routers choose.
void expect_routed(const MetroNetwork& n) {
  for (u32 s = 0; s < n.terminals; ++s)
    for (u32 d = 0; d < n.terminals; ++d) {
      const std::vector<u32> directions = metro_directions(n, s, d);
      ASSERT_FALSE(directions.empty()) << s << " " << d;
      std::set<u32> reached;
      for (u32 l = 0; l < n.links; ++l) reached.insert(n.leaving(s, l).item);
      for (u32 i = 0; i < directions.size(); ++i) {
        std::set<u32> next;
        for (u32 r : reached)
          for (u32 k = 0; k < 1u << n.setup[r].log_dilation; ++k) {
            const metro::Wire& wire = n.wire(r, n.inputs + (directions[i] << n.setup[r].log_dilation) + k);
            EXPECT_EQ(bool(wire.to_endpoint), i + 1 == directions.size());
            if (wire.to_endpoint)
              EXPECT_EQ(wire.item, d);
            else
              next.insert(wire.item);
          }
        reached = next;
      }
    }
}

TEST(MetroNetworks, MultibutterfliesAreWiredThrough) {
  const std::vector<std::pair<IntList, IntList>> shapes{
      {{2, 2, 4}, {2, 2, 1}},       {{4, 4}, {2, 1}}, {{4, 4}, {1, 1}},
      {{2, 2, 2, 2}, {2, 2, 2, 1}}, {{8}, {1}},       {{2, 8}, {4, 1}}};
  for (const auto& [radix, dilation] : shapes)
    for (const char* wiring : {"random", "regular"})
      for (int links : {1, 2, 4}) {
        RawConfig c = metro(Settings("topology.radix=", radix, " topology.dilation=", dilation,
                                     " topology.links=", links, " topology.wiring=", wiring));
        Experiment e;
        try {
          e = experiment(c);
        } catch (const ConfigError&) {
          continue;  // this number of links does not fill the routers
        }
        const MetroNetwork n = make_metro_network(e);
        expect_whole(n);
        expect_routed(n);
      }
}

TEST(MetroNetworks, EqualPortsLeadToDifferentRouters) {
  for (const char* wiring : {"random", "regular"}) {
    const MetroNetwork n = make_metro_network(
        experiment(metro(Settings("topology.radix=[4,4,4] topology.dilation=[2,2,1] topology.wiring=", wiring))));
    for (u32 r = 0; r < n.routers(); ++r) {
      if (!n.setup[r].log_dilation) continue;
      for (u32 q = 0; q < n.setup[r].backward; q += 2)
        EXPECT_NE(n.wire(r, n.inputs + q).item, n.wire(r, n.inputs + q + 1).item) << n.backward_name(r, q);
    }
    for (u32 t = 0; t < n.terminals; ++t) {
      EXPECT_NE(n.leaving(t, 0).item, n.leaving(t, 1).item);
      EXPECT_NE(n.entering(t, 0).item, n.entering(t, 1).item);
    }
  }
}

/// METRO, Figure 1: 16 endpoints and eight routers per stage. No loss of a router of the last stage, and no loss of a
/// link, separates an endpoint.
TEST(MetroNetworks, Figure1SurvivesAnyLossBehindItsFirstStages) {
  const MetroNetwork n =
      make_metro_network(experiment(metro(Settings("topology.radix=[2,2,4] topology.dilation=[2,2,1]"))));
  ASSERT_EQ(n.terminals, 16u);
  ASSERT_EQ(n.routers(), 24u);
  const std::vector<bool> no_routers(n.routers()), no_ports(n.wires.size());
  EXPECT_TRUE(metro_connected(n, no_routers, no_ports));
  for (u32 r = 0; r < n.routers(); ++r) {
    std::vector<bool> dead = no_routers;
    dead[r] = true;
    EXPECT_TRUE(metro_connected(n, dead, no_ports)) << n.names[r];
  }
  for (u32 r = 0; r < n.routers(); ++r)
    for (u32 p = 0; p < n.ports(); ++p) {
      if (n.wire(r, p).item == kNone) continue;
      std::vector<bool> dead = no_ports;
      dead[std::size_t{r} * n.ports() + p] = true;
      EXPECT_TRUE(metro_connected(n, no_routers, dead)) << n.names[r] << " " << p;
    }
  std::vector<bool> both = no_routers;  // without the two last-stage routers of endpoint 0
  both[n.entering(0, 0).item] = both[n.entering(0, 1).item] = true;
  EXPECT_FALSE(metro_connected(n, both, no_ports));
}

TEST(MetroNetworks, FatTreesAreWiredThrough) {
  for (int levels : {1, 2, 3})
    for (const char* wiring : {"random", "regular"}) {
      const MetroNetwork n = make_metro_network(
          experiment(metro(Settings("topology.kind=fat_tree topology.levels=", levels, " topology.wiring=", wiring))));
      EXPECT_EQ(n.terminals, 1u << 2 * levels);
      expect_whole(n);
      expect_routed(n);
      EXPECT_EQ(metro_directions(n, 0, 1).size(), levels == 1 ? 1u : 2u);  // up and across (or to the root), then down
      EXPECT_EQ(metro_directions(n, 0, n.terminals - 1).size(), 2u * levels - 1);
    }
}

/// METRO, Table 4, hbits. In words of 4 bits, headers for the radices 2, 2, 2, 4 take two words and those for 4, 8 take
/// two; in words of 8 bits one. If the bits of a stage must be in one word, 2, 3 and 3 bits in words of 4 take one word
/// more than if they may straddle two.
TEST(MetroRoutesTest, HeadersHaveTheLengthsOfTable4) {
  const auto words = [](IntList radix, IntList dilation, u32 width, u32 header_words, bool straddles = true) {
    MetroNetwork n =
        make_metro_network(experiment(metro(Settings("topology.radix=", radix, " topology.dilation=", dilation))));
    const MetroRoutes routes = make_metro_routes(n, width, header_words, straddles);
    for (u32 d = 0; d < n.terminals; ++d) EXPECT_EQ(routes.start[d + 1] - routes.start[d], routes.start[1]);
    return routes.start[1];
  };
  EXPECT_EQ(words({2, 2, 2, 4}, {2, 2, 2, 1}, 4, 0), 2u);
  EXPECT_EQ(words({4, 8}, {2, 1}, 4, 0), 2u);
  EXPECT_EQ(words({2, 2, 2, 4}, {2, 2, 2, 1}, 8, 0), 1u);
  EXPECT_EQ(words({4, 4, 4}, {2, 2, 1}, 8, 0), 1u);
  EXPECT_EQ(words({2, 2, 2, 4}, {2, 2, 2, 1}, 4, 1), 4u);
  EXPECT_EQ(words({4, 8}, {2, 1}, 4, 2), 4u);
  EXPECT_EQ(words({4, 8, 8}, {2, 2, 1}, 4, 0), 2u);
  EXPECT_EQ(words({4, 8, 8}, {2, 2, 1}, 4, 0, false), 3u);
  EXPECT_EQ(words({4, 8, 8}, {2, 2, 1}, 4, 1), 3u);
  EXPECT_EQ(words({4, 4, 4, 4, 4}, {2, 2, 2, 2, 1}, 3, 0), 4u);
}

/// Radices 4, 8 and 8 in words of 4 bits. The header to endpoint 2, 5, 3 has the bits 10, 101 and 011: words 1010 and
/// 1011. The second router needs one bit of the second word. The third finds all of its bits there; as they are the
/// last ones, it removes the word. If straddling does not shorten the header, as with radices 4 and 8, no bits straddle
/// words.
TEST(MetroRoutesTest, BitsStraddleWordsWhereTheHeaderIsShorterForIt) {
  MetroNetwork n = make_metro_network(experiment(metro(Settings("topology.radix=[4,8,8] topology.dilation=[2,2,1]"))));
  const MetroRoutes routes = make_metro_routes(n, 4, 0, true);
  const u32 to = (2 * 8 + 5) * 8 + 3;
  EXPECT_EQ(routes.words[routes.start[to]], 0b1010);
  EXPECT_EQ(routes.words[routes.start[to] + 1], 0b1011);
  for (const metro::RouterSetup& setup : n.setup) {
    EXPECT_EQ(setup.header_bits, std::vector<u32>({4, 2, 3})[setup.stage]);
    EXPECT_EQ(setup.swallow != 0, setup.stage == 2);
  }
  for (u32 s = 0; s < 3; ++s) {
    EXPECT_EQ(routes.deciding_word[s], s == 0 ? 0u : 1u);
    EXPECT_EQ(routes.first_word[s], s == 0 ? 1u : 2u);
  }
  MetroNetwork two = make_metro_network(experiment(metro(Settings("topology.radix=[4,8] topology.dilation=[2,1]"))));
  make_metro_routes(two, 4, 0, true);
  for (const metro::RouterSetup& setup : two.setup) {
    EXPECT_EQ(setup.header_bits, 4);
    EXPECT_NE(setup.swallow, 0u);
  }
}

constexpr const char* kSmall =
    "# two routers, four endpoints\n"
    "router,a,2,2,1\nrouter,b,2,2,1\nrouter,c,2,2,1\nrouter,d,2,2,1\n"
    "wire,e0.0,a.0\nwire,e1.0,a.1\nwire,e2.0,b.0\nwire,e3.0,b.1\n"
    "wire,a.0.0,c.0,1\nwire,a.1.0,d.0,1\nwire,b.0.0,c.1,2\nwire,b.1.0,d.1,2\n"
    "wire,c.0.0,e0.0\nwire,c.1.0,e1.0\nwire,d.0.0,e2.0\nwire,d.1.0,e3.0\n";

RawConfig from_file(const TextFile& file) { return Settings("topology.kind=file topology.file=", file.path); }

TEST(MetroFile, IsReadAndRun) {
  const TextFile file(kSmall);
  const MetroNetwork n = make_metro_network(experiment(metro(from_file(file))));
  EXPECT_EQ(n.terminals, 4u);
  EXPECT_EQ(n.routers(), 4u);
  EXPECT_EQ(n.wire(1, n.inputs).delay, 2);
  expect_whole(n);
  expect_routed(n);
  RawConfig c = metro(from_file(file));
  set(c, "traffic.mode=batch traffic.batch_packets=50");
  testing::Network net(experiment(c));
  net.step(20000);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 200u);
  check_conservation(*net.engine, *net.plan, 0);
}

std::string error_of_file(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const TextFile file(text);
  return error_of(from_file(file));
}

TEST(MetroFile, MistakesAreNamedWithTheirLine) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases{
      {"wire,d.1.0,e3.0\n", "", "backward port d.1.0 is dangling"},
      {"wire,e3.0,b.1\n", "", "forward port b.1 is dangling"},
      {"wire,e1.0,a.1", "wire,e1.0,a.0", ":7: \"wire,e1.0,a.0\": e1.0 to a.0: the second end has a wire already"},
      {"wire,a.1.0,d.0", "wire,a.0.0,d.0", "the first end has a wire already"},
      {"wire,c.0.0,e0.0", "wire,c.2.0,e0.0", "direction from 0 to 1"},
      {"wire,c.0.0,e0.0", "wire,x.0.0,e0.0", "no router of that name"},
      {"router,d,2,2,1", "router,a,2,2,1", "router \"a\" is there twice"},
      {"router,d,2,2,1", "router,d,3,2,1", "forward ports = 3 must be a power of two"},
      {"router,d,2,2,1", "router,d,2,3,1", "radix = 3 must be a power of two"},
      {"router,d,2,2,1", "router,d.1,2,2,1", "name has no dots"},
      {"wire,e0.0,a.0", "wire,e9.0,a.0", "endpoint e0 has no wire into the network"},
      {"wire,e0.0,a.0", "wirre,e0.0,a.0", "did you mean wire? A line is router,NAME,forward ports,radix,dilation or"},
      {"router,d,2,2,1", "router,d,2,2,1,4",
       ":5: \"router,d,2,2,1,4\": field 6, \"4\", is one too many: the line is router,NAME,forward "
       "ports,radix,dilation."},
      {"wire,a.0.0,c.0,1", "wire,a.0.0,c.0,1,x", "field 5, \"x\", is one too many: the line is wire,FROM,TO[,delay]."},
      {"wire,a.0.0,c.0,1", "wire,a.0.0,c.0,99", "delay"},
  };
  for (const auto& [from, to, message] : cases) {
    const std::string error = error_of_file(from, to);
    EXPECT_NE(error.find(message), std::string::npos) << from << " -> " << to << ": " << error;
    EXPECT_NE(error.find("topology.file"), std::string::npos) << error;
  }
  // The endpoint names are not distinct: both directions of router d lead to the same endpoint.
  const TextFile file(
      "router,a,1,2,1\nwire,e0.0,a.0\nwire,a.0.0,e0.0\nwire,a.1.0,e1.0\nrouter,b,1,2,1\nwire,e1.0,b.0\n"
      "wire,b.0.0,e1.1\nwire,b.1.0,e1.2\n");
  EXPECT_NE(error_of(from_file(file)).find("no path leads from endpoint 1 to endpoint 0"), std::string::npos);
}

/// Equivalent ports must lead to routers that read the same header bits.
TEST(MetroFile, EqualPortsLeadToEqualRadices) {
  const TextFile file(
      "router,a,2,2,2\nrouter,b,2,2,1\nrouter,c,2,4,1\nwire,e0.0,a.0\nwire,e1.0,a.1\n"
      "wire,a.0.0,b.0\nwire,a.0.1,c.0\nwire,a.1.0,b.1\nwire,a.1.1,c.1\n"
      "wire,b.0.0,e0.0\nwire,b.1.0,e1.0\nwire,c.0.0,e0.1\nwire,c.1.0,e1.1\nwire,c.2.0,e0.2\nwire,c.3.0,e1.2\n");
  EXPECT_NE(error_of(from_file(file)).find("no path leads from endpoint 0 to endpoint 0"), std::string::npos);
}

}  // namespace
}  // namespace flitlab::metro_network_test
