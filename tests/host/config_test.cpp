/// What is wrong with a configuration is said in one message: path, value, what is allowed, the fix.
#include <gtest/gtest.h>

#include "host/config/cross_checks.hpp"
#include "host/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab {
namespace {

using testing::experiment;
using testing::integer;
using testing::word;

struct Wrong {
  const char* name;
  RawConfig changes;
  std::vector<std::string> said;
};

class BadInput : public ::testing::TestWithParam<Wrong> {};

TEST_P(BadInput, IsNamedWithAFix) {
  try {
    const Experiment e = experiment(GetParam().changes);
    make_plan(e);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    for (const std::string& part : GetParam().said) EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInput,
    ::testing::Values(
        Wrong{"unknown", {{"router.vc", integer(4)}}, {"router.vc = 4", "did you mean router.vcs"}},
        Wrong{"wrong_section", {{"network.load", 0.5}}, {"network.load = 0.5", "traffic.load"}},
        Wrong{"type", {{"router.vcs", word("four")}}, {"router.vcs = \"four\"", "integer", "e.g. 4"}},
        Wrong{"float_for_int", {{"router.vcs", 4.5}}, {"router.vcs = 4.5", "wrong type", "integer"}},
        Wrong{"range", {{"router.vcs", integer(99)}}, {"router.vcs = 99", "1 to 16"}},
        Wrong{"load", {{"traffic.load", 1.5}}, {"traffic.load = 1.5", "0 to 1 flits/cycle/terminal"}},
        Wrong{"choice", {{"traffic.pattern", word("tornadoo")}}, {"\"tornadoo\"", "did you mean \"tornado\"", "uniform"}},
        Wrong{"zero_radix", {{"topology.shape", IntList{4, 0}}}, {"topology.shape = [4, 0]", "1 to 65535"}},
        Wrong{"negative_radix", {{"topology.shape", IntList{-4, 4}}}, {"topology.shape = [-4, 4]", "1 to 65535"}},
        Wrong{"no_shape", {{"topology.shape", IntList{}}}, {"topology.shape", "empty"}},
        Wrong{"too_many_routers", {{"topology.shape", IntList{4096, 4096, 4096}}}, {"topology.shape", "16777216"}},
        Wrong{"power_of_two",
              {{"topology.shape", IntList{3, 3}}, {"traffic.pattern", word("bit_reverse")}},
              {"traffic.pattern = \"bit_reverse\"", "power-of-two", "9"}},
        Wrong{"few_vcs", {{"router.vcs", integer(1)}}, {"router.vcs = 1", "at least 2", "deadlock"}},
        Wrong{"valiant", {{"router.vcs", integer(3)}, {"routing.algorithm", word("valiant")}}, {"at least 4"}},
        Wrong{"elsewhere", {{"traffic.hot_fraction", 0.5}}, {"traffic.hot_fraction", "traffic.pattern=hot_spot"}},
        Wrong{"o1turn", {{"routing.algorithm", word("o1turn")}}, {"o1turn", "mesh of two dimensions"}},
        Wrong{"table", {{"routing.algorithm", word("table")}}, {"routing.algorithm = \"table\"", "graphs"}},
        Wrong{"buffer",
              {{"router.flow_control", word("store_and_forward")}, {"traffic.packet_flits", integer(9)}},
              {"router.buffer_flits = 8", "9 flits"}},
        Wrong{"graph", {{"topology.kind", word("graph")}}, {"topology.file"}},
        Wrong{"no_file",
              {{"topology.kind", word("graph")}, {"topology.file", word("nowhere.csv")}},
              {"topology.file", "nowhere.csv", "cannot be read"}},
        Wrong{"hot", {{"traffic.pattern", word("hot_spot")}, {"traffic.hot_terminals", IntList{16}}}, {"16", "0 to 15"}},
        Wrong{"weights", {{"traffic.packet_flits", Lengths{{1, -1.0}}}}, {"traffic.packet_flits", "negative"}},
        Wrong{"burst",
              {{"traffic.injection", word("on_off")}, {"traffic.load", 0.6}},
              {"traffic.load = 0.6", "traffic.burst_load = 0.5"}}),
    [](const auto& p) { return p.param.name; });

TEST(Defaults, AreResolvedAndListed) {
  const Experiment e = experiment();
  EXPECT_EQ(e.u32_of("router.vcs"), 4u);
  EXPECT_EQ(e.str("traffic.pattern"), "uniform");
  EXPECT_EQ(mean_packet(e), 4.0);
  EXPECT_FALSE(e.has("traffic.hot_fraction"));
  EXPECT_TRUE(e.is_auto("run.warmup_cycles"));
}

TEST(StructureKey, IgnoresLoadAndSeedOnly) {
  const std::string key = experiment().structure_key();
  EXPECT_EQ(experiment({{"traffic.load", 0.7}, {"run.seed", integer(9)}}).structure_key(), key);
  EXPECT_NE(experiment({{"router.vcs", integer(8)}}).structure_key(), key);
}

}  // namespace
}  // namespace flitlab
