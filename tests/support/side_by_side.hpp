#pragma once
/// The loop of all tests that run a network and a second implementation side by side.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab::testing {

/// Values in which the emulator differs from the second implementation.
class Differences {
 public:
  /// Notes a difference between two values; after ten differences only their number counts. `name` returns the value's
  /// name.
  template <class Naive, class Emulated, class Name>
  void same(const Naive& naive, const Emulated& emulated, const Name& name) {
    if (naive == static_cast<Naive>(emulated) || ++count_ > 10) return;
    text_ << "\n  " << name() << ": " << static_cast<Naive>(emulated) << ", not " << naive;
  }
  /// Notes the members of two sorted lists that are in one list only.
  template <class T>
  void same_lists(const std::vector<T>& naive, const std::vector<T>& emulated) {
    if (naive == emulated) return;
    ++count_;
    for (const T& x : naive)
      if (!std::binary_search(emulated.begin(), emulated.end(), x)) text_ << "\n  expected: " << x;
    for (const T& x : emulated)
      if (!std::binary_search(naive.begin(), naive.end(), x)) text_ << "\n  happened: " << x;
  }
  bool none() const { return !count_; }
  std::string text() const { return text_.str(); }

 private:
  u32 count_ = 0;
  std::ostringstream text_;
};

/// Runs up to `cycles` cycles, until a difference: step(cycle) steps both sides, and compare(differences) compares
/// them. Returns whether there was none; otherwise the failure shows the differences and `described`.
template <class Step, class Compare>
bool side_by_side(u32 cycles, const std::string& described, Step step, Compare compare) {
  for (u32 cycle = 0; cycle < cycles; ++cycle) {
    step(cycle);
    Differences differences;
    compare(differences);
    if (differences.none()) continue;
    ADD_FAILURE() << "cycle " << cycle << differences.text() << "\n" << described;
    return false;
  }
  return true;
}

}  // namespace flitlab::testing
