/* A host program that knows only the installed flitlab.h. tests/bindings/c/test_library.py compiles it and compares its
 * output with Python's. */
#include <flitlab.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char* where) {
  fprintf(stderr, "%s: %s\n", where, flitlab_error());
  exit(1);
}

static void print_arrivals(flitlab_network* net) {
  flitlab_arrival list[16];
  size_t taken = 0;
  do {
    if (flitlab_take(net, list, 16, &taken)) stop("take");
    for (size_t i = 0; i < taken; ++i)
      printf("%" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
             list[i].tag, list[i].source, list[i].destination, list[i].flits, list[i].hops, list[i].created,
             list[i].injected, list[i].cycle);
  } while (taken == 16);
}

/* Offers each packet of the standard input, "cycle source destination flits tag [class]" by rising cycle. */
static void run(const char* path, uint64_t end, const char* checkpoint) {
  flitlab_network* net = NULL;
  char line[200];
  flitlab_packet p = {0};
  uint64_t hash = 0;
  if (flitlab_open(path, 1, &net)) stop("open");
  while (fgets(line, sizeof line, stdin) &&
         sscanf(line, "%" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32, &p.cycle, &p.source,
                &p.destination, &p.flits, &p.tag, &p.traffic_class) >= 5) {
    if (flitlab_advance(net, p.cycle)) stop("advance");
    if (flitlab_offer(net, &p, 1, NULL)) stop("offer");
  }
  if (checkpoint) { /* goes on in another network, with all that is on its way */
    flitlab_network* other = NULL;
    if (flitlab_save(net, checkpoint)) stop("save");
    if (flitlab_open(path, 1, &other) || flitlab_load(other, checkpoint)) stop("load");
    flitlab_destroy(net);
    net = other;
  }
  if (flitlab_advance(net, end)) stop("advance");
  print_arrivals(net);
  flitlab_statistics s;
  if (flitlab_check(net) || flitlab_read_statistics(net, &s) || flitlab_state_hash(net, &hash)) stop("end");
  printf("%" PRIu64 " of %" PRIu64 " packets, latencies %" PRIu64 ", state %016" PRIx64 " at cycle %" PRIu64 "\n",
         s.packets_delivered, s.packets_created, s.latency_sum, hash, flitlab_cycle(net));
  flitlab_destroy(net);
}

static const char kMesh[] =
    "[topology]\nkind = \"mesh\"\nshape = [4, 4]\n[traffic]\nload = 0.3\nsource_packets = 2\nself = false\n";

static void say(const char* call, flitlab_status status) {
  printf("%s: %d %s\n", call, (int)status, status > FLITLAB_FULL ? flitlab_error() : "");
}

/* Bad input: each call returns a code and says why. */
static void errors(void) {
  flitlab_network* net = (flitlab_network*)1;
  size_t n = 7;
  uint32_t waiting = 0;
  uint64_t count = 0;
  flitlab_arrival arrival;
  say("create(bad TOML)", flitlab_create("a = = 1", NULL, 1, &net));
  printf("%s\n", net ? "a network" : "no network");
  say("create(unknown key)", flitlab_create("[router]\nvc = 4", NULL, 1, &net));
  say("create(unknown traffic)", flitlab_create("[traffic]\nload = 0.5\nsource_packet = 4", NULL, 1, &net));
  say("create(date)", flitlab_create("[router]\nvcs = 2020-01-01", NULL, 1, &net));
  say("create(mixed list)", flitlab_create("[topology]\nshape = [1, \"a\"]", NULL, 1, &net));
  say("create(huge)", flitlab_create("[topology]\nshape = [60000, 60000]", NULL, 1, &net));
  say("create(NULL)", flitlab_create(NULL, NULL, 1, &net));
  say("create(to NULL)", flitlab_create(kMesh, NULL, 1, NULL));
  say("open(no file)", flitlab_open("no/such.toml", 1, &net));
  say("open(folder)", flitlab_open(".", 1, &net));
  say("open(loop)", flitlab_open("loop", 1, &net));
  say("advance(NULL)", flitlab_advance(NULL, 1));
  say("create", flitlab_create(kMesh, NULL, 1, &net));
  flitlab_packet packets[4] = {{.source = 1, .destination = 2, .flits = 4, .tag = 5},
                               {.source = 1, .destination = 2, .bytes = 100, .tag = 6},
                               {.source = 1, .destination = 3, .flits = 1, .tag = 7},
                               {.source = 1, .destination = 3, .flits = 1, .tag = 8}};
  say("offer(NULL)", flitlab_offer(net, NULL, 1, &n));
  say("offer(nothing)", flitlab_offer(net, NULL, 0, &n));
  flitlab_packet bad = packets[0];
  bad.destination = 16;
  say("offer(no terminal)", flitlab_offer(net, &bad, 1, &n));
  bad.destination = 1;
  say("offer(to itself)", flitlab_offer(net, &bad, 1, &n));
  bad = packets[0];
  bad.flits = 5000;
  say("offer(too long)", flitlab_offer(net, &bad, 1, &n));
  bad.flits = bad.bytes = 0;
  say("offer(no length)", flitlab_offer(net, &bad, 1, &n));
  bad = packets[0];
  bad.traffic_class = 1;
  say("offer(class)", flitlab_offer(net, &bad, 1, &n));
  printf("accepted %zu\n", n);
  say("offer(four)", flitlab_offer(net, packets, 4, &n));
  printf("accepted %zu\n", n);
  say("waiting", flitlab_waiting(net, 1, &waiting));
  printf("waiting %" PRIu32 "\n", waiting);
  say("waiting(no terminal)", flitlab_waiting(net, 16, &waiting));
  say("waiting_of_class", flitlab_waiting_of_class(net, 1, 0, &waiting));
  printf("waiting %" PRIu32 "\n", waiting);
  say("waiting_of_class(1)", flitlab_waiting_of_class(net, 1, 1, &waiting));
  say("take(NULL)", flitlab_take(net, NULL, 1, &n));
  say("take(room 0)", flitlab_take(net, NULL, 0, &n));
  say("advance", flitlab_advance(net, 500));
  say("advance(back)", flitlab_advance(net, 499));
  say("advance(too far)", flitlab_advance(net, (uint64_t)1 << 40));
  say("total(unknown)", flitlab_total(net, "packets_deliverd", &count));
  say("total", flitlab_total(net, "packets_delivered", &count));
  say("save(no folder)", flitlab_save(net, "no/such/file"));
  say("load(no file)", flitlab_load(net, "no/such/file"));
  say("take", flitlab_take(net, &arrival, 1, &n));
  printf("taken %zu: tag %" PRIu64 ", %" PRIu32 " flits\n", n, arrival.tag, arrival.flits);
  say("advance_to_arrival", flitlab_advance_to_arrival(net, 1000, &n));
  printf("arrivals %zu at cycle %" PRIu64 "\n", n, flitlab_cycle(net));
  say("take", flitlab_take(net, &arrival, 1, &n));
  printf("taken %zu: tag %" PRIu64 ", %" PRIu32 " flits\n", n, arrival.tag, arrival.flits);
  const flitlab_status nothing = flitlab_advance_to_arrival(net, UINT64_MAX, &n);
  printf("nothing on its way: status %d, %zu arrivals at cycle %" PRIu64 "\n", (int)nothing, n, flitlab_cycle(net));
  flitlab_destroy(net);
  flitlab_destroy(NULL);
  say("create(classes)", flitlab_create("[topology]\nkind = 'mesh'\n[traffic]\nclasses = 2", NULL, 1, &net));
  say("offer(class 1)", flitlab_offer(net, &bad, 1, &n));
  flitlab_waiting_of_class(net, bad.source, 1, &waiting);
  printf("of class 1: waiting %" PRIu32 "\n", waiting);
  flitlab_destroy(net);
}

static void* one_network(void* seed) {
  flitlab_network* net = NULL;
  uint64_t* hash = seed;
  uint32_t random = (uint32_t)*hash;
  if (flitlab_create("[topology]\nkind = \"torus\"\nshape = [4, 4]", NULL, 1, &net)) stop("create");
  for (uint64_t cycle = 0; cycle < 2000; ++cycle) {
    random = random * 1664525u + 1013904223u;
    const flitlab_packet p = {
        .source = random >> 28, .destination = random >> 24 & 15, .flits = 1 + (random >> 20 & 3)};
    size_t taken = 0;
    flitlab_arrival list[64];
    if (flitlab_offer(net, &p, 1, NULL) || flitlab_advance(net, cycle + 1) || flitlab_take(net, list, 64, &taken))
      stop("step");
  }
  if (flitlab_state_hash(net, hash)) stop("hash");
  flitlab_destroy(net);
  return NULL;
}

/* Runs each seed alone, and then all at once. */
static void threads(void) {
  enum { kThreads = 8 };
  uint64_t alone[kThreads], together[kThreads];
  pthread_t thread[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    alone[i] = together[i] = (uint64_t)i / 2;
    one_network(&alone[i]);
  }
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&thread[i], NULL, one_network, &together[i])) exit(1);
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < kThreads; ++i) printf("%016" PRIx64 " %016" PRIx64 "\n", alone[i], together[i]);
}

int main(int argc, char** argv) {
  if (flitlab_abi() != FLITLAB_ABI) return 2;
  if (argc > 3 && !strcmp(argv[1], "run")) run(argv[2], strtoull(argv[3], NULL, 10), argc > 4 ? argv[4] : NULL);
  if (argc > 1 && !strcmp(argv[1], "errors")) errors();
  if (argc > 1 && !strcmp(argv[1], "threads")) threads();
  return 0;
}
