#pragma once
/// Reader of a file of comma-separated fields, line by line.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/text_source.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

class FieldFile {
 public:
  /// `key`: parameter that names the file. ConfigError if the file cannot be read.
  FieldFile(std::string_view key, TextSource source);

  /// Makes next() continue at the first line of the file.
  void rewind();
  /// Reads the next line that is neither empty nor a comment: the current line. Returns false at the end of the file.
  bool next();
  u32 line() const { return line_; }
  u32 fields() const { return static_cast<u32>(fields_.size()); }
  /// Returns field `i` of the current line; "" if the line has fewer fields.
  std::string_view field(u32 i) const { return i < fields_.size() ? fields_[i] : std::string_view(); }
  /// Returns field `i` of the current line as a whole number. ConfigError if the field is not a number from `least` to
  /// `most`; the message calls the field `name`.
  u32 number(u32 i, const char* name, u64 most, u64 least = 0) const;
  /// Throws ConfigError if the current line has more fields than `form`, for example "wire,FROM,TO[,delay]".
  void check_form(const std::string& form) const;

  /// Throws a ConfigError about the current line, or about line `line`.
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(u32 line, const std::string& what) const;
  /// Returns the number and text of a line for messages, for example `17 ("3,recv,5")`. Reads the file again.
  std::string quote(u32 line) const;

 private:
  [[noreturn]] void fail(u32 line, const std::string& text, const std::string& what) const;
  std::string text_of(u32 line) const;

  std::string key_;
  TextSource source_;
  std::unique_ptr<std::istream> file_;
  std::string text_;
  std::vector<std::string_view> fields_;  ///< fields of `text_`, the current line
  u32 line_ = 0;
};

}  // namespace flitlab
