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
    char* begin = const_cast<char*>(text.data());  // const_cast is safe, because the stream only reads this memory
    setg(begin, begin, begin + text.size());
  }

 private:
  std::streampos seekoff(std::streamoff offset, std::ios_base::seekdir from, std::ios_base::openmode mode) override {
    const std::streamoff from_begin = from == std::ios_base::beg   ? 0
                                      : from == std::ios_base::cur ? gptr() - eback()
                                                                   : egptr() - eback();
    return seekpos(from_begin + offset, mode);
  }
  std::streampos seekpos(std::streampos to, std::ios_base::openmode) override {
    const std::streamoff offset = to;
    if (offset < 0 || offset > egptr() - eback()) return {std::streamoff{-1}};
    setg(eback(), eback() + offset, egptr());
    return to;
  }
};

}  // namespace

void skip_mark(std::istream& in, const std::string& what) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  char first[kMark.size()];
  in.read(first, kMark.size());
  const std::size_t n = static_cast<std::size_t>(in.gcount());
  if (n >= 2 && (std::memcmp(first, "\xFF\xFE", 2) == 0 || std::memcmp(first, "\xFE\xFF", 2) == 0))
    throw ConfigError(what + " cannot be read: it begins with the byte-order mark of UTF-16. Save it as UTF-8.");
  if (std::string_view(first, n) == kMark) return;
  in.clear();
  for (std::size_t i = 0; i < n; ++i) in.unget();
}

std::unique_ptr<std::istream> TextSource::open(const std::string& key) const {
  if (shared_.owner) {
    auto memory = std::make_unique<MemoryStream>(shared_.text);
    skip_mark(*memory, key + ": " + path_);
    return memory;
  }
  auto file = std::make_unique<std::ifstream>(path_, std::ios::binary);
  const int opened = errno;
  std::error_code unknown;
  // A folder can be opened but not read, so it needs a separate check.
  const bool folder = std::filesystem::is_directory(path_, unknown);
  if (!*file || folder)
    throw ConfigError(
        key + " = " + to_text(Value{path_}) + " cannot be read: " + std::strerror(folder ? EISDIR : opened) +
        ". Give the name of a file, relative to the folder of the configuration file, or in --set and set() to "
        "the current folder.");
  skip_mark(*file, key + ": " + path_);
  return file;
}

}  // namespace flitlab
