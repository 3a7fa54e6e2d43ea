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
  u32 filled_ = 0;  ///< number of bytes in word_
};

/// Returns a hash of a file's contents. For a file larger than 64 MiB it hashes size, date, beginning and end only.
/// Returns 0 if the file cannot be read. The result is cached as long as size and date of the file do not change.
u64 hash_file(const std::string& path);

}  // namespace flitlab
