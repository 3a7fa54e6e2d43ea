#pragma once
/// Trace replay at a terminal. The terminal creates its packets in the order of the trace. A packet is created at the
/// latest of three times: its cycle in the trace, the cycle after the arrival of the packet on which it depends, and
/// the creation of the packet before it.
///
/// The packets of a message-passing program take the same way in models without software of their own. The program
/// fills the queue instead of the host, and learns of arrivals.
#include "kernels/traffic/injection.hpp"
#include "kernels/traffic/program.hpp"
#include "kernels/traffic/source_queue.hpp"

namespace flitlab {

/// Returns whether a program fills the queue. Some types of plans exclude that, so that their traces need no test.
template <class V>
FLITLAB_INLINE bool has_queued_program(const V& v) {
  if constexpr (requires { V::Table::kNoProgram; })
    return false;
  else
    return v.t.traffic.program.queued;
}

/// Most packets of a program in the queue. With two, the next packet is ready as soon as one has been sent, in every
/// model.
inline constexpr u32 kProgramPackets = 2;

/// Makes the calls of a program that need not wait. If the queue has room, the network interface takes the program's
/// next packet, which is created now.
template <class V, int W>
FLITLAB_INLINE void run_queued_program(const V& v, const Item<W>& terminal, u32 index, Cycle now) {
  run_program(v, terminal, index, now);
  TraceControl& trace = terminal.at(v.t.terminal_fields.trace.control);
  ProgramPacket packet;
  if (trace.entries >= kProgramPackets || !next_program_packet(v, terminal, index, now, packet)) return;
  trace_entry(v, terminal, trace.first + trace.entries) = {packet.id, packet.destination, now, kNone, packet.flits};
  ++trace.entries;
  program_packet_taken(v, terminal, index);
}

template <class V, int W>
FLITLAB_INLINE void create_from_trace(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                      Cycle now, u32 c = 0) {
  if (has_queued_program(v)) run_queued_program(v, terminal, index, now);
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

/// Counts, for the program, a packet of a message that arrives in cycle `at`.
template <class V, int W>
FLITLAB_INLINE void count_arrival_of_program(const V& v, const Item<W>& terminal, u32 source, u32 id, Cycle at) {
  const ProgramCall* call = call_of_packet(v.t.traffic.program, source, id);
  if (!call) return;
  program_packet_arrived(v, terminal, call->slot);
  Cycle& latest = terminal.at(v.t.terminal_fields.program.latest, call->slot);
  if (latest < at) latest = at;
}

/// Lists an arrival for the host, and releases the queued packets that depend on the arrived packet (only packets of
/// one class depend on others). If a program fills the queue, counts the arrival for it instead. `head`: arrival of its
/// head; kNever: unknown.
template <class V, int W>
FLITLAB_INLINE void record_arrival(const V& v, const Item<W>& terminal, const Packet& packet, Cycle now,
                                   Cycle head = kNever) {
  if (has_queued_program(v)) return count_arrival_of_program(v, terminal, packet.src, packet.id, now);
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
