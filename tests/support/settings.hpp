#pragma once
/// A configuration as text: Settings("router.vcs=4 topology.shape=[4,4] traffic.load=", load).
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>

#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab::testing {

/// Returns the value of a text in TOML without spaces: true, 3, 0.5, [4,4], [1,0.5], or [[1,0.5],[5,0.5]] for packet
/// lengths.
/// Other text is a string, and so is text in quotes.
inline Value value_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (text.size() > 1 && text.front() == '"') return text.substr(1, text.size() - 2);
  if (text.starts_with("[")) {
    std::string spaced = text;
    for (char& c : spaced)
      if (c == '[' || c == ']' || c == ',') c = ' ';
    std::istringstream numbers(spaced);
    IntList list;
    NumberList reals;
    Lengths lengths;
    if (!text.starts_with("[[") && text.find('.') != std::string::npos)
      for (double x; numbers >> x;) reals.push_back(x);
    else if (!text.starts_with("[["))
      for (std::int64_t n; numbers >> n;) list.push_back(n);
    else
      for (std::pair<std::int64_t, double> n; numbers >> n.first >> n.second;) lengths.push_back(n);
    if (!reals.empty()) return reals;
    return lengths.empty() ? Value(list) : Value(lengths);
  }
  std::int64_t whole = 0;
  double real = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, whole).ptr == end && !text.empty()) return whole;
  if (std::from_chars(text.data(), end, real).ptr == end && !text.empty()) return real;
  return text;
}

/// Returns the text of a value that value_of() turns into the same value.
template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, Value>) {
    return std::visit([](const auto& v) { return text_of(v); }, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, IntList>) {
    std::string list;
    for (const std::int64_t n : value) list += (list.empty() ? "[" : ",") + std::to_string(n);
    return list.empty() ? "[]" : list + "]";
  } else if constexpr (std::is_same_v<T, WordList>) {
    std::string list;
    for (const std::string& x : value) list += (list.empty() ? "" : ",") + x;
    return list;
  } else if constexpr (std::is_same_v<T, NumberList>) {
    std::string list;
    for (const double x : value) list += (list.empty() ? "[" : ",") + text_of(x);
    return list + "]";
  } else if constexpr (std::is_same_v<T, Lengths>) {
    std::string list;
    for (const auto& [n, weight] : value)
      list += (list.empty() ? "[[" : ",[") + std::to_string(n) + "," + text_of(weight) + "]";
    return list + "]";
  } else if constexpr (std::is_floating_point_v<T>) {
    char digits[32];
    const std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else {
    return value;
  }
}

/// Configuration whose text consists of all `parts`: texts and values. Settings{...} evaluates them from left to right.
struct Settings : RawConfig {
  template <class... Parts>
  explicit Settings(const Parts&... parts) {
    std::istringstream words((std::string() + ... + text_of(parts)));
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw ConfigError("a setting is path=value: " + word);
      (*this)[word.substr(0, equals)] = value_of(word.substr(equals + 1));
    }
  }
};

/// Changes settings of a configuration.
template <class... Parts>
void set(RawConfig& config, const Parts&... parts) {
  for (const auto& [path, value] : Settings(parts...)) config[path] = value;
}

}  // namespace flitlab::testing
