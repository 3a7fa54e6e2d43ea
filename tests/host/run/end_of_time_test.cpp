/// The end of emulated time: clocks have 32 bits, and a run ends before they wrap.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "host/run/checkpoint.hpp"
#include "host/run/stepped.hpp"
#include "host/run/trace_feed.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/traffic.hpp"
#include "tests/support/build.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_end_of_time_test {
namespace {

using namespace testing;

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

/// Returns the latency sum of packets that are created every 40 cycles from `start` on. The clock of the network is set
/// to `start`.
u64 latencies(const char* kind, Cycle start) {
  const std::string path = testing::temporary(".csv");
  std::ofstream file(path);
  for (u32 n = 0; n < 60; ++n)
    file << start + 40 * n << ',' << n % 8 << ',' << (n * 3 + 1) % 8
         << (kind == std::string("metro") ? ",4\n" : ",1\n");
  file.close();
  Network net(experiment(Settings{"router.kind=", kind, " traffic.mode=trace traffic.trace_file=", path.c_str()}));
  net.engine->set_now(start);
  net.step(2990);
  EXPECT_EQ(net.total(Total::kPacketsDelivered), 60u);
  EXPECT_NE(error_of([&] { net.step(kEndOfTime - start); }).find("cannot be reached"), std::string::npos);
  EXPECT_EQ(net.engine->now(), start + 2990);
  if (start) net.step(kEndOfTime - net.engine->now());
  EXPECT_EQ(net.engine->now(), start ? kEndOfTime : 2990);
  return net.total(Total::kLatencySum);
}

/// Networks behave the same up to the end of time.
TEST(EndOfTime, NetworksWorkUpToIt) {
  const Cycle late = (kEndOfTime - 2990) / 61440 * 61440;  // rules that depend on the cycle use low bits of the clock
  for (const char* kind : {"vc", "t3e", "bgl", "metro", "sconnect", "adaptive", "bless", "switch"}) {
    SCOPED_TRACE(kind);
    EXPECT_EQ(latencies(kind, 0), latencies(kind, late));
  }
}

TEST(EndOfTime, AStepPastItDoesNothing) {
  SteppedNetwork net(experiment("traffic.load=0.1"), "cpu", 1, false);
  net.step(100);
  const std::string before = net.state_hash();
  EXPECT_NE(error_of([&] { net.step(kEndOfTime - 99); }).find("emulated time ends at 2000000000"), std::string::npos);
  EXPECT_EQ(net.cycle(), 100u);
  EXPECT_EQ(net.state_hash(), before);
}

/// A checkpoint sets the clock. Close to the end of time a network continues up to the end and no further; past the end
/// none starts.
TEST(EndOfTime, CheckpointsLeadUpToIt) {
  const testing::TextFile trace(std::to_string(kEndOfTime - 400) + ",0,5,3\n");
  const Experiment e = experiment("traffic.mode=trace traffic.trace_file=", trace.path);
  const std::string path = testing::temporary(".checkpoint");
  Network fresh(e);
  const auto from = [&](Cycle now) {
    save_checkpoint(path, configuration_hash({e}), [&](Saver& saver) {
      saver(now);
      save_replica(saver, *fresh.engine, 0);
      fresh.feeds[0]->save(saver);
    });
    SteppedNetwork net(e, "cpu", 2, false);
    net.load(path);
    net.step(kEndOfTime - now);
    net.check();
    EXPECT_EQ(net.cycle(), kEndOfTime);
    EXPECT_EQ(net.totals().at("packets_delivered"), 1u);
    net.step(1);
  };
  constexpr Cycle kLate = kEndOfTime / kTraceQueue * kTraceQueue - 8 * kTraceQueue;
  EXPECT_NE(error_of([&] { from(kLate); }).find("cycle 2000000001 cannot be reached"), std::string::npos);
  EXPECT_NE(error_of([&] { from(kEndOfTime + 7); }).find("cycle 2000000007 cannot be reached"), std::string::npos);
}

TEST(EndOfTime, ProgramsThatComputeForLongerAreRefused) {
  const std::string path = testing::temporary(".program");
  const auto program = [&](int calls) {
    std::ofstream file(path);
    for (int i = 0; i < calls; ++i) file << "0,compute,999999999\n";
    file.close();
    return testing::message_of(
        [&] { make_plan(experiment("router.kind=bgl traffic.mode=program traffic.program_file=", path.c_str())); });
  };
  EXPECT_EQ(program(2), "");
  testing::expect_in("rank 0 computes 2999999997 cycles up to here, and emulated time ends at 2000000000", program(3));
}

/// On-off sources offer the configured load, however small: events after the end of time never occur, and events before
/// it are not lost.
TEST(EndOfTime, OnOffSourcesOfTinyLoadsOfferTheConfiguredLoad) {
  for (double load : {1e-9, 1e-7, 1e-6}) {
    const Experiment e = experiment("topology.shape=[16,16] traffic.injection=on_off traffic.load=", load,
                                    " traffic.burst_load=0.02 traffic.packet_flits=1");
    const ReplicaRow row = make_row(e);
    TrafficTable table;
    table.injection = Injection::kOnOff;
    double packets = 0;
    const u32 terminals = 100;
    for (u32 terminal = 0; terminal < terminals; ++terminal) {
      SourceCursor cursor = first_creation(table, row, terminal);
      for (; cursor.at < kEndOfTime; next_creation(table, row, terminal, cursor)) ++packets;
    }
    const double expected = load * kEndOfTime * terminals;
    // Bursts have few packets each, so packets are nearly independent.
    EXPECT_NEAR(packets, expected, 6 * std::sqrt(expected)) << load;
  }
}

}  // namespace
}  // namespace flitlab::run_end_of_time_test
