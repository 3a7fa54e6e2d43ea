/// Error messages about configurations: each names the path, the value, the allowed values and the fix.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <memory>

#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/config/run_params.hpp"
#include "host/config/text_source.hpp"
#include "host/config/topology_params.hpp"
#include "host/routers/vc/plan.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/vc/params.hpp"
#include "kernels/traffic/params.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::config_config_test {
namespace {

using namespace testing;

struct Wrong {
  const char* name;
  RawConfig changes;
  std::vector<std::string> parts;
};

/// A name is suggested only if it resembles the input.
TEST(Nearest, NeedsALikeness) {
  const std::vector<std::string> kinds{"mesh", "torus", "ring", "hypercube", "graph"};
  EXPECT_EQ(nearest("torsu", kinds), "torus");
  EXPECT_EQ(nearest("Tor", kinds), "torus");
  EXPECT_EQ(nearest("hyper", kinds), "hypercube");
  EXPECT_EQ(nearest("mesh3d", kinds), "mesh");
  for (const char* word : {"dragonfly", "fat_tree", "clos", "xyz", "m", ""})
    EXPECT_EQ(nearest(word, kinds), "") << word;
}

TEST(Nearest, PathGoesByItsName) {
  const std::vector<std::string> paths{"router.vcs", "traffic.load", "traffic.mode", "topology.shape"};
  EXPECT_EQ(nearest("traffic.laod", paths), "traffic.load");
  EXPECT_EQ(nearest("load", paths), "traffic.load");
  EXPECT_EQ(nearest("network.load", paths), "traffic.load");
  EXPECT_EQ(nearest("trafic.load", paths), "traffic.load");
  for (const char* path : {"traffic.priority", "router.stages", "traffic"}) EXPECT_EQ(nearest(path, paths), "");
}

/// Editors may put a byte-order mark in front of UTF-8 text; flitlab skips it.
TEST(Text, MayBeginWithAByteOrderMark) {
  const auto read = [](std::string text) {
    const auto owner = std::make_shared<const std::string>(std::move(text));
    const auto in = TextSource("x.csv", {owner, *owner}).open("some.file");
    return std::string(std::istreambuf_iterator<char>(*in), {});
  };
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "0,1\n"),
            "0,1\n");
  for (const char* text : {"", "0", "0,", "0,1",
                           "\xEF\xBB"
                           "0,1"})
    EXPECT_EQ(read(text), text);
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    try {
      read(mark + "0");
      ADD_FAILURE();
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(),
                   "some.file: x.csv cannot be read: it begins with the byte-order mark of UTF-16. Save it as UTF-8.");
    }
  }
}

class BadInput : public ::testing::TestWithParam<Wrong> {};

TEST_P(BadInput, IsNamedWithAFix) {
  try {
    const Experiment e = experiment(GetParam().changes);
    make_plan(e);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    for (const std::string& part : GetParam().parts) EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInput,
    ::testing::Values(
        Wrong{"unknown", Settings("router.vc=4"), {"router.vc = 4", "did you mean router.vcs"}},
        Wrong{"wrong_section", Settings("network.load=0.5"), {"network.load = 0.5", "traffic.load"}},
        Wrong{"type", Settings("router.vcs=four"), {"router.vcs = \"four\"", "integer", "e.g. 4"}},
        Wrong{"float_for_int", Settings("router.vcs=4.5"), {"router.vcs = 4.5", "wrong type", "integer"}},
        Wrong{"range", Settings("router.vcs=99"), {"router.vcs = 99", "1 to 16"}},
        Wrong{"load", Settings("traffic.load=1.5"), {"traffic.load = 1.5", "0 to 1 flits/cycle/terminal"}},
        Wrong{"choice", Settings("traffic.pattern=tornadoo"), {"\"tornadoo\"", "did you mean \"tornado\"", "uniform"}},
        Wrong{"unlike_choice",
              Settings("topology.kind=kautz"),
              {"topology.kind = \"kautz\" is not known. Allowed are mesh, torus, ring"}},
        Wrong{"unlike_key", Settings("traffic.priority=1"), {"unknown key traffic.priority = 1. `flitlab inspect`"}},
        Wrong{"no_effect",
              Settings("traffic.mode=batch traffic.load=0.2"),
              {"traffic.load = 0.2 has no effect here", "Remove it (--unset traffic.load) or change"}},
        Wrong{"zero_radix", Settings("topology.shape=[4,0]"), {"topology.shape = [4, 0]", "1 to 65535"}},
        Wrong{"negative_radix", Settings("topology.shape=[-4,4]"), {"topology.shape = [-4, 4]", "1 to 65535"}},
        Wrong{"no_shape", Settings("topology.shape=[]"), {"topology.shape", "empty"}},
        Wrong{"too_many_routers", Settings("topology.shape=[4096,4096,4096]"), {"topology.shape", "16777216"}},
        Wrong{"power_of_two",
              Settings("topology.shape=[3,3] traffic.pattern=bit_reverse"),
              {"traffic.pattern = \"bit_reverse\"", "power-of-two", "9"}},
        Wrong{"fft",
              Settings("topology.shape=[3,4] traffic.pattern=fft"),
              {"traffic.pattern = \"fft\"", "12 terminals", "power-of-two"}},
        Wrong{"divide",
              Settings("topology.shape=[5] traffic.pattern=divide"),
              {"traffic.pattern = \"divide\"", "5 terminals", "power-of-two"}},
        Wrong{"few_vcs", Settings("router.vcs=1"), {"router.vcs = 1", "at least 2", "deadlock"}},
        Wrong{"valiant", Settings("router.vcs=3 routing.algorithm=valiant"), {"at least 4"}},
        Wrong{"huge",
              Settings("topology.shape=", IntList(3, 65535)),
              {"topology.shape = [65535, 65535, 65535]", "16777216"}},
        // The network would have 2^64 terminals, a number that is 0 in 64 bits.
        Wrong{"overflow", Settings("topology.shape=", IntList(8, 256), " traffic.pattern=hot_spot"), {"16777216"}},
        Wrong{"shuffle",
              Settings("topology.shape=[6,2] traffic.pattern=shuffle"),
              {"traffic.pattern = \"shuffle\"", "12 terminals", "power-of-two"}},
        Wrong{"transpose",
              Settings("topology.shape=[4,8] traffic.pattern=transpose"),
              {"traffic.pattern = \"transpose\"", "32 terminals", "square", "power of four", "Change the topology"}},
        Wrong{"transpose_ring",
              Settings("topology.kind=ring traffic.pattern=transpose topology.shape=8"),
              {"traffic.pattern = \"transpose\"", "8 terminals", "power of four"}},
        Wrong{"tornado",
              Settings("topology.kind=graph topology.file=x traffic.pattern=tornado"),
              {"traffic.pattern = \"tornado\"", "coordinates", "use uniform"}},
        Wrong{"tornado_nowhere",
              Settings("topology.shape=[2,1,2] traffic.pattern=tornado"),
              {"traffic.pattern = \"tornado\"", "[2, 1, 2]", "0 hops", "3 or more"}},
        Wrong{"tornado_cube",
              Settings("topology.kind=hypercube topology.dimensions=3 traffic.pattern=tornado"),
              {"[2, 2, 2]", "another pattern"}},
        Wrong{"tornado_t3e",
              Settings("router.kind=t3e topology.shape=[2,2,2] traffic.pattern=tornado"),
              {"[2, 2, 2]", "another pattern"}},
        Wrong{"hot_region",
              Settings("traffic.pattern=hot_region traffic.hot_shape=[5,1]"),
              {"traffic.hot_shape = [5, 1]", "at most [4, 4]"}},
        Wrong{"hot_region_dimensions",
              Settings(
                  "topology.kind=hypercube topology.dimensions=3 traffic.pattern=hot_region traffic.hot_shape=[1,1]"),
              {"traffic.hot_shape = [1, 1]", "at most [2, 2, 2]"}},
        Wrong{"elsewhere",
              Settings("traffic.hot_fraction=0.5"),
              {"traffic.hot_fraction = 0.5",
               "it belongs to traffic.pattern = \"hot_spot\" or \"hot_region\", and "
               "traffic.pattern is \"uniform\""}},
        Wrong{"batch_load",
              Settings("traffic.mode=batch traffic.load=0.5"),
              {"it belongs to traffic.mode = \"open\" or \"request_reply\", and traffic.mode is \"batch\""}},
        Wrong{"batch_burst",
              Settings("traffic.mode=batch traffic.burst_load=0.5"),
              {"traffic.injection = \"on_off\", which itself belongs to traffic.mode = \"open\", and "
               "traffic.mode is \"batch\""}},
        Wrong{"hasty_bursts",
              Settings("traffic.injection=on_off traffic.load=0.4 traffic.burst_load=0.5 traffic.burst_cycles=1.0"),
              {"traffic.load = 0.4", "at most 0.25", "traffic.burst_cycles"}},
        Wrong{"channel_delays",
              Settings("topology.channel_delay=[1,2,3]"),
              {"topology.channel_delay = [1, 2, 3] does not fit", "2 dimensions", "a list of 2"}},
        Wrong{"delays_of_groups",
              Settings("topology.kind=dragonfly topology.channel_delay=[1,2,3]"),
              {"topology.channel_delay = [1, 2, 3] does not fit a dragonfly", "a list of 2, for channels within"}},
        Wrong{"many_crossbar_inputs",
              Settings("router.vcs=2 router.input_speedup=3"),
              {"router.input_speedup = 3 is larger than router.vcs = 2", "at most 2"}},
        Wrong{"crossbar_outputs_held",
              Settings("router.output_speedup=2 router.hold_switch_for_packet=true"),
              {"router.output_speedup = 2", "router.hold_switch_for_packet = true", "router.internal_speedup"}},
        Wrong{"small_queue",
              Settings("router.output_speedup=3 router.output_queue_flits=2"),
              {"router.output_queue_flits = 2 is too small", "3 flits at once"}},
        Wrong{"queue_without_speedup",
              Settings("router.output_queue_flits=2"),
              {"router.output_queue_flits", "router.internal_speedup or router.output_speedup other than 1"}},
        Wrong{"odd_speedup",
              Settings("router.internal_speedup=1.0101"),
              {"router.internal_speedup = 1.0101 is not a ratio n/d of integers with d up to 64"}},
        Wrong{"long_row",
              Settings("topology.kind=hyperx topology.shape=[9] topology.channel_delay=600 ",
                       "topology.delay_by_distance=true"),
              {"topology.delay_by_distance = true makes a channel of 4200 cycles", "the longest has 4096"}},
        Wrong{"distances_of_failed_links",
              Settings("topology.kind=hyperx topology.random_failures=1 routing.algorithm=minimal ",
                       "topology.delay_by_distance=true"),
              {"topology.delay_by_distance = true does not fit failed links"}},
        Wrong{"long_channel", Settings("topology.channel_delay=[1,4097]"), {"1 to 4096 cycles", "4097 is not"}},
        Wrong{"wide_channel", Settings("topology.channel_width=2.0"), {"topology.channel_width = 2.0", "to 1 flits"}},
        Wrong{"odd_width",
              Settings("topology.channel_width=0.3141"),
              {"topology.channel_width = 0.3141", "ratio of integers up to 64"}},
        Wrong{"widths_of_a_graph",
              Settings("topology.kind=graph topology.file=x routing.algorithm=table topology.channel_width=[1.0,0.5]"),
              {"topology.channel_width = [1.0, 0.5] does not fit a graph", "columns", "topology.file"}},
        Wrong{"many_packets",
              Settings("router.buffer_flits=1024 traffic.packet_flits=2"),
              {"router.buffer_flits = 1024", "255 packets", "at most 509 flits"}},
        Wrong{"deep_speculation",
              Settings("router.speculative=true router.vc_allocation_delay=2"),
              {"router.speculative = true", "router.vc_allocation_delay = 2", "0 or 1"}},
        Wrong{"geometric_list",
              Settings("traffic.packet_flits=[[1,0.5],[5,0.5]] traffic.packet_length=geometric"),
              {"traffic.packet_flits = [[1, 0.5], [5, 0.5]]", "\"geometric\"", "one number, the mean"}},
        Wrong{"flag", Settings("router.speculative=1"), {"router.speculative = 1", "true or false"}},
        Wrong{"quoted_flag", Settings("router.speculative=\"true\""), {"\"true\"", "Remove the quotes"}},
        Wrong{"string", Settings("topology.kind=graph topology.file=3"), {"topology.file = 3", "a string"}},
        Wrong{"choice_type", Settings("router.arbiter=true"), {"router.arbiter = true", "round_robin"}},
        Wrong{"list", Settings("topology.shape=\"8x8\""), {"topology.shape = \"8x8\"", "a list of integers"}},
        Wrong{"list_of_pairs", Settings("topology.shape=[[4,1.0]]"), {"topology.shape = [[4, 1.0]]", "[8, 8]"}},
        Wrong{"lengths", Settings("traffic.packet_flits=[1,5]"), {"traffic.packet_flits = [1, 5]", "[[1, 0.5]"}},
        Wrong{"word_or_auto", Settings("run.warmup_cycles=some"), {"run.warmup_cycles = \"some\"", "\"auto\""}},
        Wrong{"one_zero_radix", Settings("topology.shape=0"), {"topology.shape = 0", "1 to 65535"}},
        Wrong{"two_rings",
              Settings("topology.kind=ring topology.shape=[4,4]"),
              {"topology.shape = [4, 4]", "one dimension", "\"torus\""}},
        Wrong{"ports",
              Settings("topology.shape=", IntList(10, 2), " topology.concentration=16 router.arbiter=matrix"),
              {"router.arbiter = \"matrix\"", "36", "up to 32 ports"}},
        Wrong{"terminals_of_a_router",
              Settings("topology.kind=mesh topology.shape=[4,4] topology.concentration=61"),
              {"topology.concentration = 61", "a router has 4 ports to other", "at most 3", "beside 61 terminals"}},
        Wrong{"terminals_of_a_router_of_a_hypercube",
              Settings("topology.kind=hypercube topology.dimensions=3 topology.concentration=62"),
              {"topology.concentration = 62", "a router has 3 ports to other", "at most 2"}},
        Wrong{"a_selection_for_trees_on_a_grid",
              Settings("routing.algorithm=minimal_adaptive routing.selection=two_random"),
              {"routing.selection = \"two_random\"", "on a torus", "\"first\" or \"first_or_escape\""}},
        Wrong{"a_selection_for_grids_on_a_tree",
              Settings("topology.kind=fat_tree routing.algorithm=adaptive routing.selection=first"),
              {"routing.selection = \"first\"", "\"most_credits\" or \"two_random\""}},
        Wrong{"a_selection_on_a_graph",
              Settings("topology.kind=jellyfish routing.algorithm=minimal_adaptive routing.selection=first"),
              {"routing.selection = \"first\"", "on a jellyfish: use \"most_credits\"."}},
        Wrong{"too_many_adaptive_vcs",
              Settings("routing.algorithm=minimal_adaptive routing.adaptive_vcs=3"),
              {"routing.adaptive_vcs = 3 is too large", "of 4 virtual channels, 2 are escape channels"}},
        Wrong{"o1turn",
              Settings("routing.algorithm=o1turn"),
              {"routing.algorithm = \"o1turn\"", "of two dimensions", "valiant"}},
        Wrong{"o1turn_3d",
              Settings("routing.algorithm=o1turn topology.kind=mesh topology.shape=[4,4,4]"),
              {"routing.algorithm = \"o1turn\"", "other than two dimensions", "romm"}},
        Wrong{"o1turn_vcs",
              Settings("routing.algorithm=o1turn topology.kind=mesh router.vcs=1"),
              {"router.vcs = 1", "\"o1turn\"", "at least 2", "Raise router.vcs"}},
        Wrong{"romm",
              Settings("routing.algorithm=romm"),
              {"routing.algorithm = \"romm\"", "\"chiplet_mesh\" or \"hypercube\"", "valiant"}},
        Wrong{"table",
              Settings("routing.algorithm=table"),
              {"routing.algorithm = \"table\"", "\"graph\"", "dimension_order"}},
        Wrong{"par",
              Settings("topology.kind=slim_fly routing.algorithm=par"),
              {"routing.algorithm = \"par\"", "slim_fly", "\"ugal_l\"", "\"dragonfly\" or \"megafly\""}},
        Wrong{"groups",
              Settings("topology.kind=dragonfly topology.groups=7"),
              {"topology.groups = 7", "8 global channels", "5 or 9"}},
        Wrong{"groups_circulant",
              Settings("topology.kind=megafly topology.groups=8 topology.arrangement=circulant"),
              {"topology.groups = 8", "odd number of groups", "5 or 9"}},
        Wrong{"order",
              Settings("topology.kind=polarfly topology.order=6"),
              {"topology.order = 6", "prime power", "5 or 7"}},
        Wrong{"supernode",
              Settings("topology.kind=polarstar topology.supernode=7"),
              {"topology.supernode = 7", "prime power 4w + 1", "5 or 9"}},
        Wrong{"failed_pair",
              Settings("topology.kind=mesh topology.failed_links=[0,1,5]"),
              {"topology.failed_links = [0, 1, 5]", "3 numbers", "two routers"}},
        Wrong{"failed_twice",
              Settings("topology.kind=mesh topology.failed_links=[0,1,0,1]"),
              {"topology.failed_links", "routers 0 and 1 have no link", "links to 4"}},
        Wrong{"failed_router",
              Settings("topology.kind=mesh topology.failed_links=[0,64]"),
              {"router 64 does not exist", "0 to 15"}},
        Wrong{"failed_all",
              Settings("topology.kind=mesh topology.failed_links=[0,1,0,4]"),
              {"topology.failed_links", "router 1 cannot be reached"}},
        Wrong{"failed_random",
              Settings("topology.kind=torus topology.random_failures=66"),
              {"topology.random_failures = 66", "only 17"}},
        Wrong{"failed_routing",
              Settings("topology.kind=torus topology.random_failures=1 routing.algorithm=dimension_order"),
              {"with failed links", "\"up_down\""}},
        Wrong{"order_low",
              Settings("topology.kind=slim_fly topology.order=2"),
              {"topology.order = 2", "at least 3", "Use 3."}},
        Wrong{"degree",
              Settings("topology.kind=jellyfish topology.routers=7 topology.degree=3"),
              {"topology.degree = 3", "topology.routers = 7", "even",
               "topology.degree = 2 or 4, or topology.routers = 6 or 8"}},
        Wrong{"degree_high",
              Settings("topology.kind=jellyfish topology.routers=5 topology.degree=8"),
              {"topology.degree = 8", "topology.routers = 5", "Use topology.degree = 4, or topology.routers = 9"}},
        Wrong{"circulant_odd",
              Settings(
                  "topology.kind=dragonfly topology.arrangement=circulant topology.groups=4 topology.group_routers=3 "
                  "topology.global_channels=1"),
              {"topology.groups = 4", "topology.global_channels = 2 with topology.groups = 3 or 7"}},
        Wrong{"chips",
              Settings("topology.kind=chiplet_mesh topology.shape=[8,9] topology.chip_shape=[3,4]"),
              {"topology.chip_shape = [3, 4]", "topology.chip_shape = [2, 3] and topology.shape = [9, 8]"}},
        Wrong{"chips_of_other_dimensions",
              Settings("topology.kind=chiplet_mesh topology.shape=[8,8] topology.chip_shape=[4]"),
              {"topology.chip_shape = [4]", "give 2 numbers, one for each dimension"}},
        Wrong{"express",
              Settings("topology.kind=cmesh topology.express=9"),
              {"topology.express = 9", "topology.shape = [4, 4]", "Use at most 3, or topology.kind = \"mesh\""}},
        Wrong{"express_nowhere",
              Settings("topology.kind=cmesh topology.shape=[2,2]"),
              {"Use 3 or more routers in a row"}},
        Wrong{"levels",
              Settings("topology.kind=fat_tree topology.parents=[4]"),
              {"topology.parents = [4]", "Use topology.parents = [4, 4], or topology.children = [4]"}},
        Wrong{"radix",
              Settings("topology.kind=full_mesh topology.routers=70"),
              {"topology.routers = 70", "69 channels", "at most 60", "beside 4 terminals"}},
        Wrong{"order_large",
              Settings("topology.kind=polarfly topology.order=64 topology.concentration=1"),
              {"topology.order = 64", "65 channels", "at most 63", "beside 1 terminal.",
               "largest order that fits is 61"}},
        Wrong{"order_large_slim_fly",
              Settings("topology.kind=slim_fly topology.order=64 topology.concentration=1"),
              {"topology.order = 64", "96 channels", "largest order that fits is 41"}},
        Wrong{"order_large_polarstar",
              Settings("topology.kind=polarstar topology.order=64 topology.supernode=61"),
              {"topology.order = 64", "253821 routers", "at most 16384", "largest order that fits is 13"}},
        Wrong{"classes",
              Settings("topology.kind=slim_fly routing.algorithm=valiant router.vcs=3"),
              {"router.vcs = 3", "\"valiant\"", "at least 4", "up_down"}},
        Wrong{"next_group", Settings("traffic.pattern=next_group"), {"next_group", "torus", "dragonfly"}},
        Wrong{"buffer",
              Settings("router.flow_control=store_and_forward traffic.packet_flits=9"),
              {"router.buffer_flits = 8", "9 flits"}},
        Wrong{"graph", Settings("topology.kind=graph"), {"topology.file"}},
        Wrong{"no_matrix", Settings("traffic.pattern=matrix"), {"traffic.matrix_file", "source,destination,value"}},
        Wrong{"matrix_nowhere",
              Settings("traffic.pattern=matrix traffic.matrix_file=nowhere.csv"),
              {"traffic.matrix_file = \"./nowhere.csv\"", "cannot be read", "Give the name"}},
        Wrong{"matrix_folder",
              Settings("traffic.pattern=matrix traffic.matrix_file=\"/\""),
              {"traffic.matrix_file = \"/\"", "cannot be read", "directory"}},
        Wrong{"no_file",
              Settings("topology.kind=graph topology.file=nowhere.csv"),
              {"topology.file", "nowhere.csv", "cannot be read"}},
        Wrong{"hot", Settings("traffic.pattern=hot_spot traffic.hot_terminals=[16]"), {"16", "0 to 15"}},
        Wrong{"weights", Settings("traffic.packet_flits=[[1,-1.0]]"), {"traffic.packet_flits", "negative"}},
        Wrong{"burst",
              Settings("traffic.injection=on_off traffic.load=0.6"),
              {"traffic.load = 0.6", "traffic.burst_load = 0.5"}}),
    [](const auto& p) { return p.param.name; });

TEST(BadMatrix, IsNamedWithItsLine) {
  const auto refused = [](const std::string& text, const std::vector<std::string>& parts) {
    const testing::TextFile file(text);
    try {
      make_plan(experiment("topology.shape=2 traffic.pattern=matrix traffic.matrix_file=", file.path.c_str()));
      FAIL() << text;
    } catch (const ConfigError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("traffic.matrix_file: "), 0u) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  };
  refused("0,1,1\n1;0;1\n", {":2: \"1;0;1\"", "comma-separated numbers", "Correct it"});
  refused(std::string("\x01\0\xff\n", 4), {":1: \"\\u0001", "comma-separated numbers"});
  refused("0,1,1\n", {"terminal 1", "has no line", "Add one, 1,DESTINATION,VALUE"});
  refused("", {"terminal 0", "has no line"});
  refused("0,2,1\n", {":1: ", "0 to 1"});
  refused("0,nan,1\n", {":1: ", "0 to 1"});
  refused("0,1\n", {":1: ", "source,destination,value"});
  refused("0,1,-1\n", {":1: ", "0 to 1e100"});
  refused("0,1,inf\n", {":1: ", "0 to 1e100"});
}

TEST(Defaults, FitTheTopology) {
  const auto ints = [](const RawConfig& raw, const ParamRecord& p) { return Experiment::resolve(raw, ".").ints(p); };
  const Value hot = word("hot_region");
  EXPECT_EQ(ints(Settings("topology.kind=ring"), param::topology.shape), (std::vector<u32>{8}));
  EXPECT_EQ(ints(Settings("topology.kind=mesh"), param::topology.shape), (std::vector<u32>{8, 8}));
  EXPECT_EQ(ints(Settings("topology.kind=ring traffic.pattern=", hot), param::traffic.hot_shape),
            (std::vector<u32>{2}));
  EXPECT_EQ(ints(Settings("topology.shape=[4,1,3] traffic.pattern=", hot), param::traffic.hot_shape),
            (std::vector<u32>{2, 1, 2}));
  EXPECT_EQ(
      ints(Settings("topology.kind=hypercube topology.dimensions=3 traffic.pattern=", hot), param::traffic.hot_shape),
      (std::vector<u32>{2, 2, 2}));
}

TEST(Models, AreTheChoicesOfRouterKind) {
  std::vector<std::string> kinds;
  for (const ModelRecord& model : models()) kinds.emplace_back(model.kind);
  EXPECT_EQ(split_words(model_choice().choices), kinds);
  EXPECT_EQ(experiment().kind(), kinds.front());
}

/// The packet rate is the load divided by the mean length, so the lengths that are drawn must have this mean.
TEST(GeometricLengths, HaveTheMeanThatTheLoadIsDividedBy) {
  for (const std::int64_t mean_flits : {1, 2, 4, 100, 1000, 4095}) {
    const Experiment e =
        experiment("traffic.packet_length=geometric traffic.packet_flits=", mean_flits, " traffic.load=0.5");
    const VcPlan plan(e);
    const u32 n = 100000;
    double sum = 0, squares = 0;
    for (u32 i = 0; i < n; ++i) {
      const double flits = packet_flits(plan.table().traffic, packet_draws(make_row(e), 0, i));
      sum += flits;
      squares += flits * flits;
    }
    const double mean = sum / n, deviation = std::sqrt(squares / n - mean * mean);
    EXPECT_NEAR(mean_packet(e), mean, 4 * deviation / std::sqrt(n) + 1e-9) << mean_flits;
    EXPECT_DOUBLE_EQ(make_row(e).period, mean_packet(e) / 0.5);
    if (mean_flits == 4095) {
      EXPECT_LT(mean_packet(e), 2600);  // lengths are limited to 4095
    }
  }
}

TEST(Defaults, AreResolvedAndListed) {
  const Experiment e = experiment();
  EXPECT_EQ(e.u32_of(vc::param::router.vcs), 4u);
  EXPECT_EQ(e.str(param::traffic.pattern), "uniform");
  EXPECT_EQ(mean_packet(e), 4.0);
  EXPECT_FALSE(e.has(param::traffic.hot_fraction));
  EXPECT_TRUE(e.is_auto(param::run.warmup_cycles));
}

TEST(StructureKey, IgnoresLoadAndSeedOnly) {
  const std::string key = experiment().structure_key();
  EXPECT_EQ(experiment("traffic.load=0.7 run.seed=9").structure_key(), key);
  EXPECT_NE(experiment("router.vcs=8").structure_key(), key);
}

}  // namespace
}  // namespace flitlab::config_config_test
