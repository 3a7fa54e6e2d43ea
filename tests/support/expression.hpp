#pragma once
/// Expressions over whole numbers, and texts and lists with expressions, for timing cases
/// (tests/support/timing_case.hpp).
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace flitlab::testing {

using Variables = std::map<std::string, std::string>;  ///< text of each variable

/// An expression: numbers, variables, C's arithmetic and comparisons, max(a,b), min(a,b) and if(condition,a,b).
class Expression {
 public:
  Expression(std::string_view text, const Variables& variables) : text_(text), left_(text), variables_(variables) {}

  std::int64_t value() {
    const std::int64_t value = binary(0);
    skip_spaces();
    if (!left_.empty()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error("wrong expression: " + std::string(text_)); }
  void skip_spaces() {
    while (left_.starts_with(' ')) left_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip_spaces();
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  std::string take_while(int (*belongs)(int)) {
    std::size_t n = 0;
    while (n < left_.size() && (left_[n] == '_' || belongs(left_[n]))) ++n;
    const std::string word(left_.substr(0, n));
    left_.remove_prefix(n);
    return word;
  }

  std::int64_t binary(std::size_t level) {
    static const std::vector<std::vector<std::string>> kLevels{
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<"}, {"+", "-"}, {"*", "/", "%"}};
    if (level == kLevels.size()) return operand();
    std::int64_t a = binary(level + 1);
    for (;;) {
      const auto found = std::find_if(kLevels[level].begin(), kLevels[level].end(),
                                      [&](const std::string& sign) { return take(sign); });
      if (found == kLevels[level].end()) return a;
      a = combined(*found, a, binary(level + 1));
    }
  }
  std::int64_t combined(const std::string& sign, std::int64_t a, std::int64_t b) const {
    if ((sign == "/" || sign == "%") && b == 0) fail();
    switch (sign[0]) {
      case '|': return a || b;
      case '&': return a && b;
      case '=': return a == b;
      case '!': return a != b;
      case '<': return sign == "<<" ? a << b : sign == "<" ? a < b : a <= b;
      case '>': return sign == ">" ? a > b : a >= b;
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return a / b;
      default: return a % b;
    }
  }
  std::int64_t operand() {
    if (take("-")) return -operand();
    if (take("(")) {
      const std::int64_t value = binary(0);
      if (!take(")")) fail();
      return value;
    }
    skip_spaces();
    const std::string word = take_while(std::isalnum);
    if (word.empty()) fail();
    if (std::isdigit(word[0])) return static_cast<std::int64_t>(std::stoull(word, nullptr, 0));
    if (take("(")) return function(word);
    if (word == "true" || word == "false") return word == "true";
    const auto found = variables_.find(word);
    if (found == variables_.end()) fail();
    return Expression(found->second, variables_).value();
  }
  std::int64_t function(const std::string& name) {
    std::vector<std::int64_t> given;
    do given.push_back(binary(0));
    while (take(","));
    if (!take(")") || given.size() != (name == "if" ? 3 : 2)) fail();
    if (name == "max") return std::max(given[0], given[1]);
    if (name == "min") return std::min(given[0], given[1]);
    if (name != "if") fail();
    return given[0] ? given[1] : given[2];
  }

  std::string_view text_, left_;
  const Variables& variables_;
};

inline std::int64_t value_of(std::string_view text, const Variables& variables) {
  return Expression(text, variables).value();
}

/// Replaces {expression} by its value, or by the variable's text if it is no number.
inline std::string filled_in(std::string text, const Variables& variables) {
  for (std::size_t open; (open = text.find('{')) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    const std::string inside = text.substr(open + 1, close - open - 1);
    const auto variable = variables.find(inside);
    text.replace(open, close - open + 1,
                 variable != variables.end() ? variable->second : std::to_string(value_of(inside, variables)));
  }
  return text;
}

/// Returns the parts of a text between separators that are outside of parentheses.
inline std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Returns the numbers of a list. An element is a number, FIRST:COUNT or FIRST:COUNT:STEP; `never`: none.
inline std::vector<std::int64_t> list_of(const std::string& text, const Variables& variables) {
  std::vector<std::int64_t> list;
  if (text == "never") return list;
  for (const std::string& element : parts_of(text, ',')) {
    const std::vector<std::string> parts = parts_of(element, ':');
    const auto part = [&](std::size_t n) { return parts.size() > n ? value_of(parts[n], variables) : 1; };
    for (std::int64_t n = 0, count = part(1); n < count; ++n) list.push_back(part(0) + n * part(2));
  }
  return list;
}

}  // namespace flitlab::testing
