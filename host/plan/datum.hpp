#pragma once
/// Datum: a value of any type that consoles, inspections and tools exchange with their callers: a number, a text, a
/// list or a map. Python, JSON and JavaScript have the same types.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/common/types.hpp"

namespace flitlab {

struct Datum {
  using List = std::vector<Datum>;
  using Map = std::vector<std::pair<std::string, Datum>>;  ///< entries in the order in which they are shown

  Datum() = default;  ///< no value, shown as none
  Datum(bool x) : value(x) {}
  Datum(u8 x) : value(u64{x}) {}
  Datum(u16 x) : value(u64{x}) {}
  Datum(u32 x) : value(u64{x}) {}
  Datum(u64 x) : value(x) {}
  Datum(int x) : value(std::int64_t{x}) {}
  Datum(std::int64_t x) : value(x) {}
  Datum(double x) : value(x) {}
  Datum(const char* x) : value(std::string(x)) {}
  Datum(std::string x) : value(std::move(x)) {}
  Datum(List x) : value(std::move(x)) {}
  Datum(Map x) : value(std::move(x)) {}

  template <class T>
  static Datum list_of(const std::vector<T>& items) {
    List list;
    for (const T& item : items) list.emplace_back(item);
    return list;
  }
  template <class T>
  static Datum map_of(const std::map<std::string, T>& entries) {
    return Map(entries.begin(), entries.end());
  }

  bool nothing() const { return std::holds_alternative<std::monostate>(value); }

  std::variant<std::monostate, bool, std::int64_t, u64, double, std::string, List, Map> value;
};

/// Returns an empty Datum for kNone, otherwise the number.
inline Datum none_if(u32 x) { return x == kNone ? Datum{} : Datum{x}; }

}  // namespace flitlab
