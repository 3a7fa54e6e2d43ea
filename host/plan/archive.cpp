#include "host/plan/archive.hpp"

#include "kernels/common/error.hpp"

namespace flitlab {

void Saver::bytes(const void* data, std::size_t n) {
  if (!n) return;
  out_.write(static_cast<const char*>(data), static_cast<std::streamsize>(n));
  hash_.add(data, n);
}

void Loader::bytes(void* data, std::size_t n) {
  if (!n) return;
  in_.read(static_cast<char*>(data), static_cast<std::streamsize>(n));
  if (!in_) throw ConfigError("checkpoint: the file ends too early; another version of flitlab wrote it.");
}

void Loader::require(bool consistent) {
  if (!consistent) throw ConfigError("checkpoint: its contents disagree; another version of flitlab wrote it.");
}

u64 Loader::count(std::size_t element_bytes) {
  u64 n = 0;
  one(n);
  const auto here = in_.tellg();
  in_.seekg(0, std::ios::end);
  const auto left = static_cast<u64>(in_.tellg() - here);
  in_.seekg(here);
  require(n <= left / element_bytes);
  return n;
}

}  // namespace flitlab
