#include "host/config/field_file.hpp"

#include <algorithm>
#include <charconv>

#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

FieldFile::FieldFile(std::string_view key, TextSource source)
    : key_(key), source_(std::move(source)), file_(source_.open(key_)) {}

void FieldFile::rewind() {
  file_ = source_.open(key_);
  line_ = 0;
}

bool FieldFile::next() {
  do {
    if (!std::getline(*file_, text_)) {
      if (file_->bad()) fail("the rest of the file cannot be read.");
      return false;
    }
    if (++line_ == kNone) fail("a file can have at most 4294967294 lines.");
  } while (trimmed(text_).empty() || trimmed(text_)[0] == '#');
  fields_.clear();
  for (std::string_view rest = text_;;) {
    const auto comma = rest.find(',');
    fields_.push_back(trimmed(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

u32 FieldFile::number(u32 i, const char* name, u64 most, u64 least) const {
  const std::string_view text = field(i);
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > most || value < least)
    fail(std::string(name) + " = " + shown(Value{std::string(text)}) + " must be a whole number from " +
         std::to_string(least) + " to " + std::to_string(most) + ".");
  return static_cast<u32>(value);
}

void FieldFile::check_form(const std::string& form) const {
  const u32 most = static_cast<u32>(std::count(form.begin(), form.end(), ',')) + 1;
  if (fields() > most)
    fail("field " + std::to_string(most + 1) + ", " + shown(Value{std::string(field(most))}) +
         ", is one too many: the line is " + form + ".");
}

std::string FieldFile::text_of(u32 line) const {
  const auto again = source_.open(key_);
  std::string text;
  for (u32 i = 0; i < line; ++i) std::getline(*again, text);
  return std::string(trimmed(text));
}

std::string FieldFile::quote(u32 line) const { return std::to_string(line) + " (" + shown(Value{text_of(line)}) + ")"; }

void FieldFile::fail(u32 line, const std::string& text, const std::string& what) const {
  throw ConfigError(std::string(key_) + ": " + source_.path() + ":" + std::to_string(line) + ": " + shown(Value{text}) +
                    ": " + what);
}

void FieldFile::fail(const std::string& what) const { fail(line_, std::string(trimmed(text_)), what); }
void FieldFile::fail(u32 line, const std::string& what) const { fail(line, text_of(line), what); }

}  // namespace flitlab
