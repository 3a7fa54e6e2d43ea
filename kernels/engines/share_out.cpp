#include "kernels/engines/share_out.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "kernels/engines/thread_group.hpp"

namespace flitlab {

void share_out(std::size_t count, u32 threads, const std::function<void(std::size_t, u32)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex one_at_a_time;
  std::exception_ptr error;
  run_on_threads(static_cast<u32>(std::clamp<std::size_t>(count, 1, threads)), [&](u32 thread) {
    try {
      for (std::size_t i; (i = next.fetch_add(1)) < count;) work(i, thread);
    } catch (...) {
      next = count;  // no thread begins another call
      const std::lock_guard lock(one_at_a_time);
      if (!error) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace flitlab
