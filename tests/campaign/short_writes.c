/* Preloaded into a process, makes its system calls as unreliable as POSIX allows: writes and reads are cut short, or
   interrupted before they transfer anything. PRELOADED_SEED selects the calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>

static uint64_t state;

static uint64_t draw(void) {
  if (!state) {
    const char* seed = getenv("PRELOADED_SEED");
    state = (seed ? strtoull(seed, 0, 10) : 1) * 0x9E3779B97F4A7C15u | 1;
  }
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static size_t cut(size_t n) { return n > 1 && draw() % 2 ? 1 + draw() % (n - 1) : n; }

static int interrupted(void) {
  if (draw() % 4) return 0;
  errno = EINTR;
  return 1;
}

ssize_t write(int fd, const void* data, size_t n) {
  static ssize_t (*real)(int, const void*, size_t);
  if (!real) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  return fd > 2 && interrupted() ? -1 : real(fd, data, fd > 2 ? cut(n) : n);
}

ssize_t writev(int fd, const struct iovec* parts, int n) {
  static ssize_t (*real)(int, const struct iovec*, int);
  if (!real) real = (ssize_t(*)(int, const struct iovec*, int))dlsym(RTLD_NEXT, "writev");
  return fd > 2 && interrupted() ? -1 : real(fd, parts, n > 1 && draw() % 2 ? 1 : n);
}

ssize_t read(int fd, void* data, size_t n) {
  static ssize_t (*real)(int, void*, size_t);
  if (!real) real = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  return fd > 2 && interrupted() ? -1 : real(fd, data, fd > 2 ? cut(n) : n);
}
