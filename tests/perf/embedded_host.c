/* A host that offers packets, advances one cycle and takes the arrivals, in every cycle (tests/perf/embedding.py).
 * Arguments: configuration, load in flits/cycle/terminal, flits of a packet, cycles. Prints cycles per second of the
 * whole, the packets, and the seconds for a million cycles without traffic. */
#include <flitlab.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBatch = 1024, kPrepared = 1000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 88172645463325252u;

static uint32_t draw(void) { /* xorshift */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const double load = atof(argv[2]);
  const uint32_t flits = (uint32_t)atoi(argv[3]);
  const uint64_t cycles = strtoull(argv[4], NULL, 10);
  flitlab_network* net = NULL;
  flitlab_description about;
  if (flitlab_open(argv[1], 1, &net) || flitlab_describe(net, &about)) {
    fprintf(stderr, "%s\n", flitlab_error());
    return 1;
  }
  const uint32_t threshold = (uint32_t)(load / flits * 4294967296.0);
  /* The packets of 1000 cycles are drawn before these cycles, outside of the measured time. */
  flitlab_packet* offered = calloc((size_t)about.terminals * kPrepared, sizeof *offered);
  static size_t first[kPrepared + 1];
  flitlab_arrival list[kBatch];
  uint64_t packets = 0, latency = 0;
  double seconds = 0;
  for (uint64_t begin = 0; begin < cycles; begin += kPrepared) {
    for (uint32_t c = 0; c < kPrepared; ++c) {
      first[c + 1] = first[c];
      for (uint32_t t = 0; t < about.terminals; ++t)
        if (draw() < threshold)
          offered[first[c + 1]++] =
              (flitlab_packet){.source = t, .destination = draw() % about.terminals, .flits = flits, .tag = begin + c};
    }
    const double start = now();
    for (uint32_t c = 0; c < kPrepared; ++c) {
      size_t taken = 0;
      if (flitlab_offer(net, offered + first[c], first[c + 1] - first[c], NULL) ||
          flitlab_advance(net, begin + c + 1) || flitlab_take(net, list, kBatch, &taken))
        return 1;
      for (size_t i = 0; i < taken; ++i) latency += list[i].cycle - list[i].tag;
      packets += taken;
    }
    seconds += now() - start;
  }
  printf("%.0f %.3f ", (double)cycles / seconds, (double)latency / (double)packets);
  if (flitlab_advance(net, cycles + 100000)) return 1;
  const double start = now();
  for (uint64_t cycle = 1; cycle <= 200000; ++cycle)
    if (flitlab_advance(net, cycles + 100000 + cycle)) return 1;
  const double single = (now() - start) / 200000;
  const double then = now();
  if (flitlab_advance(net, cycles + 100000000)) return 1;
  printf("%.0f %.6f\n", single * 1e9, now() - then);
  flitlab_destroy(net);
  free(offered);
  return 0;
}
