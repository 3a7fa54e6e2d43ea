#include "kernels/engines/share_out.hpp"

#include <algorithm>
#include <atomic>

#include "kernels/engines/team.hpp"

namespace flitlab {

void share_out(std::size_t count, u32 threads, const std::function<void(std::size_t, u32)>& work) {
  std::atomic<std::size_t> next{0};
  run_on_threads(static_cast<u32>(std::clamp<std::size_t>(count, 1, threads)), [&](u32 thread) {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) work(i, thread);
  });
}

}  // namespace flitlab
