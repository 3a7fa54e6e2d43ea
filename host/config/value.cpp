#include "host/config/value.hpp"

#include "kernels/common/portable.hpp"

namespace flitlab {
namespace {

std::string number(double x) {
  const std::string s = portable::shortest_text(x);
  return s.find_first_of(".en") == std::string::npos ? s + ".0" : s;
}

std::string hex(unsigned char byte) {
  static constexpr char kDigits[] = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 15]};
}

/// Returns a TOML basic string. Control characters are escaped, because they would break a message into lines.
std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      s += '\\';
      s += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      s += "\\u00" + hex(static_cast<unsigned char>(c));
    } else {
      s += c;
    }
  }
  return s + '"';
}

struct Writer {
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(std::int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return number(x); }
  std::string operator()(const std::string& x) const { return quoted(x); }
  std::string operator()(const IntList& list) const {
    std::string s = "[";
    for (std::size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + std::to_string(list[i]);
    return s + "]";
  }
  std::string operator()(const NumberList& list) const {
    std::string s = "[";
    for (std::size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + number(list[i]);
    return s + "]";
  }
  std::string operator()(const WordList& list) const {
    std::string s = "[";
    for (const std::string& word : list) s += (s.size() > 1 ? ", " : "") + quoted(word);
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

std::string shown(const Value& value) {
  constexpr std::size_t kLongest = 120, kTail = 20;
  std::string text;
  for (const char c : to_text(value)) {
    const auto byte = static_cast<unsigned char>(c);
    // A byte of 128 or more may not be valid text, so it is shown as a number.
    text += byte < 0x80 ? std::string(1, c) : "\\x" + hex(byte);
  }
  if (text.size() <= kLongest) return text;
  return text.substr(0, kLongest - kTail) + " ... " + text.substr(text.size() - kTail);
}

}  // namespace flitlab
