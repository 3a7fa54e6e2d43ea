#include "host/config/value.hpp"

#include <charconv>

namespace flitlab {
namespace {

std::string number(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  std::string s(text, end);
  return s.find_first_of(".en") == std::string::npos ? s + ".0" : s;
}

struct Writer {
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(std::int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return number(x); }
  std::string operator()(const std::string& x) const { return '"' + x + '"'; }
  std::string operator()(const IntList& list) const {
    std::string s = "[";
    for (std::size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + std::to_string(list[i]);
    return s + "]";
  }
  std::string operator()(const Lengths& list) const {
    std::string s = "[";
    for (std::size_t i = 0; i < list.size(); ++i)
      s += (i ? ", [" : "[") + std::to_string(list[i].first) + ", " + number(list[i].second) + "]";
    return s + "]";
  }
};

}  // namespace

std::string to_text(const Value& value) { return std::visit(Writer{}, value); }

}  // namespace flitlab
