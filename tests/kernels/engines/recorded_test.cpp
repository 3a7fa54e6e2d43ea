/// Final state, counters and events of every variation of every model, compared with a recording. A change that
/// preserves behaviour leaves all of them as they are. After one that does not,
///
///     FLITLAB_RECORD=1 build/release/flitlab_tests --gtest_filter='RecordedList.*'
///
/// writes recorded.csv again. Other tests check that the recorded results are right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "host/config/registry.hpp"
#include "kernels/common/bits.hpp"
#include "tests/support/build.hpp"
#include "tests/support/variations.hpp"

namespace flitlab::engines_recorded_test {
namespace {

using testing::Network;
using testing::variations;

const std::filesystem::path kFile = std::filesystem::path(__FILE__).parent_path() / "recorded.csv";

struct Hash {
  u64 value = 0;

  void operator()(u64 word) { value = mix64(value + word + 0x9E3779B97F4A7C15ull); }
};

u64 hash_of_counters(const CounterShard& shard) {
  Hash hash;
  for (u64 total : shard.total) hash(total);
  for (u64 packets : shard.latency) hash(packets);
  for (u64 packets : shard.network_latency) hash(packets);
  return hash.value;
}

u64 hash_of_events(const Experiment& e) {
  Network net(e, {"cpu", 1, true, 1});
  Hash hash;
  for (u32 cycle = 0; cycle < 400; ++cycle) {
    net.step(1);
    for (const std::vector<Event>& item : net.engine->take_events(0)) {
      hash(item.size());
      for (const Event& event : item)
        for (u64 part : {u64{event.src}, u64{event.id}, static_cast<u64>(event.kind), u64{event.port}, u64{event.vc},
                         u64{event.out_port}, u64{event.out_vc}, u64{event.flit}, u64{event.flits}})
          hash(part);
    }
  }
  return hash.value;
}

std::string found(const Experiment& e) {
  Network net(e);
  ReplicaRow row = net.engine->row(0);
  row.window_begin = 400;
  row.window_end = 2000;
  net.engine->set_row(0, row);
  net.step(3000);
  std::ostringstream line;
  line << std::hex << net.engine->state_hash(0) << ',' << hash_of_counters(net.engine->counters(0)) << ','
       << hash_of_events(e);
  return line.str();
}

/// A recorded line: model and number of the variation, and its hashes.
struct Line {
  std::string kind;
  u32 number;
  std::string hashes;
};

std::vector<Line> recorded() {
  std::vector<Line> lines;
  std::ifstream file(kFile);
  std::string kind, number, hashes;
  while (std::getline(file, kind, ',') && std::getline(file, number, ',') && std::getline(file, hashes))
    lines.push_back({kind, static_cast<u32>(std::stoul(number)), hashes});
  return lines;
}

class Recorded : public ::testing::TestWithParam<Line> {};

TEST_P(Recorded, EndsAsItDid) {
  const std::vector<Experiment> all = variations(GetParam().kind);
  ASSERT_LT(GetParam().number, all.size());
  EXPECT_EQ(found(all[GetParam().number]), GetParam().hashes);
}

INSTANTIATE_TEST_SUITE_P(Variations, Recorded, ::testing::ValuesIn(recorded()),
                         [](const auto& line) { return line.param.kind + "_" + std::to_string(line.param.number); });

TEST(RecordedList, HasEveryVariation) {
  if (std::getenv("FLITLAB_RECORD")) {
    std::ofstream file(kFile);
    for (const ModelRecord& model : models()) {
      u32 number = 0;
      for (const Experiment& e : variations(model.kind))
        file << model.kind << ',' << number++ << ',' << found(e) << '\n';
    }
  }
  std::map<std::string, std::size_t> lines;
  for (const Line& line : recorded()) ++lines[line.kind];
  for (const ModelRecord& model : models())
    EXPECT_EQ(lines[std::string(model.kind)], variations(model.kind).size()) << model.kind;
}

}  // namespace
}  // namespace flitlab::engines_recorded_test
