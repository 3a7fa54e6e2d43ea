/// Recorded hashes of state, counters and events, for every variation of every model and for each choice of each
/// parameter. A change that should not change behaviour leaves all of them as they are. After one that should,
///
///     FLITLAB_RECORD=1 build/release/flitlab_tests --gtest_filter='RecordedList.*'
///
/// writes recorded.csv anew. Other tests check that the recorded behaviour is right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "host/config/registry.hpp"
#include "kernels/common/bits.hpp"
#include "tests/support/build.hpp"
#include "tests/support/each_choice.hpp"
#include "tests/support/variations.hpp"

namespace flitlab::engines_recorded_test {
namespace {

using namespace testing;

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

/// Experiments of a model by name: its variations by number, and one for each choice of each parameter.
std::vector<NamedExperiment> experiments(std::string_view kind) {
  std::vector<NamedExperiment> list;
  for (const Experiment& e : variations(kind)) list.push_back({std::to_string(list.size()), e});
  for (const NamedExperiment& e : EachChoice(kind).all()) list.push_back(e);
  return list;
}

/// Hashes of an experiment, by its name, as in recorded.csv.
using Hashes = std::map<std::string, std::string>;

Hashes recorded(std::string_view of) {
  Hashes hashes;
  std::ifstream file(kFile);
  std::string kind, name, values;
  while (std::getline(file, kind, ',') && std::getline(file, name, ',') && std::getline(file, values))
    if (kind == of) hashes[name] = values;
  return hashes;
}

class Recorded : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Recorded, AgreesWithTheRecord) {
  const std::vector<NamedExperiment> all = experiments(GetParam());
  const Hashes hashes = recorded(GetParam());
  EXPECT_EQ(all.size(), hashes.size());
  for (const NamedExperiment& e : all) {
    const auto line = hashes.find(e.name);
    EXPECT_EQ(found(e.experiment), line == hashes.end() ? "" : line->second) << GetParam() << ", " << e.name;
  }
}

std::vector<std::string_view> kinds() {
  std::vector<std::string_view> list;
  for (const ModelRecord& model : models()) list.push_back(model.kind);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Models, Recorded, ::testing::ValuesIn(kinds()),
                         [](const auto& kind) { return std::string(kind.param); });

void record() {
  std::ofstream file(kFile);
  for (std::string_view kind : kinds())
    for (const NamedExperiment& e : experiments(kind))
      file << kind << ',' << e.name << ',' << found(e.experiment) << '\n';
}

TEST(RecordedList, HasEveryModel) {
  if (std::getenv("FLITLAB_RECORD")) record();
  std::set<std::string, std::less<>> listed;
  std::ifstream file(kFile);
  for (std::string kind, rest; std::getline(file, kind, ',') && std::getline(file, rest);) listed.insert(kind);
  for (std::string_view kind : kinds()) EXPECT_TRUE(listed.contains(kind)) << kind;
  EXPECT_EQ(listed.size(), models().size());
}

}  // namespace
}  // namespace flitlab::engines_recorded_test
