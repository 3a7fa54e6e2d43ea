/// Periodic sources: one packet a period, at a phase drawn for each terminal.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kernels/traffic/traffic.hpp"

namespace flitlab::traffic_periodic_test {
namespace {

/// Each of the 64 phases has 20 terminals on average, so the probability that a phase has none is e^-20.
TEST(Periodic, PhasesAreSpreadOverThePeriod) {
  TrafficTable table;
  table.injection = Injection::kPeriodic;
  ReplicaRow row;
  row.period = 64;
  std::vector<u32> times(64, 0);
  for (u32 terminal = 0; terminal < 64 * 20; ++terminal) {
    SourceCursor cursor = first_creation(table, row, terminal);
    ASSERT_LT(cursor.at, 64u);
    ++times[cursor.at];
    const Cycle first = cursor.at;
    for (u32 n = 1; n < 4; ++n) {
      next_creation(table, row, terminal, cursor);
      EXPECT_EQ(cursor.at, first + n * 64);
    }
  }
  for (u32 phase = 0; phase < 64; ++phase) EXPECT_GT(times[phase], 0u) << phase;
}

TEST(Periodic, PhasesDependOnTheSeed) {
  TrafficTable table;
  table.injection = Injection::kPeriodic;
  std::set<Cycle> phases;
  for (u64 seed = 1; seed <= 20; ++seed) {
    ReplicaRow row;
    row.period = 1000;
    row.seed = seed;
    phases.insert(first_creation(table, row, 0).at);
  }
  EXPECT_GT(phases.size(), 10u);
}

}  // namespace
}  // namespace flitlab::traffic_periodic_test
