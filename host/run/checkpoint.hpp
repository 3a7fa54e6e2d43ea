#pragma once
/// Checkpoint files: a header with format and configuration, the values in the order in which they were saved, and a
/// checksum. `Saver` and `Loader` have the same functions, so a class needs only one `visit(archive)` for both
/// directions.
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

/// Returns a hash of all parameters that determine the results of the experiments, and of the flitlab version.
u64 configuration_hash(const std::vector<Experiment>& experiments);

/// Saves the state, the counters and the run parameters of one replica. The caller saves the clock, which all replicas
/// share.
void save_replica(Saver& saver, Engine& engine, u32 replica);
/// Loads one replica. Throws ConfigError if the data are not a state of that plan. check_loaded() must then check that
/// the state is possible in its cycle.
void load_replica(Loader& loader, Engine& engine, const Plan& plan, u32 replica);

/// Writes a checkpoint to the file `path`.partial and then renames it to `path`, so that a crash leaves the old file
/// intact. ConfigError if the file cannot be written.
void save_checkpoint(const std::string& path, u64 configuration, const std::function<void(Saver&)>& save);

/// Reads a checkpoint. A first pass verifies its length and checksum. ConfigError if the checkpoint is damaged or
/// belongs to another configuration; `load` has not been called in this case. `load` throws ConfigError if it reads an
/// impossible value; the object that was being loaded must not be used after that.
void load_checkpoint(const std::string& path, u64 configuration, const std::function<void(Loader&)>& load);

}  // namespace flitlab
