/// Ctrl-C takes effect in steps of any length, and leaves no cycle partly processed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host/plan/interrupt.hpp"
#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_interrupt_test {
namespace {

using namespace testing;

struct Stop {};

class Interrupt : public ::testing::Test {
 protected:
  void TearDown() override { set_interrupt_check(nullptr); }

  /// Waits longer than the interval between interrupt checks.
  static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
  static void stop() {
    set_interrupt_check([] { throw Stop{}; });
  }
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Experiment trace(const std::string& path) {
  return experiment("traffic.mode=trace traffic.trace_file=", path, " run.epoch_cycles=1000");
}

/// Interrupts a network that is stepped cycle by cycle, a traced one, and one that reads a trace every 64 cycles.
TEST_F(Interrupt, TakesEffectInShortSteps) {
  const testing::TextFile file("0,0,5,1\n70,1,6,2\n900,2,7,3\n");
  for (bool traced : {false, true})
    for (const Experiment& e : {experiment("traffic.load=0.3"), trace(file.path)}) {
      SteppedNetwork whole(e, "cpu", 1, traced), network(e, "cpu", 1, traced);
      whole.step(200);
      network.step(40);
      stop();
      wait();
      EXPECT_THROW(network.step(1), Stop);
      EXPECT_EQ(network.cycle(), 40u);  // stops before a cycle, which has not started
      EXPECT_THROW(network.step(160), Stop);
      set_interrupt_check(nullptr);
      network.step(160);
      EXPECT_EQ(network.state_hash(), whole.state_hash());
      const std::vector<TimedEvent> events = network.take_events(), all = whole.take_events();
      ASSERT_EQ(events.size(), all.size());
      EXPECT_EQ(events.empty(), !traced);
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(events[i].cycle, all[i].cycle) << i;
    }
}

/// An error in the middle of an epoch does not overwrite the run's last checkpoint.
TEST_F(Interrupt, OnlyAStopSavesWithinAnEpoch) {
  std::string text;
  for (u32 n = 0; n < 400; ++n) text += std::to_string(10 * n) + ",0,5,1\n";
  const testing::TextFile file(text + "4000,0,99,1\n");  // terminal 99 does not exist; found late in an epoch
  const std::string path = testing::temporary(".checkpoint");
  std::string saved;
  u64 cycle = 0;
  EXPECT_THROW(run_job({trace(file.path)}, {"cpu", 1, false},
                       [&](const Progress& progress) {
                         cycle = progress.cycle;
                         saved = bytes_of(path);
                       },
                       {path, 0}),
               ConfigError);
  EXPECT_GT(cycle, 0u);
  EXPECT_FALSE(saved.empty());
  EXPECT_TRUE(bytes_of(path) == saved);
  std::filesystem::remove(path);
}

/// A step is processed in pieces, between which flitlab checks for interrupts. Pieces grow once: short steps after long
/// ones are not divided again.
TEST_F(Interrupt, PiecesGrowOnceAndStayLong) {
  static u32 polls;
  polls = 0;
  set_interrupt_check([] { ++polls; });
  const Experiment e = experiment("traffic.load=0.1");
  testing::Network net(e);
  WorkSlicer slicer(16, std::chrono::hours(1));  // first piece: a cycle of 16 routers; no time limit
  const u32 only[] = {0};
  advance(*net.engine, *net.plan, net.feeds, net.skips, 100, only, slicer);
  EXPECT_GE(polls, 6u);  // checks after 1, 2, 4, 8, 16 and 32 more cycles
  const u32 before = polls;
  advance(*net.engine, *net.plan, net.feeds, net.skips, 64, only, slicer);
  EXPECT_LE(polls, before + 1);  // one more check if the machine was busy
}

}  // namespace
}  // namespace flitlab::run_interrupt_test
