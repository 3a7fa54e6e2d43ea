#include "host/config/memory.hpp"

#include <algorithm>
#include <fstream>

#if defined(__EMSCRIPTEN__)
#include <emscripten/heap.h>
#include <malloc.h>
#elif defined(__unix__)
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "kernels/common/error.hpp"

namespace flitlab {

#if defined(__EMSCRIPTEN__)

/// Returns the free memory of a web page, which can grow up to a fixed maximum.
u64 free_memory() { return emscripten_get_heap_max() - mallinfo().uordblks; }
u64 stack_bytes() { return 0; }

#else

namespace {

constexpr u64 kUnlimited = ~u64{0};

/// Returns the number in a file; kUnlimited if the file holds "max" or does not exist.
u64 number_in(const char* path) {
  std::ifstream file(path);
  u64 number = 0;
  return file >> number ? number : kUnlimited;
}

}  // namespace

u64 free_memory() {
  u64 bytes = kUnlimited;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    u64 kib = 0;
    if (key == "MemAvailable:" && meminfo >> kib) bytes = kib * 1024;
  }
  const u64 limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit != kUnlimited && used != kUnlimited) bytes = std::min(bytes, limit > used ? limit - used : 0);
#if defined(__unix__)
  rlimit of_process{};
  if (getrlimit(RLIMIT_AS, &of_process) == 0 && of_process.rlim_cur != RLIM_INFINITY) {
    const u64 pages = number_in("/proc/self/statm"), taken = pages * static_cast<u64>(sysconf(_SC_PAGESIZE));
    if (pages != kUnlimited)
      bytes = std::min<u64>(bytes, of_process.rlim_cur > taken ? of_process.rlim_cur - taken : 0);
  }
#endif
  return bytes;
}

u64 stack_bytes() {
#if defined(__unix__)
  constexpr u64 kGuard = 1 << 16, kLargest = u64{16} << 20;
  rlimit of_process{}, of_stack{};
  if (getrlimit(RLIMIT_AS, &of_process) == 0 && of_process.rlim_cur != RLIM_INFINITY)
    return kGuard + (getrlimit(RLIMIT_STACK, &of_stack) == 0 ? std::min<u64>(of_stack.rlim_cur, kLargest) : kLargest);
#endif
  return 0;
}

#endif

void require_memory(std::string_view what, u64 bytes, const std::string& advice) {
  require_memory(what, bytes, free_memory(), "", advice);
}

void require_memory(std::string_view what, u64 bytes, u64 available, std::string_view where,
                    const std::string& advice) {
  if (bytes > available)
    throw ConfigError(std::string(what) + ": " + std::to_string(bytes / 1000000) + " MB are needed" +
                      std::string(where) + ", and " + std::to_string(available / 1000000) + " MB are free. " + advice);
}

}  // namespace flitlab
