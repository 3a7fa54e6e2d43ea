/// Checkpoints: jobs that are stopped repeatedly give the same results, bit by bit. flitlab rejects damaged files as a
/// whole.
#include "host/run/checkpoint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/config/registry.hpp"
#include "host/plan/interrupt.hpp"
#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"
#include "tests/support/results.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_checkpoint_test {
namespace {

using namespace testing;

struct Stop {};

/// Runs a job that is stopped after every `epochs` epochs and restarted from its file. Returns its results.
std::vector<Result> in_pieces(const std::vector<Experiment>& experiments, int epochs, int* pieces = nullptr) {
  const std::string path = testing::temporary(".checkpoint");
  for (int piece = 1;; ++piece) {
    int left = epochs;
    try {
      auto results = run_job(experiments, {"cpu", 1, false},
                             [&](const Progress&) {
                               if (--left == 0) throw Stop{};
                             },
                             {path, 1e9});
      // The file contains the end of the job as well, for a caller that has lost the results.
      const auto again = run_job(experiments, {"cpu", 1, false}, nullptr, {path, 1e9});
      EXPECT_EQ(again.front().state_hash, results.front().state_hash);
      EXPECT_EQ(again.front().cycles, results.front().cycles);
      EXPECT_EQ(std::memcmp(&again.front().latency_cycles, &results.front().latency_cycles, sizeof(LatencyStats)), 0);
      std::filesystem::remove(path);
      if (pieces) *pieces = piece;
      return results;
    } catch (const Stop&) {
      EXPECT_TRUE(std::filesystem::exists(path));
    }
  }
}

u32 interrupt_checks = 0;

/// Ctrl-C takes effect between two cycles, without waiting for the end of a long epoch, and the run resumes from there.
/// The epoch is longer than its first piece, which has 636 cycles for a switch (EngineCost) on any machine.
TEST(Checkpoint, AStopWithinAnEpochTakesEffectAndIsKept) {
  const std::string path = testing::temporary(".checkpoint");
  const std::vector<Experiment> jobs{
      experiment("router.kind=switch traffic.load=0.01 run.epoch_cycles=300000 run.warmup_cycles=300000 "
                 "run.measure_cycles=300000")};
  std::vector<u64> whole_ends, ends;
  const std::vector<Result> whole =
      run_job(jobs, {"cpu", 1, false}, [&](const Progress& p) { whole_ends.push_back(p.cycle); });
  interrupt_checks = 0;
  set_interrupt_check([] {
    if (++interrupt_checks % 2 == 0) throw Stop{};
  });
  std::vector<Result> pieces;
  int stops = 0;
  while (pieces.empty()) {
    try {
      pieces = run_job(jobs, {"cpu", 1, false}, [&](const Progress& p) { ends.push_back(p.cycle); }, {path, 1e9});
    } catch (const Stop&) {
      ++stops;
    }
  }
  set_interrupt_check(nullptr);
  std::filesystem::remove(path);
  EXPECT_GE(stops, 2);
  EXPECT_EQ(ends, whole_ends);
  expect_the_same(whole, pieces);
}

/// The replicas of a job are at different points of their runs: one is saturated and ends early, others still warm up
/// or drain.
TEST(Checkpoint, InterruptedJobsEndTheSame) {
  std::vector<Experiment> replicas;
  for (double load : {0.05, 0.3, 0.9})
    replicas.push_back(experiment("traffic.load=", load, " run.measure_cycles=3000"));
  int pieces = 0;
  expect_the_same(run_job(replicas, {"cpu", 1, false}, nullptr), in_pieces(replicas, 3, &pieces));
  EXPECT_GT(pieces, 5);
}

/// A finished replica keeps the state of the cycle in which it ended: past saturation, a run ends with its window,
/// without a drain.
TEST(Checkpoint, InterruptedJobsOfEveryModelEndTheSame) {
  for (const ModelRecord& model : models()) {
    std::vector<Experiment> replicas;
    const bool slow = model.kind == "bgl";  // packets take hundreds of cycles
    for (double load : {slow ? 0.01 : 0.05, 0.2, 0.9})
      replicas.push_back(experiment(Settings{"router.kind=", std::string(model.kind), " traffic.load=", load,
                                             " run.epoch_cycles=50 run.warmup_cycles=150 run.measure_cycles=",
                                             slow ? 1200 : 300, " run.drain_cycles=", slow ? 1200 : 300}));
    SCOPED_TRACE(model.kind);
    int pieces = 0;
    const std::vector<Result> whole = run_job(replicas, {"cpu", 1, false}, nullptr);
    expect_the_same(whole, in_pieces(replicas, 1, &pieces));
    EXPECT_GT(pieces, 7);
    const auto [first, last] =
        std::ranges::minmax_element(whole, {}, [](const Result& result) { return result.cycles; });
    if (model.kind == "switch") {
      EXPECT_GT(last->cycles, first->cycles);  // the audit uses the clock of the replica
    }
  }
}

TEST(Checkpoint, InterruptedClosedLoopsAndTracesEndTheSame) {
  const Experiment loop = experiment("traffic.mode=request_reply traffic.load=0.5");
  expect_the_same(run_job({loop}, {"cpu", 1, false}, nullptr), in_pieces({loop}, 7));
  const std::string path = testing::temporary(".csv");
  std::ofstream file(path);
  for (u32 n = 0; n < 4000; ++n)  // every third packet depends on the one seven lines before
    file << n / 2 << ',' << n % 16 << ',' << (n + 7) % 16 << ',' << 1 + n % 5
         << (n % 3 == 0 && n >= 7 ? "," + std::to_string(n - 7) : "") << '\n';
  file.close();
  const Experiment trace = experiment("traffic.mode=trace traffic.trace_file=", path);
  expect_the_same(run_job({trace, trace}, {"cpu", 1, false}, nullptr), in_pieces({trace, trace}, 1));
}

/// Checkpoints of Blue Gene/L's torus include the calendar.
TEST(Checkpoint, InterruptedTorusesOfBlueGeneEndTheSame) {
  const std::string path = testing::temporary(".csv");
  std::ofstream file(path);
  for (u32 n = 0; n < 800; ++n)
    file << n * 20 << ',' << n % 16 << ',' << (n + 7) % 16 << ',' << 1 + n % 8
         << (n % 3 == 0 && n >= 7 ? "," + std::to_string(n - 7) : "") << '\n';
  file.close();
  const RawConfig kModes[] = {Settings("traffic.load=0.03 injection.infinite=true run.measure_cycles=4000"),
                              Settings("traffic.mode=batch traffic.batch_packets=30 topology.shape=[3,3,2]"),
                              Settings("traffic.mode=trace traffic.trace_file=", path, " reception.take_interval=90")};
  for (RawConfig config : kModes) {
    set(config, "router.kind=bgl run.epoch_cycles=200");
    const Experiment e = experiment(config);
    int pieces = 0;
    expect_the_same(run_job({e}, {"cpu", 1, false}, nullptr), in_pieces({e}, 2, &pieces));
    EXPECT_GT(pieces, 3);
  }
}

/// Returns the error that ends a job. The job is stopped after every epoch or not at all.
std::string error_of(const Experiment& e, bool stopped) {
  const std::string path = testing::temporary(".checkpoint");
  for (;;) {
    try {
      run_job({e}, {"cpu", 1, false},
              [&](const Progress&) {
                if (stopped) throw Stop{};
              },
              {stopped ? path : "", 1e9});
      return "";
    } catch (const Stop&) {
    } catch (const std::exception& error) {
      std::filesystem::remove(path);
      return error.what();
    }
  }
}

/// A job that is stopped often searches for deadlock in the same cycles as a job that is not stopped, rather than in
/// every epoch.
TEST(Checkpoint, DeadlockIsFoundAtTheSameCycle) {
  const auto deadlock = [](int watchdog) {
    return experiment(
        "topology.kind=mesh traffic.mode=request_reply traffic.load=1.0 traffic.window=64 traffic.reply_queue=1 "
        "traffic.message_classes=1 router.vcs=2 run.epoch_cycles=10 run.watchdog_cycles=",
        watchdog);
  };
  const std::string whole = error_of(deadlock(150), false);
  EXPECT_NE(whole.find("found at cycle"), std::string::npos) << whole;
  const auto cycle = [](const std::string& text) { return std::stoi(text.substr(text.find("found at cycle ") + 15)); };
  // The deadlock begins between two searches: searches in other cycles find it earlier (7, 14, 28, ..., 224).
  const int earliest = cycle(error_of(deadlock(7), false));
  EXPECT_GT(earliest, 150);
  EXPECT_LT(earliest, cycle(whole));
  EXPECT_EQ(error_of(deadlock(150), true), whole);
}

/// Line numbers of a trace continue after a restart, so an error names a wrong line by its number in the file.
TEST(Checkpoint, TraceLinesKeepTheirNumbers) {
  std::string text = "# cycle,source,destination,flits\n\n";
  for (u32 n = 0; n < 300; ++n) text += std::to_string(20 * n) + ",0,1,1\n";
  const testing::TextFile trace(text + "6000,0,99,1\n");
  const Experiment e = experiment("traffic.mode=trace traffic.trace_file=", trace.path.c_str());
  const std::string whole = error_of(e, false);
  EXPECT_NE(whole.find(":303: \"6000,0,99,1\""), std::string::npos) << whole;
  EXPECT_EQ(error_of(e, true), whole);
}

/// flitlab rejects a checkpoint in which any byte is changed or which is cut at any point.
TEST(Checkpoint, DamageIsFound) {
  const std::string path = testing::temporary(".checkpoint");
  save_checkpoint(path, 7, [](Saver& saver) {
    saver(std::vector<u32>{1, 2, 3}, std::string("text"), std::map<std::string, double>{{"a", 1.5}});
  });
  const auto read = [&](u64 configuration) {
    std::vector<u32> list;
    std::string text;
    std::map<std::string, double> map;
    load_checkpoint(path, configuration, [&](Loader& loader) { loader(list, text, map); });
    EXPECT_EQ(list, (std::vector<u32>{1, 2, 3}));
    EXPECT_EQ(text, "text");
    EXPECT_EQ(map.at("a"), 1.5);
  };
  read(7);
  EXPECT_THROW(read(8), ConfigError);
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] ^= 0x10;
    write(changed);
    EXPECT_THROW(read(7), ConfigError) << i;
    write(whole.substr(0, i));
    EXPECT_THROW(read(7), ConfigError) << i;
  }
}

class ForgedCheckpoint : public ::testing::TestWithParam<std::string> {};

/// The checksum is valid, but the state counts one packet more than it contains. flitlab rejects the checkpoint, and
/// the network that should load it stays unchanged.
TEST_P(ForgedCheckpoint, OfAStateThatLosesPacketsIsRefused) {
  const Experiment e = experiment("router.kind=", GetParam(), " traffic.load=0.3");
  testing::Network net(e);
  SteppedNetwork other(e, "cpu", 1, false);
  net.step(200);
  other.step(200);
  const std::string path = testing::temporary(".checkpoint"), before = other.state_hash();
  const auto save = [&] {
    save_checkpoint(path, configuration_hash({e}), [&](Saver& saver) {
      saver(net.engine->now());
      save_replica(saver, *net.engine, 0);
    });
  };
  save();
  EXPECT_NO_THROW(other.load(path));
  EXPECT_EQ(other.state_hash(), before);
  CounterShard counters = net.engine->counters(0);
  ++counters.total[u32(Total::kPacketsInjected)];
  net.engine->set_counters(0, counters);
  net.step(10);
  save();
  try {
    other.load(path);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("packets are not conserved"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("defect of flitlab"), std::string::npos) << error.what();
  }
  EXPECT_EQ(other.state_hash(), before);
  other.step(10);
  EXPECT_NO_THROW(other.check());
}

INSTANTIATE_TEST_SUITE_P(Models, ForgedCheckpoint,
                         ::testing::Values("vc", "t3e", "bgl", "metro", "sconnect", "adaptive", "bless", "switch"));

}  // namespace
}  // namespace flitlab::run_checkpoint_test
