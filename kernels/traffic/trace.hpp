#pragma once
/// Replay of a trace: each terminal has a short queue of the packets it sends next and a short list of those it has
/// received. Between cycles the host fills the one from the file and empties the other, at least once every
/// kTraceRing cycles; a terminal sends and receives at most one packet a cycle, so neither runs dry or over.
#include "kernels/common/layout.hpp"

namespace flitlab {

inline constexpr u32 kTraceRing = 64;

/// A packet to send.
struct TraceEntry {
  u32 id;           ///< its number in the trace, from 0
  u32 destination;  ///< terminal
  Cycle cycle;      ///< earliest creation
  u32 needs;        ///< number of a packet that must have arrived here first; kNone: none
  u32 flits;
};

/// A packet whose tail has arrived.
struct TraceArrival {
  u32 id;
  Cycle at;
};

struct TraceControl {
  u32 first;           ///< ring position of the oldest packet not yet injected
  u32 entries;         ///< packets in the ring
  u32 created;         ///< of these, packets whose creation is past
  Cycle last_created;  ///< creation of the latest of them
  u32 arrivals;        ///< listed since the host last looked
};

struct TraceFields {
  Field<TraceControl> control;  ///< [1]
  Field<TraceEntry> entry;      ///< [kTraceRing]
  Field<TraceArrival> arrival;  ///< [kTraceRing]
};

}  // namespace flitlab
