#pragma once
/// State for packets that come from the host: from a trace file, or from the program that steps the network. Each
/// terminal has a short queue of the packets that it sends next, one for each class of packets, and a short list of the
/// packets that it has received.
/// At least every kTraceQueue cycles the host fills the queue and empties the list. A terminal sends and receives at
/// most one packet per cycle, so neither runs empty or overflows.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"

namespace flitlab {

inline constexpr u32 kTraceQueue = 64;
inline constexpr u32 kTraceNeeds = 256;  ///< most needs of the packets in a queue beyond the first of each

/// A packet to send.
struct TraceEntry {
  FLITLAB_MEMBERS(TraceEntry,
    (u32, id, "", "its number in the trace, from 0"),
    (u32, destination, "", "terminal that it goes to"),
    (Cycle, cycle, "cycle", "earliest creation"),
    (u32, needs, "", "number of a packet that must have arrived here first; kNone: no condition"),
    (u32, flits, "flits", "its length"))
};

/// A packet whose tail has arrived.
struct TraceArrival {
  FLITLAB_MEMBERS(TraceArrival,
    (u32, id, "", "its number in the trace"),
    (Cycle, created, "cycle", "when it entered the source queue"),
    (Cycle, injected, "cycle", "when its head left the source queue"),
    (Cycle, head, "cycle", "when its head arrived; kNever: this model does not tell"),
    (Cycle, at, "cycle", "when its tail arrived"),
    (u32, hops, "", "router-to-router channels crossed"))
};

/// A further packet that a queued packet needs.
struct TraceNeed {
  FLITLAB_MEMBERS(TraceNeed,
    (u32, packet, "", "1 + number of the queued packet; 0: unused"),
    (u32, needs, "", "number of a packet that must have arrived here first"))
};

struct TraceControl {
  FLITLAB_MEMBERS(TraceControl,
    (u32, first, "", "position of the oldest packet not yet injected"),
    (u32, entries, "packets", "packets in the queue"),
    (u32, created, "packets", "queued packets that have been created"),
    (Cycle, last_created, "cycle", "latest creation"),
    (u32, arrivals, "packets", "arrivals listed since the host last read them"))
};

/// Fields of a terminal; `t` is a TerminalSize.
struct TraceFields {
  FLITLAB_FIELDS(TraceFields,
    (TraceControl, control, t.traces() * t.classes, "", "[class] progress of the trace; class 0 counts arrivals", "trace"),
    (Cycle, head, t.traces() * t.vcs, "cycle", "[VC] arrival of the latest head", "trace_head"),
    (TraceEntry, entry, t.traces() * t.classes * kTraceQueue, "", "[class][position] packets to send", "trace_entry"),
    (TraceNeed, need, t.trace_window * kTraceNeeds, "",
      "[index] packets that queued packets need beside trace_entry.needs", "trace_need"),
    (TraceArrival, arrival, t.traces() * kTraceQueue, "", "[index] packets that have arrived", "trace_arrival"))
};

}  // namespace flitlab
