#pragma once
/// Replay of a trace: each terminal has a short queue of the packets it sends next and a short list of those it has
/// received. Between cycles the host fills the one from the file and empties the other, at least once every
/// kTraceRing cycles; a terminal sends and receives at most one packet a cycle, so neither runs dry or over.
#include "kernels/common/fields.hpp"
#include "kernels/common/layout.hpp"

namespace flitlab {

inline constexpr u32 kTraceRing = 64;

/// A packet to send.
struct TraceEntry {
  FLITLAB_MEMBERS(TraceEntry,
    (u32, id, "", "its number in the trace, from 0"),
    (u32, destination, "", "terminal that it goes to"),
    (Cycle, cycle, "cycle", "earliest creation"),
    (u32, needs, "", "number of a packet that must have arrived here first; kNone: none"),
    (u32, flits, "flits", "its length"))
};

/// A packet whose tail has arrived.
struct TraceArrival {
  FLITLAB_MEMBERS(TraceArrival,
    (u32, id, "", "its number in the trace"),
    (Cycle, at, "cycle", "when its tail arrived"))
};

struct TraceControl {
  FLITLAB_MEMBERS(TraceControl,
    (u32, first, "", "ring position of the oldest packet not yet injected"),
    (u32, entries, "packets", "in the ring"),
    (u32, created, "packets", "of these, those whose creation is past"),
    (Cycle, last_created, "cycle", "creation of the latest of them"),
    (u32, arrivals, "packets", "listed since the host last looked"))
};

/// Of a terminal; `t` is a TerminalSize.
struct TraceFields {
  FLITLAB_FIELDS(TraceFields,
    (TraceControl, control, t.traces(), "", "how far the trace has come", "trace"),
    (TraceEntry, entry, t.traces() * kTraceRing, "", "[place] packets to send", "trace_entry"),
    (TraceArrival, arrival, t.traces() * kTraceRing, "", "[place] packets that have arrived", "trace_arrival"))
};

}  // namespace flitlab
