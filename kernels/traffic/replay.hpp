#pragma once
/// Trace replay at a terminal. The terminal creates its packets in the order of the trace. A packet is created at the
/// latest of three times: its cycle in the trace, the cycle after the arrival of the packet on which it depends, and
/// the creation of the packet before it.
#include "kernels/traffic/injection.hpp"
#include "kernels/traffic/source_queue.hpp"

namespace flitlab {

template <class V, int W>
FLITLAB_INLINE void create_from_trace(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                      Cycle now, u32 c = 0) {
  TraceControl& trace = terminal.at(v.t.terminal_fields.trace.control, c);
  while (trace.created < trace.entries) {
    TraceEntry& entry = trace_entry(v, terminal, trace.first + trace.created, c);
    if (entry.needs != kNone || entry.cycle > now) return;
    if (entry.cycle < trace.last_created) entry.cycle = trace.last_created;
    trace.last_created = entry.cycle;
    ++trace.created;
    ++control.created;
    count_creation(v, index, entry.id, entry.cycle, entry.flits, [&] { return entry.destination; });
  }
}

/// Lists an arrival for the host, and releases the queued packets that depend on the arrived packet (only packets of
/// one class depend on others). `head`: arrival of its head; kNever: unknown.
template <class V, int W>
FLITLAB_INLINE void record_arrival(const V& v, const Item<W>& terminal, const Packet& packet, Cycle now,
                                   Cycle head = kNever) {
  const TraceFields& f = v.t.terminal_fields.trace;
  TraceControl& trace = terminal.at(f.control);
  if (trace.arrivals < kTraceQueue)
    terminal.at(f.arrival, trace.arrivals) = {packet.id, packet.created, packet.injected, head, now, packet.hops};
  ++trace.arrivals;
  for (u32 i = trace.created; i < trace.entries; ++i) {
    TraceEntry& entry = trace_entry(v, terminal, trace.first + i);
    if (entry.needs != packet.id) continue;
    entry.needs = kNone;
    if (entry.cycle <= now) entry.cycle = now + 1;
  }
}

}  // namespace flitlab
