#pragma once
/// What the sanitizers of memory and of threads must know of fibers. Without them all of this is empty.
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CUDA_ON_HOST_RACES)
#include <sanitizer/tsan_interface.h>
#endif

namespace cuda_on_host {

/// What this thread has done so far is before what others do after they see `point`.
inline void shows([[maybe_unused]] const void* point) {
#if defined(CUDA_ON_HOST_RACES)
  __tsan_release(const_cast<void*>(point));
#endif
}
inline void sees([[maybe_unused]] const void* point) {
#if defined(CUDA_ON_HOST_RACES)
  __tsan_acquire(const_cast<void*>(point));
#endif
}

class SanitizedFiber {
 public:
  /// The one that runs: the host.
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

  /// Before a switch. A change of fibers by itself puts nothing in order.
  void leave_for([[maybe_unused]] SanitizedFiber& next, [[maybe_unused]] bool for_ever = false) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_, next.stack_, next.bytes_);
#elif defined(CUDA_ON_HOST_RACES)
    __tsan_switch_to_fiber(next.tsan_, __tsan_switch_to_fiber_no_sync);
#endif
  }
  /// After a switch back.
  void entered() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr);
#endif
  }
  /// After the first switch to another fiber, in that: this one's stack is known from now on.
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
