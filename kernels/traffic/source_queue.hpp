#pragma once
/// The source queue of a terminal: the control.created - control.sent packets that have been created and not yet sent.
/// In an open loop the queue is not stored: two cursors over the terminal's sequence of packets represent it. In trace
/// replay it is the first entries of the trace queue.
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab {

/// A queued packet without its destination, which takes longer to compute.
struct QueuedPacket {
  u32 id;
  Cycle created;
  u32 flits;
};

/// Returns entry `position` of the trace queue of a class.
template <class V, int W>
FLITLAB_INLINE TraceEntry& trace_entry(const V& v, const Item<W>& terminal, u32 position, u32 c = 0) {
  return terminal.at(v.t.terminal_fields.trace.entry, c * kTraceQueue + position % kTraceQueue);
}

/// Returns whether the packets of a trace may overtake one another. Some types of plans exclude that, so that their
/// traces need no test.
template <class V>
FLITLAB_INLINE bool has_trace_window(const V& v) {
  if constexpr (requires { V::Table::kFileOrder; })
    return false;
  else
    return v.t.traffic.trace_window;
}

/// Returns the packet of a trace that a terminal sends next.
template <class V, int W>
FLITLAB_INLINE const TraceEntry& next_of_trace(const V& v, const Item<W>& terminal, u32 c = 0) {
  return trace_entry(v, terminal, terminal.at(v.t.terminal_fields.trace.control, c).first, c);
}

/// Returns the oldest packet of a source queue that is not empty.
template <class V, int W>
FLITLAB_INLINE QueuedPacket oldest_packet(const V& v, const Item<W>& terminal, u32 index,
                                          const TerminalControl& control) {
  if (v.t.mode == TrafficMode::kTrace) {
    const TraceEntry& entry = next_of_trace(v, terminal);
    return {entry.id, entry.cycle, entry.flits};
  }
  const u32 id = control.oldest.index;
  return {id, control.oldest.at, packet_flits(v.t.traffic, *v.row, index, id)};
}

/// Returns the destination terminal of the oldest packet.
template <class V, int W>
FLITLAB_INLINE u32 oldest_destination(const V& v, const Item<W>& terminal, u32 index, const TerminalControl& control) {
  if (v.t.mode == TrafficMode::kTrace) return next_of_trace(v, terminal).destination;
  return packet_destination(v.t.traffic, *v.row, index, control.oldest.index);
}

/// Removes one packet from the trace queue of a class. The `older` packets before it move back by one position.
template <class V, int W>
FLITLAB_INLINE void remove_of_trace(const V& v, const Item<W>& terminal, u32 older, u32 c = 0) {
  TraceControl& trace = terminal.at(v.t.terminal_fields.trace.control, c);
  for (u32 i = older; i > 0; --i)
    trace_entry(v, terminal, trace.first + i, c) = trace_entry(v, terminal, trace.first + i - 1, c);
  trace.first = (trace.first + 1) % kTraceQueue;
  --trace.entries;
  --trace.created;
}

/// Removes the oldest packet from the queue.
template <class V, int W>
FLITLAB_INLINE void remove_oldest(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control) {
  ++control.sent;
  if (v.t.mode == TrafficMode::kTrace) {
    remove_of_trace(v, terminal, 0);
  } else if (control.sent == control.created) {
    control.oldest = control.next;
  } else {
    next_creation(v.t.traffic, *v.row, index, control.oldest);
  }
}

}  // namespace flitlab
