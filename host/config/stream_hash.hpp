#pragma once
/// Hashes of byte streams and files.
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Hash of a stream of bytes. It does not depend on how the stream is divided into calls of add().
class StreamHash {
 public:
  void add(const void* data, std::size_t n);
  u64 value() const;

 private:
  u64 hash_ = 1, word_ = 0;
  u32 filled_ = 0;  ///< bytes in word_
};

/// Returns a hash of a file's contents; of its size, date, beginning and end if it is larger than 64 MiB; 0 if it
/// cannot be read. Results are cached as long as a file's size and date do not change.
u64 hash_file(const std::string& path);

}  // namespace flitlab
