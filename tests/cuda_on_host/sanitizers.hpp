#pragma once
/// Calls that inform the address and thread sanitizers about fibers. Without a sanitizer all of them do nothing.
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CUDA_ON_HOST_RACES)
#include <sanitizer/tsan_interface.h>
#endif

namespace cuda_on_host {

/// Orders the accesses that the calling fiber has made before accesses that fibers make after they call acquire(point).
inline void release([[maybe_unused]] const void* point) {
#if defined(CUDA_ON_HOST_RACES)
  __tsan_release(const_cast<void*>(point));
#endif
}
inline void acquire([[maybe_unused]] const void* point) {
#if defined(CUDA_ON_HOST_RACES)
  __tsan_acquire(const_cast<void*>(point));
#endif
}

class SanitizedFiber {
 public:
  /// The fiber of the host, which is running.
  SanitizedFiber() {
#if defined(CUDA_ON_HOST_RACES)
    tsan_ = __tsan_get_current_fiber();
#endif
  }
  SanitizedFiber([[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    stack_ = stack;
    bytes_ = bytes;
#elif defined(CUDA_ON_HOST_RACES)
    tsan_ = __tsan_create_fiber(0);
#endif
  }

  /// Call it before a switch to another fiber. A switch alone does not order memory accesses.
  void leave_for([[maybe_unused]] SanitizedFiber& next, [[maybe_unused]] bool ends = false) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_, next.stack_, next.bytes_);
#elif defined(CUDA_ON_HOST_RACES)
    __tsan_switch_to_fiber(next.tsan_, __tsan_switch_to_fiber_no_sync);
#endif
  }
  /// Call it after a switch back to this fiber.
  void entered() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr);
#endif
  }
  /// Call it in another fiber after the first switch to that fiber. It records the stack of this fiber.
  void entered_from() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &stack_, &bytes_);
#endif
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  void* fake_ = nullptr;
  const void* stack_ = nullptr;
  std::size_t bytes_ = 0;
#elif defined(CUDA_ON_HOST_RACES)
  void* tsan_;
#endif
};

}  // namespace cuda_on_host
