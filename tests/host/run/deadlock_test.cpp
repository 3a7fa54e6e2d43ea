/// Searches for deadlock: their intervals grow during a long job, but a deadlocked job never returns results.
#include <gtest/gtest.h>

#include "host/run/run.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::run_deadlock_test {
namespace {

using namespace testing;

/// Configuration that deadlocks: requests and replies share their virtual channels, and a terminal has room for one
/// reply.
RawConfig deadlocks(double load, int seed = 1) {
  return Settings("topology.kind=mesh traffic.mode=request_reply traffic.load=", load,
                  " traffic.window=64 traffic.reply_queue=1 traffic.message_classes=1 router.vcs=2 run.seed=", seed,
                  " run.epoch_cycles=10");
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
  set(config, "run.watchdog_cycles=1000000 run.warmup_cycles=100 run.measure_cycles=900");
  EXPECT_NE(error_of({experiment(config)}).find("found at cycle 1000)"), std::string::npos);
  config["run.watchdog_cycles"] = integer(20);  // searches in cycles 20, 40, 80, 160, 320
  EXPECT_NE(error_of({experiment(config)}).find("found at cycle 320)"), std::string::npos);
}

/// A reply needs all credits of a virtual channel, or credits for all its flits. Fewer credits do not let it leave.
TEST(RunDeadlock, IsFoundIfAReplyNeedsManyCredits) {
  for (const char* option : {"router.wait_for_tail_credit=true", "router.flow_control=virtual_cut_through"}) {
    const RawConfig config =
        Settings("topology.kind=mesh topology.shape=[4,4] router.vcs=1 router.buffer_flits=6 ", option,
                 " traffic.mode=request_reply traffic.load=0.9 traffic.window=16 "
                 "traffic.reply_queue=1 traffic.message_classes=1 run.watchdog_cycles=1000 "
                 "run.warmup_cycles=100 run.measure_cycles=30000");
    EXPECT_EQ(error_of({experiment(config)}).rfind("deadlock (replica 0", 0), 0u) << option;
  }
}

/// If a run stalls because of a deadlock, the error reports a deadlock.
TEST(RunDeadlock, IsNoStall) {
  const Experiment ring = experiment(
      "topology.shape=[8,8] router.vcs=1 router.buffer_flits=2 routing.vc_assignment=any traffic.mode=batch "
      "traffic.pattern=tornado traffic.packet_flits=8 traffic.batch_packets=20 run.watchdog_cycles=1000000 "
      "run.stall_cycles=2000");
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
