#pragma once
/// Tables that people and scripts read: the values of a result, the columns of an event, the state of a port. A list
/// declares the members of a row together with their units and meanings. Python, JSON, JavaScript, type declarations
/// and the reference page use that list.
///
///     struct Use {
///       FLITLAB_COLUMNS((double, mean, 0, "flits/cycle", "mean of all channels"),
///                       (double, max, 0, "flits/cycle", "highest use of a channel"))
///     };
///
/// declares `double mean = 0;` and so on, the number of columns, and `for_each_column(row, visit)`. That function calls
/// visit(column, value) for each column in order. A column is a bool, a number, a text, a list of numbers, an
/// enumeration with words (FLITLAB_CHOICES), another row, or one of the types below. NaN and a u32 of kNone mean that
/// the column has no value.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "host/plan/datum.hpp"
#include "kernels/common/for_each.hpp"

namespace flitlab {

struct Column {
  std::string_view name, unit, meaning;
};

#define FLITLAB_COLUMNS(...)                                                                       \
  FLITLAB_FOR_EACH(FLITLAB_DECLARE_COLUMN, , __VA_ARGS__)                                          \
  static constexpr std::size_t kColumns = 0 FLITLAB_FOR_EACH(FLITLAB_COUNT_COLUMN, , __VA_ARGS__); \
  template <class Row, class Visit>                                                                \
  static void for_each_column(Row&& row, Visit&& visit) {                                          \
    FLITLAB_FOR_EACH(FLITLAB_VISIT_COLUMN, row, __VA_ARGS__)                                       \
  }
#define FLITLAB_DECLARE_COLUMN(unused, type, name, initial, unit, meaning) type name = initial;
#define FLITLAB_COUNT_COLUMN(unused, ...) +1
#define FLITLAB_VISIT_COLUMN(row, type, name, initial, unit, meaning) \
  visit(::flitlab::Column{#name, unit, meaning}, row.name);

/// A number that outputs write as an integer if it is whole.
struct Figure {
  double value = 0;
  Figure() = default;
  Figure(double x) : value(x) {}
  operator double() const { return value; }
};

using Figures = std::map<std::string, double>;  ///< numbers by name; outputs write them as Figure

/// A hash, which outputs write as 16 hexadecimal digits.
struct Hash {
  u64 value = 0;
  Hash() = default;
  Hash(u64 x) : value(x) {}
  operator u64() const { return value; }
};

/// Whether T is a row of a table, that is, declared with FLITLAB_COLUMNS.
template <class T>
concept Row = requires { T::kColumns; };

/// Returns the text of an enumerator that FLITLAB_CHOICES has declared.
template <class Choice>
constexpr std::string_view word_of(Choice choice) {
  std::string_view words = words_of(choice);
  for (auto i = static_cast<u32>(choice); i; --i) words.remove_prefix(words.find('|') + 1);
  return words.substr(0, words.find('|'));
}

/// Returns the value of a column. kNone and NaN become an empty Datum.
template <class T>
Datum datum_of(const T& x) {
  if constexpr (Row<T>) {
    Datum::Map map;
    T::for_each_column(x, [&](const Column& c, const auto& value) { map.emplace_back(c.name, datum_of(value)); });
    return map;
  } else if constexpr (std::is_empty_v<T>) {
    return {};
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(word_of(x));
  } else if constexpr (std::is_same_v<T, u32>) {
    return none_if(x);
  } else if constexpr (std::is_same_v<T, double>) {
    return x != x ? Datum{} : Datum{x};
  } else if constexpr (std::is_same_v<T, Figure>) {
    constexpr double kMostExact = 9e15;
    if (x.value == std::floor(x.value) && std::fabs(x.value) < kMostExact) return static_cast<std::int64_t>(x.value);
    return datum_of(x.value);
  } else if constexpr (std::is_same_v<T, Hash>) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x.value));
    return std::string(text);
  } else if constexpr (std::is_same_v<T, std::vector<u32>>) {
    return Datum::list_of(x);
  } else if constexpr (std::is_same_v<T, Figures>) {
    Datum::Map map;
    for (const auto& [name, value] : x) map.emplace_back(name, datum_of(Figure{value}));
    return map;
  } else {
    return Datum(x);
  }
}

/// Returns the type that a column has in Python, for the initial value of the column.
template <class T>
std::string_view python_type(const T& initial) {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, u32>) return initial == kNone ? "int | None" : "int";
  if constexpr (std::is_integral_v<T>) return "int";
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Figure>)
    return double{initial} != double{initial} ? "float | None" : "float";
  if constexpr (std::is_same_v<T, std::vector<u32>>) return "list[int]";
  if constexpr (Row<T> || std::is_empty_v<T> || std::is_same_v<T, Figures>) return "dict";
  return "str";
}

/// Returns the columns of a row as a list of maps: name, unit, meaning, type, and the columns of a nested row.
template <Row T>
Datum describe_columns() {
  Datum::List list;
  T row;
  T::for_each_column(row, [&](const Column& c, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    Datum::Map map{{"name", std::string(c.name)},
                   {"unit", std::string(c.unit)},
                   {"meaning", std::string(c.meaning)},
                   {"type", std::string(python_type(value))}};
    if constexpr (Row<Value>) map.emplace_back("columns", describe_columns<Value>());
    list.push_back(std::move(map));
  });
  return list;
}

}  // namespace flitlab
