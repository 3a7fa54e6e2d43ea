/// Searches for deadlock: their intervals grow during a long job, but a deadlocked job never returns results.
#include <gtest/gtest.h>

#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::run_deadlock_test {
namespace {

using testing::experiment;
using testing::integer;
using testing::word;

/// Configuration that deadlocks: requests and replies share their virtual channels, and a terminal has room for one
/// reply.
RawConfig deadlocks(double load, int seed = 1) {
  return {{"topology.kind", word("mesh")},
          {"traffic.mode", word("request_reply")},
          {"traffic.load", load},
          {"traffic.window", integer(64)},
          {"traffic.reply_queue", integer(1)},
          {"traffic.message_classes", integer(1)},
          {"router.vcs", integer(2)},
          {"run.seed", integer(seed)},
          {"run.epoch_cycles", integer(10)}};
}

std::string error_of(const std::vector<Experiment>& replicas, u32 threads = 1) {
  try {
    run_job(replicas, {"cpu", threads}, {});
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

TEST(RunDeadlock, IsFoundAtTheLatestWhereARunEnds) {
  RawConfig config = deadlocks(1.0);
  config["run.watchdog_cycles"] = integer(1000000);
  config["run.warmup_cycles"] = integer(100);
  config["run.measure_cycles"] = integer(900);
  EXPECT_NE(error_of({experiment(config)}).find("found at cycle 1000)"), std::string::npos);
  config["run.watchdog_cycles"] = integer(20);  // searches in cycles 20, 40, 80, 160, 320
  EXPECT_NE(error_of({experiment(config)}).find("found at cycle 320)"), std::string::npos);
}

/// If a run stalls because of a deadlock, the error reports a deadlock.
TEST(RunDeadlock, IsNoStall) {
  const Experiment ring = experiment({{"topology.shape", IntList{8, 8}},
                                      {"router.vcs", integer(1)},
                                      {"router.buffer_flits", integer(2)},
                                      {"routing.vc_assignment", word("any")},
                                      {"traffic.mode", word("batch")},
                                      {"traffic.pattern", word("tornado")},
                                      {"traffic.packet_flits", integer(8)},
                                      {"traffic.batch_packets", integer(20)},
                                      {"run.watchdog_cycles", integer(1000000)},
                                      {"run.stall_cycles", integer(2000)}});
  EXPECT_EQ(error_of({ring}).rfind("deadlock (replica 0", 0), 0u) << error_of({ring});
}

/// Threads divide the replicas among themselves for the search. The error names the first deadlocked replica, whatever
/// the number of threads.
TEST(RunDeadlock, IsTheSameOnAnyNumberOfThreads) {
  std::vector<Experiment> replicas;
  for (int seed = 1; seed <= 9; ++seed) {
    RawConfig config = deadlocks(seed < 3 ? 0.01 : 1.0, seed);
    config["run.watchdog_cycles"] = integer(1000);
    replicas.push_back(experiment(config));
  }
  const std::string one = error_of(replicas);
  EXPECT_EQ(one.rfind("deadlock (replica 2, found at cycle 1000)", 0), 0u) << one;
  for (u32 threads : {2u, 4u}) EXPECT_EQ(error_of(replicas, threads), one);
}

}  // namespace
}  // namespace flitlab::run_deadlock_test
