/* The C interface of flitlab: a network inside of another simulator.
 *
 * The host program offers packets, advances the network and takes the packets that have arrived. Time is counted in
 * cycles of the network, from 0 to 2000000000. docs/embedding.md has examples.
 *
 * Functions that can fail return a flitlab_status. flitlab_error() then says why. No exception leaves the library, and
 * it never ends the process. A network may be used by one thread at a time, different networks by different threads.
 */
#ifndef FLITLAB_H
#define FLITLAB_H

#include <stddef.h>
#include <stdint.h>

/* Version of this interface. A library with another number has other structures or functions. */
#define FLITLAB_ABI 1

#if defined(_WIN32)
#define FLITLAB_API
#else
#define FLITLAB_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  FLITLAB_OK = 0,
  FLITLAB_FULL = 1,      /* a source queue is full; offer the packet again later */
  FLITLAB_BAD_INPUT = 2, /* the configuration or an argument is wrong; nothing has changed */
  FLITLAB_FAILED = 3,    /* the network is deadlocked, or the emulation failed */
  FLITLAB_NO_MEMORY = 4,
  FLITLAB_INTERNAL = 5 /* a defect of flitlab */
} flitlab_status;

typedef struct flitlab_network flitlab_network;

typedef struct {
  uint32_t source, destination; /* terminals */
  uint32_t flits;               /* length; 0: as many flits as `bytes` need (traffic.flit_bytes) */
  uint32_t bytes;               /* length if `flits` is 0 */
  uint32_t traffic_class;       /* class of packets, below traffic.classes */
  uint32_t reserved;            /* 0 */
  uint64_t tag;                 /* any number; the arrival has the same */
  uint64_t cycle;               /* earliest cycle in which the source creates it; a past cycle means the next one */
} flitlab_packet;

typedef struct {
  uint64_t tag;
  uint64_t cycle;    /* arrival of the tail; if packets are acknowledged: its source has checked that */
  uint64_t created;  /* the packet entered the source queue */
  uint64_t injected; /* its head left the source queue */
  uint32_t source, destination;
  uint32_t flits;
  uint32_t hops; /* channels between routers that it crossed */
} flitlab_arrival;

typedef struct {
  uint32_t terminals, routers;
  uint32_t shortest_packet, longest_packet; /* flits */
  uint32_t flit_bytes;                      /* bytes in a flit (traffic.flit_bytes) */
  uint32_t source_packets; /* most packets that wait at a source (traffic.source_packets); 0: no limit */
} flitlab_description;

/* Counts since cycle 0. */
typedef struct {
  uint64_t packets_created, packets_injected, packets_delivered, packets_dropped;
  uint64_t flits_created, flits_injected, flits_delivered, flits_dropped;
  uint64_t latency_sum;         /* cycles from creation to arrival, all delivered packets */
  uint64_t network_latency_sum; /* cycles from injection to arrival, all delivered packets */
} flitlab_statistics;

/* Return the version of the library's interface (compare it with FLITLAB_ABI), and its release. */
FLITLAB_API uint32_t flitlab_abi(void);
FLITLAB_API const char* flitlab_version(void);

/* Returns the message of this thread's last call that failed; "" if none has. It is valid until the thread's next call.
 */
FLITLAB_API const char* flitlab_error(void);

/* Creates a network from the text of a configuration in TOML, or from a file. `folder`: folder of relative file names
 * in the text; NULL: the current folder. The traffic of the configuration is replaced by the packets of the host; only
 * traffic.self, traffic.flit_bytes and traffic.source_packets are used. `threads`: CPU threads, 0 for one per core. On
 * failure *network is NULL. */
FLITLAB_API flitlab_status flitlab_create(const char* text, const char* folder, uint32_t threads,
                                          flitlab_network** network);
FLITLAB_API flitlab_status flitlab_open(const char* path, uint32_t threads, flitlab_network** network);
/* Frees a network; NULL is allowed. */
FLITLAB_API void flitlab_destroy(flitlab_network* network);

FLITLAB_API flitlab_status flitlab_describe(const flitlab_network* network, flitlab_description* description);

/* Offers packets, in order. A source creates its packets in the order of the offers: each one at its cycle or later,
 * and not before the packet before it. *accepted: how many were accepted, which are the first ones; may be NULL.
 * FLITLAB_FULL if a source queue was full: the packet that it refused, and all after it, have not been accepted.
 * FLITLAB_BAD_INPUT if the network cannot carry one of the packets: none has been accepted. */
FLITLAB_API flitlab_status flitlab_offer(flitlab_network* network, const flitlab_packet* packets, size_t count,
                                         size_t* accepted);

/* Gives the number of packets that wait at a source: offered, and their head has not left the source queue. */
FLITLAB_API flitlab_status flitlab_waiting(flitlab_network* network, uint32_t source, uint32_t* packets);
/* The same for the packets of one class. */
FLITLAB_API flitlab_status flitlab_waiting_of_class(flitlab_network* network, uint32_t source, uint32_t traffic_class,
                                                    uint32_t* packets);

/* Returns the number of the next cycle. */
FLITLAB_API uint64_t flitlab_cycle(const flitlab_network* network);

/* Advances to the beginning of a cycle. If no packet is on its way for more than twice the sum of the network's delays
 * (8192 cycles at least), the rest of this time is skipped by calls of 64 or more cycles. FLITLAB_BAD_INPUT if the
 * cycle has passed. */
FLITLAB_API flitlab_status flitlab_advance(flitlab_network* network, uint64_t cycle);

/* Advances until a packet arrives, at most to the beginning of cycle `limit`. Does nothing if packets are waiting to be
 * taken, or if none is on its way and the limit is the end of time or later (UINT64_MAX). *arrivals: how many packets
 * are waiting to be taken; may be NULL. */
FLITLAB_API flitlab_status flitlab_advance_to_arrival(flitlab_network* network, uint64_t limit, size_t* arrivals);

/* Takes packets that have arrived, in the order of their arrival. Packets that the network drops never arrive
 * (flitlab_statistics.packets_dropped). `room`: size of the array `arrivals`. *taken: how
 * many were written. Packets that are not taken are kept. */
FLITLAB_API flitlab_status flitlab_take(flitlab_network* network, flitlab_arrival* arrivals, size_t room,
                                        size_t* taken);

FLITLAB_API flitlab_status flitlab_read_statistics(flitlab_network* network, flitlab_statistics* statistics);
/* Gives a count by its name, as in the reference ("packets_delivered"). */
FLITLAB_API flitlab_status flitlab_total(flitlab_network* network, const char* name, uint64_t* count);

/* Returns FLITLAB_FAILED if the network is deadlocked or has lost flits. */
FLITLAB_API flitlab_status flitlab_check(flitlab_network* network);
/* Gives a hash of the whole state. It is equal on all machines and for any number of threads. */
FLITLAB_API flitlab_status flitlab_state_hash(flitlab_network* network, uint64_t* hash);

/* Save the network to a file, and load it into a network with the same configuration, with packets on their way,
 * arrivals that were not taken, and tags. If loading fails, the network keeps its state. */
FLITLAB_API flitlab_status flitlab_save(flitlab_network* network, const char* path);
FLITLAB_API flitlab_status flitlab_load(flitlab_network* network, const char* path);

#ifdef __cplusplus
}
#endif

#endif
