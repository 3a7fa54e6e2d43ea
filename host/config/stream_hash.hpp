#pragma once
#include <string>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Hash of a stream of bytes, in whatever portions it comes.
class StreamHash {
 public:
  void add(const void* data, std::size_t n);
  u64 value() const;

 private:
  u64 hash_ = 1, word_ = 0;
  u32 filled_ = 0;  ///< bytes in word_
};

/// Hash of a file's contents; of its size, date and ends if it is larger than 64 MB. 0 if it cannot be read. The last
/// answers are remembered as long as size and date stay the same.
u64 hash_file(const std::string& path);

}  // namespace flitlab
