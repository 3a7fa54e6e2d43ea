#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace flitlab::testing {

/// A file of this test's own in the folder for such files.
inline std::string temporary(const std::string& suffix) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name() + suffix;
  std::replace(name.begin(), name.end(), '/', '_');
  return ::testing::TempDir() + "flitlab_" + name;
}

}  // namespace flitlab::testing
