#pragma once
/// Text that a configuration names: a file, or what the caller has in memory.
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace flitlab {

/// Text in somebody's memory, who keeps it as long as `owner` lives.
struct SharedText {
  std::shared_ptr<const void> owner;
  std::string_view text;
};

/// By the parameter that would name the file.
using SharedTexts = std::map<std::string, SharedText>;

/// Skips the byte-order mark that editors may write in front of UTF-8 text. ConfigError if the mark is of UTF-16;
/// `what` is the parameter and the file.
void skip_mark(std::istream& in, const std::string& what);

class TextSource {
 public:
  /// The text is `shared`, or in the file `path`; either way messages call it `path`.
  explicit TextSource(std::string path, SharedText shared = {}) : path_(std::move(path)), shared_(std::move(shared)) {}

  const std::string& path() const { return path_; }
  /// A new stream at the first byte. ConfigError naming `key` if the file cannot be read.
  std::unique_ptr<std::istream> open(const std::string& key) const;

 private:
  std::string path_;
  SharedText shared_;
};

}  // namespace flitlab
