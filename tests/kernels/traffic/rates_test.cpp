/// A traffic matrix of rates: on every engine each source offers the sum of its row.
#include <gtest/gtest.h>

#include <cmath>

#include "host/config/registry.hpp"
#include "host/plan/terminal_plan.hpp"
#include "host/topology/topology.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::rates_test {
namespace {

using namespace testing;

/// Returns a matrix in which source s sends to the next two terminals: s percent of a flit per cycle in total.
std::string rows(u32 terminals) {
  std::string text;
  for (u32 s = 0; s < terminals; ++s) {
    const std::string source = std::to_string(s);
    text += source + "," + std::to_string((s + 1) % terminals) + "," + std::to_string(s * 0.0075) + "\n";
    text += source + "," + std::to_string((s + 2) % terminals) + "," + std::to_string(s * 0.0025) + "\n";
  }
  return text;
}

RawConfig rates(const TextFile& matrix) {
  return Settings("traffic.pattern=matrix traffic.matrix_file=", std::string(matrix.path),
                  " traffic.matrix_values=rates");
}

std::string message(const RawConfig& config) {
  try {
    make_plan(experiment(config));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Rates, AreOfferedByEverySource) {
  const TextFile matrix(rows(16));
  constexpr u32 kCycles = 200000;
  for (const char* injection : {"bernoulli", "periodic", "on_off"}) {
    RawConfig config = rates(matrix);
    set(config, "traffic.injection=", injection, " traffic.packet_flits=[[1,1.0],[3,1.0]]");
    const Experiment e = experiment(config);
    const TerminalPlan plan(e, make_topology(e));
    const ReplicaRow row = make_row(e);
    for (u32 s = 0; s < 16; ++s) {
      EXPECT_EQ(never_sends(plan.table, s), s == 0);
      if (s == 0) continue;
      u64 flits = 0, nearer = 0, packets = 0;
      for (SourceCursor c = first_creation(plan.table, row, s); c.at < kCycles; next_creation(plan.table, row, s, c)) {
        flits += packet_flits(plan.table, row, s, c.index);
        nearer += packet_destination(plan.table, row, s, c.index) == (s + 1) % 16;
        ++packets;
      }
      const double offered = static_cast<double>(flits) / kCycles, expected = 0.01 * s;
      const bool bursts = plan.table.injection == Injection::kOnOff;
      EXPECT_NEAR(offered, expected, (bursts ? 0.2 : 0.05) * expected + 0.002) << injection << ", source " << s;
      EXPECT_NEAR(static_cast<double>(nearer) / static_cast<double>(packets), 0.75, 0.04) << injection;
    }
  }
}

TEST(Rates, LeaveNoOtherLoad) {
  const TextFile matrix(rows(16)), heavy("0,1,0.7\n0,2,0.4\n" + rows(16));
  RawConfig config = rates(matrix);
  EXPECT_FALSE(experiment(config).has("traffic.load"));
  config["traffic.load"] = 0.3;
  EXPECT_NE(message(config).find("traffic.load = 0.3 has no effect here: it belongs to traffic.matrix_values"),
            std::string::npos)
      << message(config);
  EXPECT_NE(
      message(rates(heavy)).find("the rates of source 0 add up to 1.1 flits/cycle, and a terminal offers at most 1"),
      std::string::npos)
      << message(rates(heavy));
  config = rates(matrix);
  set(config, "traffic.injection=on_off traffic.burst_load=0.1");
  EXPECT_NE(message(config).find("bursts of 32.0 cycles at traffic.burst_load = 0.1 offer at most 0.0969"),
            std::string::npos)
      << message(config);
  config = rates(matrix);
  config["traffic.mode"] = word("batch");
  EXPECT_NE(message(config).find("traffic.matrix_values = \"rates\" has no effect here"), std::string::npos)
      << message(config);
}

/// If the row sums of a matrix of weights differ, flitlab warns, because the numbers look like rates.
TEST(Rates, AreNamedWhereWeightsDifferInSum) {
  const TextFile matrix(rows(16)), even("0,0,0\n1,2,3\n2,1,1\n2,3,2\n3,1,0.1\n3,0,0.2\n3,2,2.7\n");
  RawConfig config = rates(matrix);
  config["traffic.matrix_values"] = word("weights");
  const auto warnings = make_plan(experiment(config))->facts().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("15 add up to 0.15, the values of source 1 to 0.01"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("traffic.matrix_values = \"rates\""), std::string::npos);
  set(config, "traffic.matrix_file=", std::string(even.path), " topology.shape=[4,1]");
  EXPECT_TRUE(make_plan(experiment(config))->facts().warnings.empty());
}

TEST(Rates, AreTheSameOnEveryEngine) {
  const TextFile matrix(rows(16));
  for (const ModelRecord& model : models()) {
    RawConfig config = rates(matrix);
    config["router.kind"] = std::string(model.kind);
    if (model.kind == "t3e") config["topology.shape"] = IntList{4, 2, 2};
    if (model.kind == "switch") config["topology.ports"] = integer(16);
    for (const char* injection : {"bernoulli", "on_off"}) {
      config["traffic.injection"] = word(injection);
      const Experiment e = experiment(config);
      EngineChoice choice{"cpu", 1, false, 1};
      choice.lanes = LaneUse::kNever;
      Network single(e, choice);
      single.step(1000);
      EXPECT_GT(single.total(Total::kPacketsDelivered), 50u) << model.kind;
      choice.lanes = LaneUse::kAlways;
      Network lanes(e, choice);
      lanes.step(1000);
      EXPECT_EQ(lanes.engine->state_hash(0), single.engine->state_hash(0)) << model.kind;
      choice.lanes = LaneUse::kNever;
      choice.width = kWide;
      Network wide(e, choice);
      wide.step(1000);
      EXPECT_EQ(wide.engine->state_hash(0), single.engine->state_hash(0)) << model.kind;
      Network threads(e, {"cpu", 2, false, 1});
      threads.step(1000);
      EXPECT_EQ(threads.engine->state_hash(0), single.engine->state_hash(0)) << model.kind;
    }
  }
}

}  // namespace
}  // namespace flitlab::rates_test
