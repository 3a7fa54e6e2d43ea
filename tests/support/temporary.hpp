#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

namespace flitlab::testing {

/// Files to remove when the process ends; their names are its own, so nobody would overwrite them.
struct Leftovers {
  ~Leftovers() {
    for (const std::string& path : paths) std::remove(path.c_str());
  }
  std::set<std::string> paths;
};

/// A file of this test's own in the folder for such files; runs at the same time do not meet in it.
inline std::string temporary(const std::string& suffix) {
  static Leftovers leftovers;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name() + suffix;
  std::replace(name.begin(), name.end(), '/', '_');
  return *leftovers.paths.insert(::testing::TempDir() + "flitlab_" + std::to_string(getpid()) + "_" + name).first;
}

}  // namespace flitlab::testing
