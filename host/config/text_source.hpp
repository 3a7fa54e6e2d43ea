#pragma once
/// Text to which a configuration refers: a file, or a text in the caller's memory.
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace flitlab {

/// Text in the caller's memory, which is valid as long as `owner` exists.
struct SharedText {
  std::shared_ptr<const void> owner;
  std::string_view text;
};

/// Texts in memory, by the parameter that would otherwise name a file.
using SharedTexts = std::map<std::string, SharedText>;

/// Skips the byte-order mark that some editors write at the start of UTF-8 text. ConfigError for the mark of UTF-16.
/// `what`: parameter and file, for the message.
void skip_mark(std::istream& in, const std::string& what);

class TextSource {
 public:
  /// Uses the text `shared` if it has an owner, otherwise the file `path`. Messages name `path` in both cases.
  explicit TextSource(std::string path, SharedText shared = {}) : path_(std::move(path)), shared_(std::move(shared)) {}

  const std::string& path() const { return path_; }
  /// Returns a new stream at the first byte. ConfigError, which names `key`, if the file cannot be read.
  std::unique_ptr<std::istream> open(const std::string& key) const;

 private:
  std::string path_;
  SharedText shared_;
};

}  // namespace flitlab
