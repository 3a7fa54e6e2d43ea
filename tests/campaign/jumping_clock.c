/* Preloaded into a process, makes its clocks jump: the time of day by up to a day, the others (which should be steady)
   by up to two seconds; larger jumps would only delay sleeping threads. PRELOADED_SEED selects the times and sizes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static uint64_t state;
static int64_t offset[2]; /* ns: time of day, other clocks */

static uint64_t draw(void) {
  if (!state) {
    const char* seed = getenv("PRELOADED_SEED");
    state = (seed ? strtoull(seed, 0, 10) : 1) * 0x9E3779B97F4A7C15u | 1;
  }
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int status = real(clock, now);
  const int other = clock != CLOCK_REALTIME;
  const int64_t most = (other ? 2 : 86400) * INT64_C(1000000000);
  if (status) return status;
  if (draw() % 4 == 0) offset[other] = (int64_t)(draw() % (uint64_t)(2 * most)) - most;
  int64_t time = now->tv_sec * INT64_C(1000000000) + now->tv_nsec + offset[other];
  if (time < 0) time = 0;
  now->tv_sec = time / 1000000000, now->tv_nsec = time % 1000000000;
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise)) return -1;
  now->tv_sec = precise.tv_sec, now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* now) {
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise)) return -1;
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}
