/// Exact fast-forward on every engine: a program that repeats itself ends in the state of a stepped run.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::fast_forward_test {
namespace {

using namespace testing;

/// Returns a network whose ranks exchange messages with both neighbours, several times, and compute between.
Experiment exchange(bool fast_forward, const char* more = "") {
  static const std::string path = [] {
    const std::string name = temporary(".csv");
    std::ofstream file(name);
    file << "ranks,15\n";
    for (u32 rank = 0; rank < 15; ++rank)
      for (u32 i = 0; i < 6; ++i) {
        file << rank << ",isend," << (rank + 1) % 15 << ",48000\n"
             << rank << ",isend," << (rank + 14) % 15 << ",12000\n";
        file << rank << ",recv," << (rank + 14) % 15 << "\n" << rank << ",recv," << (rank + 1) % 15 << "\n";
        file << rank << ",compute,5000\n";
      }
    return name;
  }();
  return experiment("topology.shape=[5,3] traffic.mode=program traffic.program_file=", path,
                    fast_forward ? "" : " run.fast_forward=false", more);
}

void expect_same(Network& fast, Network& stepped, u32 cycles) {
  fast.step(cycles);
  stepped.step(cycles);
  ASSERT_EQ(fast.engine->now(), stepped.engine->now());
  EXPECT_EQ(fast.engine->state_hash(0), stepped.engine->state_hash(0)) << "at cycle " << fast.engine->now();
  const CounterShard a = fast.engine->counters(0), b = stepped.engine->counters(0);
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << "at cycle " << fast.engine->now();
}

TEST(FastForward, GivesTheStateOfASteppedNetworkOnEveryEngine) {
  std::vector<EngineChoice> choices(5);
  for (EngineChoice& c : choices) c = {.backend = "cpu", .threads = 1, .grain = 1};
  choices[1].threads = 3;
  choices[2].width = kWide;
  choices[3].lanes = LaneUse::kAlways;
  choices[4].lanes = LaneUse::kNever;
  for (const EngineChoice& choice : choices) {
    Network fast(exchange(true), choice), stepped(exchange(false), choice);
    for (const u32 cycles : {700u, 9'000u, 1u, 20'000u, 40'000u}) expect_same(fast, stepped, cycles);
    EXPECT_GT(fast.skips.skipped(), 20'000u);
    EXPECT_EQ(stepped.skips.skipped(), 0u);
  }
}

TEST(FastForward, RunsEndInTheSameEpochWithTheSameResult) {
  const Result fast = run_job({exchange(true)}, {"cpu", 1, false, 1}, nullptr, {}).front();
  const Result stepped = run_job({exchange(false)}, {"cpu", 1, false, 1}, nullptr, {}).front();
  EXPECT_EQ(fast.cycles, stepped.cycles);
  EXPECT_EQ(fast.state_hash, stepped.state_hash);
  EXPECT_EQ(fast.model, stepped.model);
  EXPECT_EQ(fast.channel_flits, stepped.channel_flits);
  EXPECT_EQ(stepped.stepped_cycles, stepped.cycles);
  EXPECT_LT(fast.stepped_cycles, fast.cycles / 3);
}

TEST(FastForward, SeveralReplicasAreStepped) {
  const std::vector<Result> results =
      run_job({exchange(true, " run.seed=1"), exchange(true, " run.seed=2")}, {"cpu", 1, false, 1}, nullptr, {});
  for (const Result& r : results) EXPECT_EQ(r.stepped_cycles, r.cycles);
}

}  // namespace
}  // namespace flitlab::fast_forward_test
