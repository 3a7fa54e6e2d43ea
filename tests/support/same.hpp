#pragma once
/// Comparison of two engines, for example one on a CPU and one on a GPU: all of a replica's state and all counters.
#include <gtest/gtest.h>

#include "kernels/engines/engine.hpp"

namespace flitlab::testing {

/// Lets engines measure packets from now until `end`. Then counters of measured packets are compared, too, and
/// histograms are not empty.
inline void measure_until(Cycle end, std::initializer_list<Engine*> engines) {
  for (Engine* engine : engines)
    for (u32 replica = 0; replica < engine->replicas(); ++replica) {
      ReplicaRow row = engine->row(replica);
      row.window_begin = engine->now();
      row.window_end = end;
      engine->set_row(replica, row);
    }
}

/// Expects that both engines have the same state and counters. Call it in ASSERT_NO_FATAL_FAILURE, or last.
inline void expect_the_same(Engine& a, Engine& b, u32 replica = 0) {
  ASSERT_EQ(a.state_hash(replica), b.state_hash(replica)) << "replica " << replica << ", cycle " << b.now();
  // The hashes are of the whole states, and take less time than copies.
  if (b.now() % 16 == 0) {
    ASSERT_TRUE(a.state(replica) == b.state(replica)) << "replica " << replica;
  }
  const CounterShard of_a = a.counters(replica), of_b = b.counters(replica);
  for (u32 i = 0; i < kTotals; ++i) ASSERT_EQ(of_a.total[i], of_b.total[i]) << "total " << i;
  for (u32 i = 0; i < kHistogramBins; ++i) {
    ASSERT_EQ(of_a.latency[i], of_b.latency[i]) << "latency bin " << i;
    ASSERT_EQ(of_a.network_latency[i], of_b.network_latency[i]) << "network latency bin " << i;
  }
}

/// Returns how many packets a replica has measured from creation to arrival. If it is 0, a comparison of histograms is
/// void.
inline u64 measured(Engine& engine, u32 replica = 0) {
  return engine.counters(replica).total[static_cast<u32>(Total::kMeasuredDelivered)];
}

}  // namespace flitlab::testing
