#pragma once
/// Zeroed memory for a state, in huge pages unless it is small.
#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace flitlab {

class Arena {
 public:
  Arena() = default;
  explicit Arena(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(taken(bytes), std::align_val_t{kHugePage}))) {
#if defined(MADV_HUGEPAGE)
    // A network reads a few lines of every router in every cycle; with small pages that misses the TLB each time.
    if (taken(bytes) % kHugePage == 0) madvise(memory_.get(), taken(bytes), MADV_HUGEPAGE);
#endif
    std::memset(memory_.get(), 0, bytes);
  }

  std::byte* get() const { return memory_.get(); }

  /// Returns the memory that an arena of `bytes` takes: all but small arenas take whole huge pages.
  static std::size_t taken(std::size_t bytes) {
    return bytes < kHugePage / 4 ? bytes : (bytes + kHugePage - 1) / kHugePage * kHugePage;
  }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{kHugePage}); }
  };

  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace flitlab
