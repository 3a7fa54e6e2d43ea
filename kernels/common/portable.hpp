#pragma once
/// Replacements for features that the standard library libc++ 14 lacks (Emscripten, older macOS): conversion between
/// text and floating-point numbers, std::jthread and std::atomic_ref. If the standard library has a feature, the name
/// here refers to it.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <version>

namespace flitlab::portable {

/// The replacements. They are compiled everywhere, so that tests can compare them with the standard library's.
namespace fallback {

/// Reads the number at the front of a text, as std::from_chars does: no blanks, no "+" and no "0x" in front of it, no
/// characters after "nan".
inline std::from_chars_result from_chars(const char* first, const char* last, double& x) {
  const char* at = first;
  const auto digits = [&] {
    const char* from = at;
    while (at != last && *at >= '0' && *at <= '9') ++at;
    return at - from;
  };
  const auto word = [&](std::string_view letters) {
    const auto length = static_cast<std::ptrdiff_t>(letters.size());
    const auto alike = [](char letter, char found) { return letter == (found | 0x20); };  // case-insensitive
    const bool found = last - at >= length && std::equal(letters.begin(), letters.end(), at, alike);
    if (found) at += length;
    return found;
  };
  if (at != last && *at == '-') ++at;
  if (word("infinity") || word("inf") || word("nan")) {
    x = std::strtod(std::string(first, at).c_str(), nullptr);
    return {at, std::errc{}};
  }
  auto count = digits();
  if (at != last && *at == '.') ++at, count += digits();
  if (count == 0) return {first, std::errc::invalid_argument};
  if (at != last && (*at == 'e' || *at == 'E')) {
    const char* mantissa_end = at++;
    if (at != last && (*at == '-' || *at == '+')) ++at;
    if (digits() == 0) at = mantissa_end;
  }
  const double found = std::strtod(std::string(first, at).c_str(), nullptr);
  if (found - found != 0) return {at, std::errc::result_out_of_range};
  x = found;
  return {at, std::errc{}};
}

/// Returns the shortest text that reads as `x` again; like std::to_chars, with an exponent only where that is shorter.
inline std::string shortest_text(double x) {
  if (x != x) return "nan";
  if (x - x != 0) return x < 0 ? "-inf" : "inf";
  char text[400];
  const auto written = [&](const char* form, int digits) {
    std::snprintf(text, sizeof text, form, digits, x);
    return std::string(text);
  };
  int digits = 0;
  while (digits < 16 && std::strtod(written("%.*e", digits).c_str(), nullptr) != x) ++digits;
  const std::string scientific = written("%.*e", digits);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  const std::string plain = written("%.*f", digits > exponent ? digits - exponent : 0);
  return plain.size() <= scientific.size() ? plain : scientific;
}

/// A thread whose destructor waits for its end, as std::jthread's does.
class Thread {
 public:
  template <class F>
  explicit Thread(F&& work) : thread_(std::forward<F>(work)) {}
  Thread(Thread&&) = default;
  ~Thread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

/// Atomic loads and stores of a variable. GCC and Clang number memory orders as the standard library does.
template <class T>
class AtomicRef {
 public:
  explicit AtomicRef(T& object) : object_(&object) {}
  T load(std::memory_order order) const { return __atomic_load_n(object_, static_cast<int>(order)); }
  void store(T value, std::memory_order order) const { __atomic_store_n(object_, value, static_cast<int>(order)); }

 private:
  T* object_;
};

}  // namespace fallback

#if defined(__cpp_lib_to_chars)
using std::from_chars;
inline std::string shortest_text(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}
#else
using fallback::from_chars;
using fallback::shortest_text;
#endif

#if defined(__cpp_lib_jthread)
using Thread = std::jthread;
#else
using fallback::Thread;
#endif

#if defined(__cpp_lib_atomic_ref)
template <class T>
using AtomicRef = std::atomic_ref<T>;
#else
using fallback::AtomicRef;
#endif

}  // namespace flitlab::portable
