#pragma once
/// Archives: values saved to a stream one after the other, and loaded in the same order. `Saver` and `Loader` have the
/// same functions, so a class needs only one `visit(archive)` for both directions.
#include <deque>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "host/config/stream_hash.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

class Saver {
 public:
  static constexpr bool loading = false;

  explicit Saver(std::ostream& out) : out_(out) {}

  template <class... T>
  void operator()(const T&... values) {
    (one(values), ...);
  }
  u64 checksum() const { return hash_.value(); }

 private:
  void bytes(const void* data, std::size_t n);

  template <class T>
  void one(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&value, sizeof value);
  }
  template <class T>
  void one(const std::vector<T>& list) {
    one(static_cast<u64>(list.size()));
    if constexpr (std::is_trivially_copyable_v<T>)
      bytes(list.data(), list.size() * sizeof(T));
    else
      for (const T& value : list) one(value);
  }
  template <class T>
  void one(const std::deque<T>& list) {
    one(std::vector<T>(list.begin(), list.end()));
  }
  template <class T>
  void one(const std::unordered_set<T>& set) {
    one(std::vector<T>(set.begin(), set.end()));
  }
  void one(const std::string& text) { one(std::vector<char>(text.begin(), text.end())); }
  void one(const std::map<std::string, double>& map) {
    one(static_cast<u64>(map.size()));
    for (const auto& [key, value] : map) (*this)(key, value);
  }

  std::ostream& out_;
  StreamHash hash_;
};

class Loader {
 public:
  static constexpr bool loading = true;

  explicit Loader(std::istream& in) : in_(in) {}

  /// Throws ConfigError unless `consistent` is true. Callers pass whether the values that have been read agree with one
  /// another.
  static void require(bool consistent);

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

 private:
  void bytes(void* data, std::size_t n);
  /// Reads the number of elements that follow. ConfigError if the rest of the file is too short for them, so that a
  /// damaged file cannot cause a huge allocation.
  u64 count(std::size_t element_bytes);

  template <class T>
  void one(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&value, sizeof value);
  }
  template <class T>
  void one(std::vector<T>& list) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      list.resize(count(sizeof(T)));
      bytes(list.data(), list.size() * sizeof(T));
    } else {
      list.resize(count(1));
      for (T& value : list) one(value);
    }
  }
  template <class T>
  void one(std::deque<T>& list) {
    std::vector<T> values;
    one(values);
    list.assign(values.begin(), values.end());
  }
  template <class T>
  void one(std::unordered_set<T>& set) {
    std::vector<T> values;
    one(values);
    set = {values.begin(), values.end()};
  }
  void one(std::string& text) {
    std::vector<char> letters;
    one(letters);
    text.assign(letters.begin(), letters.end());
  }
  void one(std::map<std::string, double>& map) {
    map.clear();
    for (u64 n = count(1); n; --n) {
      std::string key;
      double value = 0;
      (*this)(key, value);
      map[key] = value;
    }
  }

  std::istream& in_;
};

}  // namespace flitlab
