/// METRO networks, traces and faults that flitlab rejects; and randomly drawn faults.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/routers/metro/faults.hpp"
#include "host/routers/metro/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/metro/config.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::metro_checks_test {
namespace {

using namespace testing;
using testing::metro_config::error_of;
using testing::metro_config::metro;

TEST(MetroChecks, BadInputIsRejected) {
  const std::vector<std::pair<RawConfig, const char*>> cases{
      {Settings("topology.radix=[3,4]"), "topology.radix: 3 is not a power of two"},
      {Settings("topology.dilation=[3,1]"), "topology.dilation: 3 is not a power of two"},
      {Settings("topology.radix=[4,4,4]"), "one of each per stage"},
      {Settings("router.max_dilation=1"), "router.max_dilation = 1: the network needs routers of dilation 2"},
      {Settings("router.max_dilation=16"), "router.max_dilation = 16 is more than the 8 backward ports"},
      {Settings("topology.dilation=[2,4] topology.links=1"), "do not fill routers of 16 ports"},
      {Settings("router.max_dilation=3"), "router.max_dilation: 3 is not a power of two"},
      {Settings("router.width=2"), "router.width = 2 bits cannot name one of 8 backward ports"},
      {Settings("topology.wire_delay=3 router.max_turn_delay=2"),
       "router.max_turn_delay = 2: the network has a wire of 3 stages"},
      {Settings("traffic.packet_flits=[[3,1.0]]"), "a message of 3 words is too short"},
      {Settings("traffic.mode=request_reply traffic.window=4"), "traffic.window = 4"},
      {Settings("traffic.pattern=hot_spot traffic.hot_terminals=[16]"), "traffic.hot_terminals contains 16"},
      {Settings("router.detailed_stages=[2]"), "router.detailed_stages contains 2"},
      {Settings("topology.kind=file"), "needs topology.file"},
      {Settings("endpoint.stalls=true traffic.mode=batch"), "endpoint.stalls = true applies to"},
      {Settings("endpoint.think_cycles=5"),
       "endpoint.think_cycles = 5: in traffic.mode = \"open\" only processors that stall have a time to work"},
      {Settings("endpoint.think_cycles=0 traffic.mode=batch"),
       "endpoint.think_cycles = 0: in traffic.mode = \"batch\""},
      {Settings("endpoint.think_cycles=-1 endpoint.stalls=true"), "endpoint.think_cycles = -1"},
      {Settings("endpoint.think_cycles=1000001 endpoint.stalls=true"), "endpoint.think_cycles = 1000001"},
      {Settings("router.header_straddles=1"), "router.header_straddles"},
      {Settings("router.header_straddles=false topology.kind=fat_tree"),
       "it belongs to topology.kind = \"multibutterfly\", and topology.kind is \"fat_tree\""},
      {Settings("topology.kind=fat_tree topology.arity=3"), "topology.arity: 3 is not a power of two"},
      {Settings("topology.kind=fat_tree topology.links=1"), "do not fill routers of topology.ports = 8"},
      {Settings("faults.dead_routers=0.9"), "can be dead without cutting off an endpoint"},
      {Settings("traffic.mode=broadcast"), "broadcast"},
  };
  for (const auto& [changes, message] : cases) {
    const std::string error = error_of(changes);
    EXPECT_NE(error.find(message), std::string::npos) << message << ": " << error;
  }
}

/// Routers from a file must also be within the limits of METRO, Table 1.
TEST(MetroChecks, RoutersOfAFileAreThoseOfTable1) {
  const TextFile file(
      "router,a,4,4,2\nwire,e0.0,a.0\nwire,e1.0,a.1\nwire,e2.0,a.2\nwire,e3.0,a.3,9\n"
      "wire,a.0.0,e0.0\nwire,a.0.1,e0.1\nwire,a.1.0,e1.0\nwire,a.1.1,e1.1\n"
      "wire,a.2.0,e2.0\nwire,a.2.1,e2.1\nwire,a.3.0,e3.0\nwire,a.3.1,e3.1\n");
  const std::vector<std::pair<RawConfig, const char*>> cases{
      {{}, ""},
      {Settings("router.width=2"), "router.width = 2 bits cannot name one of 8 backward ports, as router a has"},
      {Settings("router.max_dilation=1"), "the network needs routers of dilation 2"},
      {Settings("router.max_turn_delay=8"), "the network has a wire of 9 stages"}};
  for (auto [changes, message] : cases) {
    changes.merge(Settings("topology.kind=file topology.file=", file.path));
    const std::string error = error_of(changes);
    if (*message)
      EXPECT_NE(error.find(message), std::string::npos) << message << ": " << error;
    else
      EXPECT_EQ(error, "");
  }
}

/// A fault that has been repaired separates no endpoint.
TEST(MetroFaultFile, JudgesWhatIsLeftInTheEnd) {
  const TextFile apart("10,dead,e0.0\n20,repair,e0.0\n30,dead,e0.1\n40,repair,e0.1\n");
  EXPECT_EQ(error_of(Settings("faults.file=", apart.path)), "");
  const TextFile unsorted("40,repair,e0.1\n30,dead,e0.1\n20,dead,e0.0\n");
  EXPECT_EQ(error_of(Settings("faults.file=", unsorted.path)), "");
  const TextFile last("10,dead,e0.0\n20,repair,e0.0\n30,dead,e0.1\n40,dead,e0.0\n");
  EXPECT_NE(error_of(Settings("faults.file=", last.path)).find("no path from endpoint 0"), std::string::npos);
}

TEST(MetroChecks, ATraceNamesOnlyExistingEndpoints) {
  for (const auto& [line, message] :
       {std::pair{"0,0,16,20\n", "terminals are numbered 0 to 15"}, std::pair{"0,0,1,3\n", "must have 4 to 4095 flits"},
        std::pair{"0,0,1,20\n1,1,0,20,0\n", "cannot identify the packet that has arrived"}}) {
    const TextFile trace(line);
    RawConfig c = metro(Settings("traffic.mode=trace traffic.trace_file=", trace.path));
    c.erase("traffic.packet_flits");
    try {
      testing::Network net(experiment(c));
      net.step(10);
      FAIL() << line;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  }
}

TEST(MetroFaultFile, MistakesAreNamedWithTheirLine) {
  for (const auto& [line, message] :
       {std::pair{"0,dead,9.9\n", "is not a router, a port or an endpoint's link"},
        std::pair{"0,dead,0.0.9\n", "has no such port"}, std::pair{"0,stuck1,0.0\n", "name a port"},
        std::pair{"0,stuck1,0.0.1.0,11\n", "bit"}, std::pair{"0,noise,0.0.1.0,2\n", "a fraction from 0 to 1"},
        std::pair{"0,deed,0.0\n", ":1: \"0,deed,0.0\": unknown event \"deed\": did you mean dead?"},
        std::pair{"0,melt,0.0\n", "Events are dead, repair, stuck0"},
        std::pair{"0,on,e0.0\n5,dead,0.0,0.5\n",
                  ":2: \"5,dead,0.0,0.5\": field 4, \"0.5\", is one too many: the line is cycle,dead,ROUTER or PORT."},
        std::pair{"0,noise,0.0.1.0,0.5,1\n", "field 5, \"1\", is one too many: the line is cycle,noise,PORT,part."},
        std::pair{"0,stuck1,0.0.1.0,1,\n", "field 5, \"\", is one too many"}, std::pair{"x,dead,0.0\n", "cycle"},
        std::pair{"0,dead,0.0:1\n", "cascaded routers are numbered 0 to 0"},
        std::pair{"0,dead,e0.0\n0,dead,e0.1\n", "no path from endpoint 0"}}) {
    const TextFile faults(line);
    const std::string error = error_of(Settings("faults.file=", faults.path));
    EXPECT_NE(error.find(message), std::string::npos) << line << ": " << error;
    EXPECT_NE(error.find("faults.file"), std::string::npos) << error;
  }
}

/// flitlab draws the requested number of faults, different ones for another seed. All endpoints remain connected.
TEST(MetroFaultDraw, HasTheRequestedSize) {
  std::set<std::set<u32>> draws;
  for (int seed : {1, 2, 3}) {
    const Experiment e = experiment(metro(
        Settings("topology.radix=[4,4,4] topology.dilation=[2,2,1] faults.dead_routers=0.125 faults.seed=", seed)));
    const MetroNetwork n = make_metro_network(e);
    std::set<u32> dead;
    std::vector<bool> routers(n.routers());
    for (const MetroFault& f : make_metro_faults(e, n, 1).list) {
      EXPECT_EQ(f.what, MetroFault::What::kDeadRouter);
      dead.insert(f.item);
      routers[f.item] = true;
    }
    EXPECT_EQ(dead.size(), n.routers() / 8);
    EXPECT_TRUE(metro_connected(n, routers, std::vector<bool>(n.wires.size())));
    draws.insert(dead);
  }
  EXPECT_EQ(draws.size(), 3u);
}

}  // namespace
}  // namespace flitlab::metro_checks_test
