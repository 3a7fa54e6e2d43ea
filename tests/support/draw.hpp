#pragma once
/// Draws of random tests.
#include <initializer_list>
#include <random>

#include "kernels/common/types.hpp"

namespace flitlab::testing {

class Draw {
 public:
  explicit Draw(u64 seed) : engine_(seed) {}
  u32 below(u32 n) { return static_cast<u32>(engine_() % n); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(static_cast<u32>(high - low + 1)); }
  bool coin() { return below(2); }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<u32>(list.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace flitlab::testing
