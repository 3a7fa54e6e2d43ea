/// Derived numbers against runs, and input files whose content changes.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::plan_derived_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::word;

double derived(const Experiment& e, const std::string& name) {
  for (const auto& [key, value] : make_plan(e)->derived())
    if (key == name) return value;
  return -1;
}

/// The printed zero-load latency is what a nearly idle network shows.
TEST(Derived, ZeroLoadLatencyIsMeasured) {
  const std::vector<RawConfig> settings{
      {},
      {{"router.flow_control", word("store_and_forward")}},
      {{"router.flow_control", word("virtual_cut_through")}, {"router.routing_delay", integer(3)}},
      {{"routing.algorithm", word("valiant")}},
      {{"router.speculative", true}},
      {{"router.speculative", true}, {"router.vc_allocation_delay", integer(0)}},
      {{"topology.kind", word("mesh")}, {"routing.algorithm", word("romm")}, {"topology.channel_delay", integer(2)}},
  };
  for (RawConfig config : settings) {
    config["traffic.load"] = 0.004;
    config["run.measure_cycles"] = integer(60000);
    config["run.warmup_cycles"] = integer(1000);
    const Experiment e = experiment(config);
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency.mean, derived(e, "zero_load_latency_cycles"), 0.01 * r.latency.mean + 1.5 * r.latency.ci95)
        << e.structure_key();
  }
}

TEST(Derived, ZeroLoadLatencyOfAT3eIsMeasured) {
  for (const bool open : {true, false}) {
    const Experiment e = experiment({{"router.kind", word("t3e")},
                                     {"topology.shape", IntList{8, 4, 2}},
                                     {"router.short_circuit", open},
                                     {"traffic.load", 0.002},
                                     {"run.warmup_cycles", integer(1000)},
                                     {"run.measure_cycles", integer(100000)}});
    const Result r = run_job({e}, {"cpu", 1, false}, nullptr).front();
    EXPECT_NEAR(r.latency.mean, derived(e, "zero_load_latency_cycles"), 0.01 * r.latency.mean) << open;
  }
}

TEST(Derived, ZeroLoadLatencyIsNotGuessed) {
  EXPECT_TRUE(std::isnan(derived(experiment({{"traffic.pattern", word("tornado")}}), "zero_load_latency_cycles")));
  EXPECT_TRUE(std::isnan(derived(experiment({{"router.buffer_flits", integer(3)}}), "zero_load_latency_cycles")));
}

/// A matrix of the same name and size, but with other contents, is another configuration.
TEST(Files, ContentsBelongToTheConfiguration) {
  const std::string path = std::filesystem::absolute(testing::temporary(".csv")).string();
  const auto write = [&](int distance) {
    std::ofstream file(path);
    for (int s = 0; s < 16; ++s) file << s << ',' << (s + distance) % 16 << ",1\n";
    file.close();
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() + std::chrono::hours(distance));
  };
  const RawConfig config{{"traffic.pattern", word("matrix")}, {"traffic.matrix_file", path}};
  const std::string checkpoint = testing::temporary(".checkpoint");
  write(1);
  const Experiment e = experiment(config);
  const u64 before = e.files_hash();
  SteppedNetwork net(e, "cpu", 1, false);
  net.step(100);
  net.save(checkpoint);
  write(2);
  EXPECT_NE(e.files_hash(), before);
  EXPECT_THROW(net.load(checkpoint), ConfigError);
  write(1);
  EXPECT_EQ(e.files_hash(), before);
  net.load(checkpoint);
}

}  // namespace
}  // namespace flitlab::plan_derived_test
