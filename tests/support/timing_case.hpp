#pragma once
/// Cases of tests/kernels/routers/<model>/timing.txt: a configuration, packets, and the cycles of their events, derived
/// by hand. tests/kernels/routers/README.md describes the format; tests/support/timing_run.hpp runs the cases.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::testing {

struct TimingLine {
  u32 number;  ///< in its file, from 1
  std::string text;
};

struct TimingCase {
  std::string name, model, derivation;
  std::vector<TimingLine> lines;
  friend void PrintTo(const TimingCase& c, std::ostream* out) { *out << c.name; }
};

/// Returns the cases of a model's file. Lines before the first case belong to all cases.
inline std::vector<TimingCase> timing_cases(const std::string& model, const std::string& path) {
  std::ifstream file(path);
  std::vector<TimingCase> cases;
  TimingCase common;
  std::string comment, text;
  for (u32 number = 1; std::getline(file, text); ++number) {
    for (std::string more; text.ends_with('\\') && std::getline(file, more); ++number)  // the next line continues it
      text.replace(text.size() - 1, 1, more.substr(more.find_first_not_of(' ')));
    if (text.starts_with('#')) {
      comment += text + "\n";
    } else if (text.starts_with("case ")) {
      cases.push_back({text.substr(5), model, std::exchange(comment, ""), common.lines});
    } else if (text.find_first_not_of(' ') != std::string::npos) {
      (cases.empty() ? common : cases.back()).lines.push_back({number, text});
    } else {
      comment.clear();
    }
  }
  if (cases.empty()) cases.push_back({"None", model, "", {{0, "total no_case_in:" + path + "=1"}}});  // it fails
  return cases;
}

}  // namespace flitlab::testing
