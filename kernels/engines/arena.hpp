#pragma once
/// Arena: zeroed memory for the states of replicas, in huge pages of 2 MiB unless it is small.
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
    // Each cycle reads a few cache lines of every router; with small pages each such read would miss the TLB.
    if (taken(bytes) % kHugePage == 0) madvise(memory_.get(), taken(bytes), MADV_HUGEPAGE);
#endif
    std::memset(memory_.get(), 0, bytes);
  }

  std::byte* get() const { return memory_.get(); }

  /// Returns the bytes that an arena of `bytes` allocates: whole huge pages, unless it is small.
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
