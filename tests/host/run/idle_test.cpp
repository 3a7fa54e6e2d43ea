/// Idle time: skipping it gives bit for bit the same state as stepping through it.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "host/config/registry.hpp"
#include "host/run/statistics.hpp"
#include "tests/support/build.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_idle_test {
namespace {

using namespace testing;

/// Returns an experiment with bursts of packets between eight terminals, at the given cycles.
Experiment bursts(std::string_view kind, const std::vector<u32>& at, const RawConfig& more = {}) {
  const std::string path = testing::temporary(".csv");
  std::ofstream file(path);
  const char* flits = kind == "metro" ? ",4\n" : ",1\n";
  for (const u32 start : at)
    for (u32 n = 0; n < 40; ++n) file << start + n << ',' << n % 8 << ',' << (n * 3 + 1) % 8 << flits;
  file.close();
  RawConfig raw =
      Settings{"router.kind=", std::string(kind).c_str(), " traffic.mode=trace traffic.trace_file=", path.c_str()};
  raw.insert(more.begin(), more.end());
  return experiment(raw);
}

std::vector<Result> run(const std::vector<Experiment>& experiments, u32 threads) {
  return run_job(experiments, {"cpu", threads, false, 1}, nullptr, {});
}

class IdleOf : public ::testing::TestWithParam<std::string> {};

TEST_P(IdleOf, StateAndTotalsAreAsIfStepped) {
  const Experiment e = bursts(GetParam(), {100, 30'011, 62'007});
  Network skips(e), steps(e);
  for (const u32 cycles : {29'000u, 1'000u, 100u, 40'000u}) {
    skips.step(cycles);
    for (u32 left = cycles; left;) {
      const u32 part = std::min(left, kTraceQueue - 1);  // too few cycles to skip
      steps.step(part);
      left -= part;
    }
    ASSERT_EQ(skips.engine->now(), steps.engine->now());
    ASSERT_EQ(skips.engine->state_hash(0), steps.engine->state_hash(0)) << "at cycle " << skips.engine->now();
    const CounterShard a = skips.engine->counters(0), b = steps.engine->counters(0);
    ASSERT_EQ(std::memcmp(&a, &b, sizeof a), 0) << "at cycle " << skips.engine->now();
  }
  EXPECT_EQ(skips.total(Total::kPacketsDelivered), 120u);
  EXPECT_GT(skips.skips.skipped(), 30'000u);
  EXPECT_EQ(steps.skips.skipped(), 0u);
}

TEST_P(IdleOf, APacketABillionCyclesAwayIsReached) {
  const Experiment e = bursts(GetParam(), {100, 1'000'000'003});
  const Result result = run({e}, 1).front();
  EXPECT_EQ(result.packets.delivered, 80u);
  EXPECT_GT(result.measured_cycles, 1'000'000'003u);
}

INSTANTIATE_TEST_SUITE_P(Models, IdleOf, ::testing::ValuesIn(testing::kinds()),
                         [](const auto& info) { return info.param; });

/// The results of a trace do not depend on the idle time that is skipped: bursts that are close together and bursts
/// that are far apart give the same.
TEST(Idle, ARunMeasuresWhatItWouldWithoutTheGap) {
  const Result near = run({bursts("vc", {0, 4'000})}, 1).front();
  const Result far = run({bursts("vc", {0, 4'000'000})}, 1).front();
  EXPECT_EQ(near.latency_cycles.mean, far.latency_cycles.mean);
  EXPECT_EQ(near.latency_cycles.max, far.latency_cycles.max);
  EXPECT_EQ(far.measured_cycles, near.measured_cycles + 3'996'000);
}

/// Skipped epochs do not change the results of others: the mean equals that of a run that steps through all epochs. All
/// packets of a trace are counted, so its mean has no confidence interval.
TEST(Idle, SkippedEpochsDoNotCount) {
  const Experiment e =
      bursts("vc", {0, 40'000, 60'480, 61'490, 62'470, 63'485, 64'495}, Settings("run.epoch_cycles=500"));
  const Result skipped = run({e}, 1).front();
  Network net(e);
  while (net.total(Total::kPacketsDelivered) < 280)
    for (u32 i = 0; i < 500; ++i) net.step(1);
  EXPECT_EQ(net.skips.skipped(), 0u);
  EXPECT_EQ(skipped.latency_cycles.mean, static_cast<double>(net.total(Total::kLatencySum)) / 280);
  EXPECT_TRUE(std::isnan(skipped.latency_cycles.ci95));
}

/// Time is skipped only if all replicas are idle. So a replica with packets in flight makes the others step, too.
TEST(Idle, AReplicaWithPacketsHoldsTheOthers) {
  const Experiment late = bursts("vc", {900'000}), busy = bursts("vc", {0, 50'000, 100'000, 899'000});
  const std::vector<Result> both = run({late, busy}, 2);
  const Result alone = run({late}, 1).front();
  EXPECT_EQ(both[0].state_hash, alone.state_hash);
  EXPECT_EQ(both[1].state_hash, run({busy}, 1).front().state_hash);
}

/// A packet in a long channel does not change the state while it is in flight, but the network is not idle.
TEST(Idle, ALongChannelIsNotIdle) {
  const Experiment e = bursts("vc", {0, 600'000}, Settings("topology.channel_delay=64"));
  Network skips(e), steps(e);
  skips.step(30'000);
  for (u32 i = 0; i < 30'000; ++i) steps.step(1);
  EXPECT_EQ(skips.engine->state_hash(0), steps.engine->state_hash(0));
  EXPECT_GT(skips.skips.skipped(), 0u);
}

}  // namespace
}  // namespace flitlab::run_idle_test
