/// Writes the duration of each test, and the mutants whose code it ran, to the file that FLITLAB_REACH names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/mutation/mutant.hpp"

namespace {

using namespace flitlab_mutant;

class Reach : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { std::fill_n(reached, kMost, 0); }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    std::FILE* file = std::fopen(std::getenv("FLITLAB_REACH"), "a");
    std::fprintf(file, "%s.%s %lld", test.test_suite_name(), test.name(),
                 static_cast<long long>(test.result()->elapsed_time()));
    for (unsigned k = 0; k < kMost; ++k)
      if (reached[k]) std::fprintf(file, " %u", k);
    std::fprintf(file, "\n");
    std::fclose(file);
  }
};

const bool listens = [] {
  if (std::getenv("FLITLAB_REACH")) ::testing::UnitTest::GetInstance()->listeners().Append(new Reach);
  return true;
}();

}  // namespace
