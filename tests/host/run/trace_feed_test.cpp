/// Trace replay, compared with a naive model of creation times. Also tests streaming, checkpoints and wrong files.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "host/run/trace_feed.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/philox.hpp"
#include "tests/support/build.hpp"
#include "tests/support/temporary.hpp"

namespace flitlab::run_trace_feed_test {
namespace {

using namespace testing;

struct Line {
  u32 cycle, source, destination, flits;
  std::vector<u32> needs = {};
};

std::string write_trace(const std::string& text) {
  const std::string path = testing::temporary(".csv");
  std::ofstream(path) << text;
  return path;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text = "# cycle,source,destination,flits,needs\n";
  for (const Line& l : lines) {
    text += std::to_string(l.cycle) + "," + std::to_string(l.source) + "," + std::to_string(l.destination) + "," +
            std::to_string(l.flits);
    for (const u32 needed : l.needs) text += "," + std::to_string(needed);
    text += "\n";
  }
  return text;
}

std::string write_trace(const std::vector<Line>& lines) { return write_trace(text_of(lines)); }

/// Returns random packets between 16 terminals. Every other packet depends on earlier packets, which arrive at its
/// source: the last `most` of them, if there are as many among the last 200 packets.
std::vector<Line> random_lines(u32 count, u32 spacing, u64 seed, u32 most = 1) {
  std::vector<Line> lines;
  u32 cycle = 0;
  for (u32 n = 0; n < count; ++n) {
    const Random4 r = philox(seed, 99, 0, n);
    cycle += r.word[0] % (spacing + 1);
    Line line{cycle, r.word[1] % 16, r.word[2] % 16, 1 + r.word[3] % 6};
    if (n % 2)
      for (u32 back = 1; back <= n && back < 200 && line.needs.size() < most; ++back)
        if (lines[n - back].destination == line.source) line.needs.push_back(n - back);
    lines.push_back(line);
  }
  return lines;
}

Experiment replay(const std::string& path, RawConfig more = {}) {
  set(more, "topology.kind=mesh traffic.mode=trace traffic.trace_file=", std::filesystem::absolute(path).string());
  return experiment(more);
}

/// Returns the correct creation cycle of each packet for the given arrival cycles. `ready`: traffic.trace_order.
std::vector<u64> creations(const std::vector<Line>& lines, const std::vector<u64>& arrived, bool ready) {
  std::vector<u64> created(lines.size()), last(16, 0);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    u64 at = std::max<u64>(lines[n].cycle, ready ? 0 : last[lines[n].source]);
    for (const u32 needed : lines[n].needs) at = std::max(at, arrived[needed] + 1);
    created[n] = last[lines[n].source] = at;
  }
  return created;
}

/// Replays a trace to its end and compares all latencies with the naive model.
void expect_naive_creations(const std::vector<Line>& lines, bool ready = false) {
  SteppedNetwork net(replay(write_trace(lines), Settings("traffic.trace_order=", ready ? "ready" : "file")), "cpu", 1,
                     true);
  std::vector<u64> arrived(lines.size(), 0);
  u64 delivered = 0, created_events = 0;
  for (int i = 0; delivered < lines.size() && i < 2000; ++i) {
    net.step(37);
    for (const TimedEvent& e : net.take_events()) {
      if (e.event.kind == EventKind::kCreated) {
        EXPECT_EQ(e.event.dst, lines[e.event.id].destination);
        ++created_events;
      }
      if (e.event.kind != EventKind::kDelivered) continue;
      EXPECT_EQ(e.event.src, lines[e.event.id].source);
      EXPECT_EQ(e.index, lines[e.event.id].destination);
      EXPECT_EQ(e.event.flits, lines[e.event.id].flits);
      EXPECT_EQ(arrived[e.event.id], 0u) << "delivered twice";
      arrived[e.event.id] = e.cycle;
      ++delivered;
    }
  }
  ASSERT_EQ(delivered, lines.size());
  EXPECT_EQ(created_events, lines.size());
  const std::vector<u64> created = creations(lines, arrived, ready);
  u64 latency = 0;
  for (std::size_t n = 0; n < lines.size(); ++n) latency += arrived[n] - created[n];
  EXPECT_EQ(net.totals()["latency_sum"], latency);
  EXPECT_EQ(net.totals()["packets_created"], lines.size());
}

class Replay : public ::testing::TestWithParam<u32> {};

/// Loads from nearly idle (`spacing` 12) to far past saturation (0: all packets at once, with long queues at the
/// sources).
TEST_P(Replay, CreatesPacketsWhenItShould) { expect_naive_creations(random_lines(3000, GetParam(), 7)); }

/// The same with packets that overtake packets that wait, and that need up to five packets.
TEST_P(Replay, CreatesPacketsWhenTheyAreReady) {
  expect_naive_creations(random_lines(3000, GetParam(), 8, 5), true);
  expect_naive_creations(random_lines(3000, GetParam(), 9, 1), true);
}

INSTANTIATE_TEST_SUITE_P(Spacings, Replay, ::testing::Values(0u, 1u, 3u, 12u));

/// The last packet depends on a packet that arrives while the last one is still far back in a long queue.
TEST(Trace, ReleasesPacketsThatAreStillQueuedOnTheHost) {
  std::vector<Line> lines{{0, 2, 0, 1}};
  for (int i = 0; i < 150; ++i) lines.push_back({0, 0, 1, 1});
  lines.push_back({0, 0, 1, 1, {0}});
  expect_naive_creations(lines);
  expect_naive_creations(lines, true);
}

/// A terminal sends a packet that is ready, although 63 packets before it wait. The packet after it is not among the
/// next 64 packets of the terminal, so it leaves after the next exchange. Packets of the same cycle leave in the order
/// of the file.
TEST(Trace, PacketsOvertakeThoseThatWait) {
  std::vector<Line> lines{{0, 5, 0, 1000}};  // arrives after 1000 cycles
  for (int i = 0; i < 63; ++i) lines.push_back({0, 0, 1, 1, {0}});
  for (int i = 0; i < 2; ++i) lines.push_back({0, 0, 2, 1});
  const Experiment e = replay(write_trace(lines), Settings("traffic.trace_order=ready"));
  SteppedNetwork net(e, "cpu", 1, true);
  std::vector<std::pair<u32, u64>> sent;
  for (int i = 0; i < 20; ++i) {
    net.step(100);
    for (const TimedEvent& event : net.take_events())
      if (event.event.kind == EventKind::kInjected && event.event.src == 0)
        sent.push_back({event.event.id, event.cycle});
  }
  ASSERT_EQ(sent.size(), 65u);
  EXPECT_EQ(sent[0].first, 64u);
  EXPECT_LT(sent[0].second, 5u);
  EXPECT_EQ(sent[1].first, 65u);  // moves up at the next exchange
  EXPECT_GE(sent[1].second, kTraceQueue);
  EXPECT_LT(sent[1].second, kTraceQueue + 5);
  for (u32 n = 2; n < 65; ++n) EXPECT_EQ(sent[n].first, n - 1);
  EXPECT_GT(sent[2].second, 1000u);
}

/// More packets wait than a terminal's queue can hold, and those in it need more packets than its list can hold: the
/// packets that they need have 40 flits each and the same destination, so they arrive late.
TEST(Trace, PacketsWaitOnTheHostUntilThereIsRoom) {
  std::vector<Line> lines;
  for (u32 n = 0; n < 60; ++n) lines.push_back({0, 1 + n % 15, 0, 40});
  for (u32 n = 0; n < 200; ++n) {
    Line line{1, 0, 1 + n % 15, 1};
    for (u32 k = 0; k < 1 + n % 12; ++k) line.needs.push_back((n * 7 + k * 5) % 60);
    lines.push_back(line);
  }
  expect_naive_creations(lines, true);
}

/// With self-throttling, cycles of the file have no effect, dependencies do, and the order of creation is the same.
TEST(Trace, SelfThrottlingIgnoresCycles) {
  std::vector<Line> lines = random_lines(3000, 12, 10, 3), squeezed = lines;
  for (Line& line : squeezed) line.cycle = 0;
  const auto run = [](const std::vector<Line>& of, const char* more) {
    return run_job({replay(write_trace(of), Settings("traffic.trace_order=ready ", more))}, {"cpu", 1, false}, nullptr)
        .front();
  };
  const Result plain = run(lines, ""), throttled = run(lines, "traffic.self_throttling=true"),
               alike = run(squeezed, "traffic.self_throttling=true");
  EXPECT_EQ(throttled.packets.delivered, 3000u);
  EXPECT_LT(throttled.model.at("trace_cycles"), plain.model.at("trace_cycles") / 2);
  EXPECT_EQ(throttled.state_hash, alike.state_hash);
}

TEST(Trace, RunsToItsEnd) {
  const std::vector<Line> lines = random_lines(2000, 3, 1);
  const Experiment e = replay(write_trace(lines));
  const Result r = run_job({e, e}, {"cpu", 2, false}, nullptr).front();
  EXPECT_EQ(r.packets.created, 2000u);
  EXPECT_EQ(r.packets.delivered, 2000u);
  EXPECT_GT(r.model.at("trace_cycles"), lines.back().cycle);
}

/// A long gap between creations is not taken for the end of the trace.
TEST(Trace, WaitsThroughSilence) {
  const Result r = run_job({replay(write_trace("0,0,1,1\n20000,1,0,1\n"))}, {"cpu", 1, false}, nullptr).front();
  EXPECT_EQ(r.packets.delivered, 2u);
  EXPECT_EQ(r.model.at("trace_cycles"), 20012);  // 11 cycles for one flit over one channel, plus cycle 0
}

TEST(Trace, StepsInAnyPortionsAreTheSame) {
  const std::string path = write_trace(random_lines(1500, 1, 3));
  SteppedNetwork whole(replay(path), "cpu", 1, false), parts(replay(path), "cpu", 1, false);
  whole.step(1000);
  for (int i = 0; i < 100; ++i) parts.step(10);
  EXPECT_EQ(whole.state_hash(), parts.state_hash());
}

class Checkpoints : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Orders, Checkpoints,
                         ::testing::Values("traffic.trace_order=file", "traffic.trace_order=ready",
                                           "traffic.trace_order=ready traffic.self_throttling=true"));

TEST_P(Checkpoints, Resume) {
  const bool file_order = std::string(GetParam()).ends_with("file");
  const std::string path = write_trace(random_lines(1500, 1, 4, file_order ? 1 : 3));
  const auto replay = [](const std::string& of) { return run_trace_feed_test::replay(of, Settings(GetParam())); };
  const std::string file = testing::temporary(".checkpoint");
  SteppedNetwork whole(replay(path), "cpu", 1, false), first(replay(path), "cpu", 1, false),
      second(replay(path), "cpu", 1, false);
  whole.step(3000);
  first.step(333);
  first.save(file);
  SteppedNetwork between(replay(path), "cpu", 1, false);
  between.load(file);  // and saves before it reads a line
  between.save(file);
  second.load(file);
  second.step(2667);
  EXPECT_EQ(whole.state_hash(), second.state_hash());
  EXPECT_EQ(whole.totals(), second.totals());
  EXPECT_EQ(second.totals()["packets_delivered"], 1500u);
  std::ofstream(path, std::ios::app) << "900000,0,1,1\n";
  SteppedNetwork third(replay(path), "cpu", 1, false);
  EXPECT_THROW(third.load(file), ConfigError);
}

/// The test changes a checkpoint: a packet that waits on the host, behind a full buffer, then depends on packet
/// `needs`. flitlab rejects the checkpoint if that packet has not been read yet.
TEST(Trace, NoPacketNeedsOneThatIsNotReadYet) {
  constexpr u32 kLast = kTraceQueue + 1;
  std::string text = "0,0,1,1\n";
  for (u32 n = 1; n < kLast; ++n) text += "0,1,2,1\n";
  const Experiment e = replay(write_trace(text + "0,1,2,3,0\n"));
  testing::Network net(e), other(e);
  net.step(1);
  std::ostringstream out;
  Saver saver(out);
  net.feeds[0]->save(saver);
  const TraceEntry last{kLast, 2, 0, 0, 3};
  const auto at = out.str().find(std::string(reinterpret_cast<const char*>(&last), sizeof last));
  ASSERT_NE(at, std::string::npos);
  for (u32 needs : {0u, kLast, kNone, kLast + 1, kLast + 2}) {
    std::string bytes = out.str();
    bytes.replace(at + offsetof(TraceEntry, needs), sizeof needs, reinterpret_cast<const char*>(&needs), sizeof needs);
    std::istringstream in(bytes);
    Loader loader(in);
    if (needs == kLast + 1 || needs == kLast + 2)
      EXPECT_THROW(other.feeds[0]->load(loader), ConfigError) << needs;
    else
      EXPECT_NO_THROW(other.feeds[0]->load(loader)) << needs;
  }
}

/// Returns the error message of a run. A wrong line is found when the clock approaches its cycle.
std::string message_of(const std::string& trace, RawConfig more = {}) {
  try {
    run_job({replay(write_trace(trace), more)}, {"cpu", 1, false}, nullptr);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

/// A network at the end of its trace can load a checkpoint from the middle of the trace.
TEST(Trace, GoesBackFromItsEnd) {
  const std::string path = write_trace(random_lines(300, 4, 5)), checkpoint = testing::temporary(".checkpoint");
  SteppedNetwork net(experiment("traffic.mode=trace traffic.trace_file=", path.c_str()), "cpu", 1, false);
  net.step(200);
  net.save(checkpoint);
  net.step(4000);
  const std::string end = net.state_hash();
  const auto totals = net.totals();
  EXPECT_EQ(totals.at("packets_delivered"), 300u);
  net.load(checkpoint);
  net.step(4000);
  EXPECT_EQ(net.state_hash(), end);
  EXPECT_EQ(net.totals(), totals);
}

/// A text, the text without its last newline, and the text after a byte-order mark are the same trace. This also holds
/// for runs from a checkpoint at the beginning, in the middle and after the last line.
TEST(Trace, EndsWithoutANewlineAndBeginsWithAMark) {
  const std::string text = text_of(random_lines(200, 4, 6));
  std::string end;
  for (const std::string& form : {text, text.substr(0, text.size() - 1), "\xEF\xBB\xBF" + text}) {
    const Experiment e = replay(write_trace(form));
    const std::string checkpoint = testing::temporary(".checkpoint");
    for (const u64 before : {0u, 100u, 500u, 2000u}) {
      SteppedNetwork first(e, "cpu", 1, false), second(e, "cpu", 1, false);
      first.step(before);
      first.save(checkpoint);
      second.load(checkpoint);
      second.step(4000 - before);
      EXPECT_EQ(second.totals()["packets_delivered"], 200u);
      if (end.empty()) end = second.state_hash();
      EXPECT_EQ(second.state_hash(), end) << before;
    }
  }
}

TEST(Trace, BadFilesAreNamed) {
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("traffic.trace_file"), std::string::npos) << text;
  };
  has(message_of("0,0,1,1\n0,0,16,1\n"),
      ":2: \"0,0,16,1\": terminal 16 does not exist: terminals are numbered 0 to 15.");
  has(message_of("0,16,0,1\n"), "terminal 16 does not exist");
  has(message_of("5,0,1,1\n4,0,1,1\n"), "time goes backwards: the line before is at cycle 5");
  has(message_of("0,0,1\n"), "a line is cycle,source,destination,flits[,cCLASS][,needs]");
  has(message_of("0,0,0,1\n9,0,0,1\n9,0,1,1,0,1\n"), "Set traffic.trace_order = \"ready\"");
  const RawConfig ready = Settings("traffic.trace_order=ready");
  has(message_of("0,0,1,1,2,x\n", ready), "a line is cycle,source,destination,flits[,cCLASS][,needs...]");
  has(message_of("0,0,0,1\n9,0,1,1,0,1\n", ready), "it can only need an earlier one");
  has(message_of("0,0,0,1\n0,0,1,1\n9,0,1,1,0,1\n", ready), "packet 1 goes to terminal 1, and terminal 0 does not");
  std::string many = "0,0,0,1\n9,0,1,1";
  for (int i = 0; i < 65; ++i) many += ",0";
  has(message_of(many, ready), "it needs 65 packets; at most 64 are possible");
  has(message_of("0,0,1,1\n", Settings("traffic.trace_regions=[0]")),
      "traffic.trace_regions applies to traces of Netr");
  has(message_of("0,0,1,1\n0,0,1"), "The file ends in the middle of a line.");
  has(message_of("\xFF\xFE"
                 "0"),
      "it begins with the byte-order mark of UTF-16. Save it as UTF-8.");
  has(message_of("0,0,x,1\n"), "a line is");
  has(message_of("0,0,-1,1\n"), "a line is");
  has(message_of("0,0,1.5,1\n"), "a line is");
  has(message_of("0,0,1,0\n"), "1 to 4095 flits");
  has(message_of("0,0,1,9\n", Settings("router.flow_control=virtual_cut_through")), "1 to 8 flits");
  has(message_of("0,0,1,1,0\n"), "it can only need an earlier one");
  has(message_of("0,0,1,1\n0,2,1,1,0\n"), "packet 0 goes to terminal 1, and terminal 2 does not see its arrival");
  has(message_of("99999999999,0,1,1\n"), "the cycle must be below 2000000000");
  has(message_of(std::string("\x1f\x8b\x08\x00garbage\n", 12)), "is compressed with gzip");
  has(message_of("BZh91AY"), "expand it with bunzip2");
}

TEST(Trace, UnreadableFilesAreNamed) {
  for (const char* path : {"no/such/file.csv", "/"}) {
    try {
      run_job({replay(path)}, {"cpu", 1, false}, nullptr);
      ADD_FAILURE() << path;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("cannot be read"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(experiment("traffic.mode=trace"), ConfigError);
}

TEST(Trace, AnEmptyFileIsAnEmptyRun) {
  const Result r = run_job({replay(write_trace("# nothing\n"))}, {"cpu", 1, false}, nullptr).front();
  EXPECT_EQ(r.packets.created, 0u);
}

}  // namespace
}  // namespace flitlab::run_trace_feed_test
