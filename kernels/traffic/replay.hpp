#pragma once
/// Trace replay at a terminal. A packet may be created from the later of two times: its cycle in the trace, and the
/// cycle after the arrival of the last packet on which it depends. In the order of the file, it is not created before
/// the packet that precedes it there either. With a window, it is created at that time, whatever precedes it; packets
/// of the same time are created in the order of the file.
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
  program_packet_taken(v, terminal, index, now);
}

/// Moves the packet that may be created first to the front of those that are not created. Leaves the others in their
/// order. Does nothing if all of them wait for arrivals.
template <class V, int W>
FLITLAB_INLINE void first_of_window_to_front(const V& v, const Item<W>& terminal, const TraceControl& trace, u32 c) {
  u32 best = trace.entries;
  TraceEntry found{};
  for (u32 i = trace.created; i < trace.entries; ++i) {
    const TraceEntry& entry = trace_entry(v, terminal, trace.first + i, c);
    if (entry.needs != kNone) continue;
    if (best != trace.entries && (entry.cycle > found.cycle || (entry.cycle == found.cycle && entry.id > found.id)))
      continue;
    best = i;
    found = entry;
  }
  if (best == trace.entries) return;
  for (u32 i = best; i > trace.created; --i)
    trace_entry(v, terminal, trace.first + i, c) = trace_entry(v, terminal, trace.first + i - 1, c);
  trace_entry(v, terminal, trace.first + trace.created, c) = found;
}

template <class V, int W>
FLITLAB_INLINE void create_from_trace(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                      Cycle now, u32 c = 0) {
  if (has_queued_program(v)) run_queued_program(v, terminal, index, now);
  TraceControl& trace = terminal.at(v.t.terminal_fields.trace.control, c);
  while (trace.created < trace.entries) {
    if (has_trace_window(v)) first_of_window_to_front(v, terminal, trace, c);
    TraceEntry& entry = trace_entry(v, terminal, trace.first + trace.created, c);
    if (entry.needs != kNone || entry.cycle > now) return;
    if (!has_trace_window(v) && entry.cycle < trace.last_created) entry.cycle = trace.last_created;
    trace.last_created = entry.cycle;
    ++trace.created;
    ++control.created;
    count_creation(v, index, entry.id, entry.cycle, entry.flits, [&] { return entry.destination; });
  }
}

/// Returns the first cycle in which a terminal may create a packet of a trace if no packet arrives before; kNever:
/// there is none. Requires that no packet that has been created is in the queue.
template <class V, int W>
FLITLAB_INLINE Cycle next_creation_from_trace(const V& v, const Item<W>& terminal, u32 c) {
  const u32 entries = terminal.at(v.t.terminal_fields.trace.control, c).entries;
  if (!has_trace_window(v)) return entries ? next_of_trace(v, terminal, c).cycle : kNever;
  Cycle next = kNever;
  for (u32 i = 0; i < entries; ++i) {
    const TraceEntry& entry = trace_entry(v, terminal, terminal.at(v.t.terminal_fields.trace.control, c).first + i, c);
    if (entry.needs == kNone && entry.cycle < next) next = entry.cycle;
  }
  return next;
}

/// Counts, for the program, a packet of a message that arrives at terminal `index` in cycle `at`.
template <class V, int W>
FLITLAB_INLINE void count_arrival_of_program(const V& v, const Item<W>& terminal, u32 index, u32 source, u32 id,
                                             Cycle at) {
  const ProgramCall* call = call_of_packet(v.t.traffic.program, source, id);
  if (!call) return;
  Cycle& latest = terminal.at(v.t.terminal_fields.program.latest, call->slot);
  if (latest < at) latest = at;
  program_packet_arrived(v, terminal, index, call->slot);
}

/// Forgets that queued packets need the packet `id` beside others, because it has arrived.
template <class V, int W>
FLITLAB_INLINE void remove_further_needs(const V& v, const Item<W>& terminal, u32 id) {
  for (u32 i = 0; i < kTraceNeeds; ++i) {
    TraceNeed& need = terminal.at(v.t.terminal_fields.trace.need, i);
    if (need.packet && need.needs == id) need = {};
  }
}

/// Returns another packet that a queued packet needs, and removes it from the list; kNone: there is none.
template <class V, int W>
FLITLAB_INLINE u32 take_further_need(const V& v, const Item<W>& terminal, u32 packet) {
  for (u32 i = 0; i < kTraceNeeds; ++i) {
    TraceNeed& need = terminal.at(v.t.terminal_fields.trace.need, i);
    if (need.packet != packet + 1) continue;
    const u32 needs = need.needs;
    need = {};
    return needs;
  }
  return kNone;
}

/// Lists an arrival for the host, and releases the queued packets that depend on the arrived packet, of any class. If a
/// program fills the queue, counts the arrival for it instead. `head`: arrival of its head; kNever: unknown.
template <class V, int W>
FLITLAB_INLINE void record_arrival(const V& v, const Item<W>& terminal, u32 index, const Packet& packet, Cycle now,
                                   Cycle head = kNever) {
  if (has_queued_program(v)) return count_arrival_of_program(v, terminal, index, packet.src, packet.id, now);
  const TraceFields& f = v.t.terminal_fields.trace;
  TraceControl& trace = terminal.at(f.control);
  if (trace.arrivals < kTraceQueue)
    terminal.at(f.arrival, trace.arrivals) = {packet.id, packet.created, packet.injected, head, now, packet.hops};
  ++trace.arrivals;
  if (has_trace_window(v)) remove_further_needs(v, terminal, packet.id);
  for (u32 c = 0; c < v.t.traffic.classes; ++c) {
    const TraceControl& queue = terminal.at(f.control, c);
    for (u32 i = queue.created; i < queue.entries; ++i) {
      TraceEntry& entry = trace_entry(v, terminal, queue.first + i, c);
      if (entry.needs != packet.id) continue;
      entry.needs = has_trace_window(v) ? take_further_need(v, terminal, entry.id) : kNone;
      if (entry.cycle <= now) entry.cycle = now + 1;
    }
  }
}

}  // namespace flitlab
