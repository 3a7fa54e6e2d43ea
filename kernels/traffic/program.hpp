#pragma once
/// The interpreter of message-passing programs. In each cycle a terminal calls, in this order,
///   `program_packet_arrived` for every packet that has arrived,
///   `run_program`, if `program_wakes` is not later than now,
///   `next_program_packet` and `program_packet_taken`, as long as there is a packet and the network interface has room.
/// All calls that take no time are made in one cycle. A program ends when all that it sent has been passed to the
/// network interface. A packet is created at that time: software writes it no earlier.
///
/// The view offers `v.t.traffic.program` (ProgramTable), `v.t.terminal_fields.program` (ProgramFields) and `v.shard`.
#include "kernels/common/counters.hpp"
#include "kernels/traffic/program_state.hpp"

namespace flitlab {

/// The next packet of a program.
struct ProgramPacket {
  u32 destination;  ///< destination terminal
  u32 flits;
  u32 slot;   ///< index of its message at the destination
  u32 id;     ///< number of the packet at its source
  bool last;  ///< last packet of its message
};

namespace detail {

/// The calls of a terminal.
struct CallList {
  const ProgramCall* call;
  u32 count;
};

FLITLAB_HD inline CallList calls_of(const ProgramTable& p, u32 index) {
  return {p.calls + p.first[index], p.first[index + 1] - p.first[index]};
}

FLITLAB_HD inline bool sends(const ProgramCall& call) {
  return call.kind == CallKind::kSend || call.kind == CallKind::kIsend;
}

/// Returns whether the next message to send belongs to the latest call and the processor is still preparing it.
FLITLAB_HD inline bool in_preparation(const ProgramControl& c, Cycle now) {
  return c.sending + 1 == c.next && now < c.busy_until;
}

/// Returns until when a program must wait, before its next call or its end, for an event other than its own processor's
/// work: 0 if it need not wait, kNever if the event has no known time. A message that comes through the queue for
/// traces can be received in the cycle after its arrival, which some models record earlier.
template <class V, int W>
FLITLAB_INLINE Cycle held_until(const V& v, const Item<W>& terminal, const CallList& calls, const ProgramControl& c) {
  if (c.draining || c.next == calls.count) return c.sending != c.next ? kNever : 0;
  const ProgramCall& call = calls.call[c.next];
  const auto& f = v.t.terminal_fields.program;
  if (call.kind == CallKind::kReceive) {
    if (terminal.at(f.arrived, call.slot) < call.amount) return kNever;
    return v.t.traffic.program.queued ? terminal.at(f.latest, call.slot) + 1 : 0;
  }
  return call.kind == CallKind::kWait && c.sending <= call.amount ? kNever : 0;
}

/// Makes a call that need not wait. Returns the processor's cycles for it.
FLITLAB_INLINE u32 make_call(const ProgramTable& p, const ProgramCall& call, ProgramControl& c) {
  if (c.sending == c.next && !sends(call)) ++c.sending;
  ++c.next;
  c.draining = call.kind == CallKind::kSend;
  switch (call.kind) {
    case CallKind::kCompute: return call.amount;
    case CallKind::kSend:
    case CallKind::kIsend: return p.send_overhead;
    case CallKind::kReceive: return p.recv_overhead;
    default: return 0;
  }
}

}  // namespace detail

/// Makes calls until the program has to wait.
template <class V, int W>
FLITLAB_INLINE void run_program(const V& v, const Item<W>& terminal, u32 index, Cycle now) {
  const ProgramTable& p = v.t.traffic.program;
  const detail::CallList calls = detail::calls_of(p, index);
  ProgramControl& c = terminal.at(v.t.terminal_fields.program.control);
  while (!c.done && now >= c.busy_until && detail::held_until(v, terminal, calls, c) <= now) {
    if (c.next < calls.count) {
      if (c.draining)
        c.draining = 0;
      else
        c.busy_until = now + detail::make_call(p, calls.call[c.next], c);
      continue;
    }
    c.done = 1;
    c.finished = now;
    count(*v.shard, Total::kProgramsFinished);
    raise_to(*v.shard, Total::kLastProgramEnd, now);
  }
}

/// Returns the next cycle in which the program acts by itself: it makes a call, or a message is ready to send. The
/// cycle may be past. Returns kNever if the program has ended, or waits for an arrival or for the network interface.
template <class V, int W>
FLITLAB_INLINE Cycle program_wakes(const V& v, const Item<W>& terminal, u32 index, Cycle now) {
  const ProgramControl& c = terminal.at(v.t.terminal_fields.program.control);
  if (c.done) return kNever;
  const Cycle held = detail::held_until(v, terminal, detail::calls_of(v.t.traffic.program, index), c);
  if (held != kNever) return held > c.busy_until ? held : c.busy_until;
  return detail::in_preparation(c, now) ? c.busy_until : kNever;
}

/// Writes to `out` the next packet for the network interface. Returns false if there is no packet now.
template <class V, int W>
FLITLAB_INLINE bool next_program_packet(const V& v, const Item<W>& terminal, u32 index, Cycle now, ProgramPacket& out) {
  const ProgramTable& p = v.t.traffic.program;
  const ProgramControl& c = terminal.at(v.t.terminal_fields.program.control);
  if (c.sending == c.next || detail::in_preparation(c, now)) return false;
  const ProgramCall& call = p.calls[p.first[index] + c.sending];
  const u32 before = c.handed * p.format.payload_bytes, rest = call.amount - before;
  out.destination = call.peer;
  out.slot = call.slot;
  out.id = call.before + c.handed;
  out.last = rest <= p.format.payload_bytes;
  out.flits = p.format.flits(out.last ? rest : p.format.payload_bytes);
  return true;
}

/// Removes the packet that next_program_packet() has returned, after the network interface has accepted it.
template <class V, int W>
FLITLAB_INLINE void program_packet_taken(const V& v, const Item<W>& terminal, u32 index) {
  const ProgramTable& p = v.t.traffic.program;
  ProgramControl& c = terminal.at(v.t.terminal_fields.program.control);
  const ProgramCall* calls = p.calls + p.first[index];
  if (++c.handed < p.format.packets(calls[c.sending].amount)) return;
  c.handed = 0;
  do ++c.sending;
  while (c.sending < c.next && !detail::sends(calls[c.sending]));
}

/// Returns the call of a rank that sends its packet number `id`: the last call before which it sends at most `id`
/// packets. Returns null if that call sends nothing, which is possible in a damaged state only.
FLITLAB_HD inline const ProgramCall* call_of_packet(const ProgramTable& p, u32 rank, u32 id) {
  const detail::CallList calls = detail::calls_of(p, rank);
  u32 first = 0;
  for (u32 n = calls.count; n > 1;) {
    const u32 half = n / 2;
    const bool later = calls.call[first + half].before <= id;
    first += later ? half : 0;
    n = later ? n - half : half;
  }
  return calls.count && detail::sends(calls.call[first]) ? calls.call + first : nullptr;
}

/// Counts a packet that has arrived completely.
template <class V, int W>
FLITLAB_INLINE void program_packet_arrived(const V& v, const Item<W>& terminal, u32 slot) {
  ++terminal.at(v.t.terminal_fields.program.arrived, slot);
}

}  // namespace flitlab
