/// All inputs that the fuzzers keep, including inputs that once caused a failure, must be accepted or rejected cleanly.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "host/config/registry.hpp"
#include "tests/fuzz/inputs.hpp"

namespace flitlab::fuzz_corpus_test {
namespace {

const std::filesystem::path kCorpus = FLITLAB_CORPUS;

class Corpus : public ::testing::TestWithParam<fuzz::Input> {};

TEST_P(Corpus, IsTakenOrRefusedInOneLine) {
  u32 tried = 0;
  for (const auto& file : std::filesystem::directory_iterator(kCorpus / GetParam().name)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    SCOPED_TRACE(file.path().string());
    EXPECT_NO_THROW(fuzz::judge(GetParam(), bytes));
    ++tried;
  }
  EXPECT_GE(tried, 3u);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(fuzz::inputs()),
                         [](const auto& info) { return info.param.name; });

TEST(Fuzz, EveryFormOfFileIsFuzzed) {
  const auto form = [](const ParamRecord* p) { return std::pair(p->path, p->help); };  // equal texts mean equal formats
  std::set<std::pair<std::string_view, std::string_view>> fuzzed;
  for (const fuzz::Input& input : fuzz::inputs())
    if (input.file) fuzzed.insert(form(input.file));
  for (const ParamRecord* p : all_parameters()) {
    if (p->type != ParamType::kFile) continue;
    EXPECT_TRUE(fuzzed.contains(form(p))) << p->path << ": " << p->help;
  }
}

}  // namespace
}  // namespace flitlab::fuzz_corpus_test
