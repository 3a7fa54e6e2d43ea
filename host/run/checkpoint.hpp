#pragma once
/// Checkpoint files: a header that says what wrote them, values in the order in which they were saved, a checksum.
/// `Saver` and `Loader` take the same calls, so that one `visit(archive)` per class describes both directions.
#include <deque>
#include <functional>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/config/stream_hash.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

class Plan;

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

  /// ConfigError unless what has been read makes sense together.
  static void require(bool makes_sense);

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

 private:
  void bytes(void* data, std::size_t n);
  /// The number of elements that follow; a file of another build must not make us ask for all memory there is.
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

/// What a checkpoint belongs to: all parameters of the experiments.
u64 configuration_hash(const std::vector<Experiment>& experiments);

/// State, counters and run parameters of one replica; the clock belongs to the engine.
void save_replica(Saver& saver, Engine& engine, u32 replica);
/// ConfigError if it is no state of that plan. Whether it is a network's in a certain cycle, check_loaded() asks.
void load_replica(Loader& loader, Engine& engine, const Plan& plan, u32 replica);

/// Writes a checkpoint beside an older one and moves it into place, so that a crash damages neither. ConfigError if it
/// cannot be written.
void save_checkpoint(const std::string& path, u64 configuration, const std::function<void(Saver&)>& save);

/// Reads a checkpoint, after a first pass that finds out whether it is whole. ConfigError if it is not, or belongs to
/// another configuration: nothing has been loaded then. What does not fit when it is loaded ends in ConfigError too,
/// and what was being loaded into is of no use any more.
void load_checkpoint(const std::string& path, u64 configuration, const std::function<void(Loader&)>& load);

}  // namespace flitlab
