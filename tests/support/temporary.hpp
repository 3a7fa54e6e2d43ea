#pragma once
/// Files that tests write.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::testing {

/// Files that are removed when the process ends. Their names are unique to the process, so no other process overwrites
/// them.
struct Leftovers {
  ~Leftovers() {
    for (const std::string& path : paths) std::remove(path.c_str());
  }
  std::set<std::string> paths;
};

/// Returns the name of a file of this test in the folder for temporary files. Concurrent runs use different names.
inline std::string temporary(const std::string& suffix) {
  static Leftovers leftovers;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name() + suffix;
  std::replace(name.begin(), name.end(), '/', '_');
  return *leftovers.paths.insert(::testing::TempDir() + "flitlab_" + std::to_string(getpid()) + "_" + name).first;
}

/// A text file that is removed with this object.
struct TextFile {
  explicit TextFile(const std::string& text)
      : path(::testing::TempDir() + "flitlab_" + std::to_string(getpid()) + "_" + std::to_string(counter++) + ".csv") {
    std::ofstream(path) << text;
  }
  TextFile(const TextFile&) = delete;
  ~TextFile() { std::remove(path.c_str()); }
  std::string path;
  static inline int counter = 0;
};

/// Returns the text of an edge list.
inline std::string graph_text(const std::vector<std::pair<u32, u32>>& edges) {
  std::string text = "# edges\n";
  for (const auto& [a, b] : edges) text += std::to_string(a) + "," + std::to_string(b) + "\n";
  return text;
}

}  // namespace flitlab::testing
