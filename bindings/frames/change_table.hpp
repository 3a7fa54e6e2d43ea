#pragma once
/// Compact table of values that change over time, as a packed recording has it (recorder.hpp). It keeps the records of
/// one key together, because gzip then finds short, similar numbers side by side.
#include <array>
#include <map>
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Appends a number in groups of seven bits, lowest group first; all bytes but the last one have their top bit set.
inline void append_number(std::string& bytes, u64 x) {
  for (; x >= 128; x >>= 7) bytes += static_cast<char>(x % 128 + 128);
  bytes += static_cast<char>(x);
}

/// Records of `kColumns` values by key and frame. A key is a number, for example that of a channel.
template <u32 kColumns>
class ChangeTable {
 public:
  using Values = std::array<u64, kColumns>;

  /// Adds the values of a key in a frame. Frames of a key must not decrease; a key may have several records in a frame.
  void add(u64 key, u32 frame, const Values& values) {
    Records& records = by_key_[key];
    ++records.count;
    append_number(records.frames, frame - records.last_frame);
    u64 changed = 0;
    for (u32 k = 0; k < kColumns; ++k)
      if (values[k] != records.last_values[k]) {
        changed |= u64{1} << k;
        append_number(records.columns[k], values[k]);
      }
    append_number(records.changed, changed);
    records.last_frame = frame;
    records.last_values = values;
  }

  /// Appends the table: its streams of numbers, each after its length in bytes. The streams are: for each key, the
  /// difference to the key before and the number of its records; for each record, the difference to the frame of the
  /// record before (of the same key, else 0); for each record, a mask of the columns whose values have changed (before
  /// the first record of a key, all values are 0); and, for each column, the changed values.
  void append_to(std::string& bytes) const {
    std::string keys, frames, changed;
    std::array<std::string, kColumns> columns;
    u64 before = 0;
    for (const auto& [key, records] : by_key_) {
      append_number(keys, key - before);
      append_number(keys, records.count);
      before = key;
      frames += records.frames;
      changed += records.changed;
      for (u32 k = 0; k < kColumns; ++k) columns[k] += records.columns[k];
    }
    for (const std::string* stream : {&keys, &frames, &changed}) append_stream(bytes, *stream);
    for (const std::string& column : columns) append_stream(bytes, column);
  }

 private:
  struct Records {
    u32 count = 0, last_frame = 0;
    Values last_values{};
    std::string frames, changed;
    std::array<std::string, kColumns> columns;
  };

  static void append_stream(std::string& bytes, const std::string& stream) {
    append_number(bytes, stream.size());
    bytes += stream;
  }

  std::map<u64, Records> by_key_;
};

}  // namespace flitlab
