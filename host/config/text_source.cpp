#include "host/config/text_source.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <streambuf>

#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

class MemoryStream final : std::streambuf, public std::istream {
 public:
  explicit MemoryStream(std::string_view text) : std::istream(static_cast<std::streambuf*>(this)) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

std::unique_ptr<std::istream> TextSource::open(const std::string& key) const {
  if (shared_.owner) return std::make_unique<MemoryStream>(shared_.text);
  auto file = std::make_unique<std::ifstream>(path_, std::ios::binary);
  const int opened = errno;
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(path_, unknown);  // it opens, but cannot be read
  if (!*file || folder)
    throw ConfigError(key + " = " + to_text(Value{path_}) +
                      " cannot be read: " + std::strerror(folder ? EISDIR : opened) +
                      ". Give the name of a file, relative to the configuration's folder.");
  return file;
}

}  // namespace flitlab
