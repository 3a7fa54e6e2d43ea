#include "host/config/stream_hash.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/common/bits.hpp"

namespace flitlab {
namespace {

u64 next_hash(u64 hash, u64 word) { return mix64(hash ^ word) + 0x9E3779B97F4A7C15ull; }

void add_part(StreamHash& hash, std::ifstream& file, u64 from, u64 bytes) {
  std::vector<char> part(std::min<u64>(bytes, 1 << 20));
  file.seekg(static_cast<std::streamoff>(from));
  while (bytes && file.read(part.data(), static_cast<std::streamsize>(std::min<u64>(bytes, part.size()))).gcount()) {
    hash.add(part.data(), static_cast<std::size_t>(file.gcount()));
    bytes -= static_cast<u64>(file.gcount());
  }
}

}  // namespace

void StreamHash::add(const void* data, std::size_t n) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < n;) {
    if (!filled_ && n - i >= 8) {
      std::memcpy(&word_, bytes + i, 8);
      i += 8;
      filled_ = 8;
    } else {
      word_ |= u64{bytes[i++]} << (8 * filled_++);
    }
    if (filled_ == 8) {
      hash_ = next_hash(hash_, word_);
      word_ = filled_ = 0;
    }
  }
}

u64 StreamHash::value() const { return next_hash(next_hash(hash_, word_), filled_); }

u64 hash_file(const std::string& path) {
  constexpr u64 kWhole = u64{64} << 20, kEnd = u64{1} << 20;
  std::error_code error;
  const u64 size = std::filesystem::file_size(path, error);
  if (error) return 0;
  const auto date = static_cast<u64>(std::filesystem::last_write_time(path, error).time_since_epoch().count());
  struct Known {
    u64 size, written, hash;
  };
  static std::mutex lock;
  static std::map<std::string, Known> known;
  const std::lock_guard<std::mutex> held(lock);
  const auto before = known.find(path);
  if (before != known.end() && before->second.size == size && before->second.written == date)
    return before->second.hash;
  std::ifstream file(path, std::ios::binary);
  if (!file) return 0;
  StreamHash hash;
  if (size <= kWhole) {
    add_part(hash, file, 0, size);
  } else {
    hash.add(&size, sizeof size);
    hash.add(&date, sizeof date);
    add_part(hash, file, 0, kEnd);
    add_part(hash, file, size - kEnd, kEnd);
  }
  known.insert_or_assign(path, Known{size, date, hash.value()});
  return hash.value();
}

}  // namespace flitlab
