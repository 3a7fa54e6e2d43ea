#pragma once
/// The interpreter of message-passing programs. In each cycle a terminal calls, in this order,
///   `program_packet_arrived` for every packet that has arrived,
///   `run_program`, if `program_wakes` is not later than now,
///   `next_program_packet` and `program_packet_taken`, as long as there is a packet and the network interface has room.
/// All calls that take no time are made in one cycle. A program ends when all that it sent has been passed to the
/// network interface. A packet is created at that time: software writes it no earlier.
///
/// If a terminal has several ranks, each runs its own calls. The network interface takes the messages of one rank after
/// the other. Ranks that share a processor use it one at a time. If several ranks wait for it, the one with the lowest
/// number is next.
///
/// The view offers `v.t.traffic.program` (ProgramTable), `v.t.terminal_fields.program` (ProgramFields) and `v.shard`.
#include "kernels/common/counters.hpp"
#include "kernels/traffic/matching.hpp"
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

/// Returns the calls of some ranks. `rank`: of the first one, among all ranks of the network.
FLITLAB_HD inline CallList calls_of(const ProgramTable& p, u32 rank, u32 ranks = 1) {
  return {p.calls + p.first[rank], p.first[rank + ranks] - p.first[rank]};
}

FLITLAB_HD inline bool sends(const ProgramCall& call) {
  return call.kind == CallKind::kSend || call.kind == CallKind::kIsend;
}

/// Returns whether the next message to send belongs to the latest call and the processor is still preparing it.
FLITLAB_HD inline bool in_preparation(const ProgramControl& c, Cycle now) {
  return c.sending + 1 == c.next && now < c.busy_until;
}

/// Returns the processor's cycles for a call.
FLITLAB_HD inline u32 cycles_of(const ProgramTable& p, const ProgramCall& call) {
  switch (call.kind) {
    case CallKind::kCompute: return call.amount;
    case CallKind::kSend:
    case CallKind::kIsend: return p.send_overhead;
    case CallKind::kReceive:
    case CallKind::kMatch: return p.recv_overhead;
    case CallKind::kSignal: return call.amount ? p.send_overhead : 0;
    default: return 0;
  }
}

/// Returns until when a rank must wait, before its next call or its end, for an event other than its own work: 0 if it
/// need not wait, kNever if the event has no known time. A message that comes through the queue for traces can be
/// received in the cycle after its arrival, which some models record earlier.
template <class V, int W>
FLITLAB_INLINE Cycle held_until(const V& v, const Item<W>& terminal, const CallList& calls, const ProgramControl& c,
                                u32 rank) {
  if (c.draining == 2) return 0;
  if (c.draining || c.next == calls.count) return c.sending != c.next ? kNever : 0;
  const ProgramTable& p = v.t.traffic.program;
  const ProgramCall& call = calls.call[c.next];
  const auto& f = v.t.terminal_fields.program;
  Cycle until = 0;
  u32 received = kNone;  // message that the call waits for, and that has arrived
  if (call.kind == CallKind::kReceive || call.kind == CallKind::kAfter) {
    if (terminal.at(f.arrived, call.slot) < call.amount) return kNever;
    received = call.slot;
  } else if (call.kind == CallKind::kMatch) {
    const u32 match = terminal.at(f.match, call.slot);
    if (!match) return 0;  // the rank posts the receive
    if (match == kUnmatched) return kNever;
    received = match - kFirstMatched;
  } else if (call.kind == CallKind::kWait && c.sending <= call.amount) {
    return kNever;
  }
  if (p.queued && received != kNone)  // only messages from other terminals have a latest packet
    if (const Cycle latest = terminal.at(f.latest, received)) until = latest + 1;
  if (p.processors && cycles_of(p, call))
    if (const Cycle free = terminal.at(f.processor_free, p.processor[rank]); free > until) until = free;
  return until;
}

/// Makes a call that need not wait.
template <class V, int W>
FLITLAB_INLINE void make_call(const V& v, const Item<W>& terminal, const ProgramCall& call, ProgramControl& c, u32 rank,
                              Cycle now) {
  const ProgramTable& p = v.t.traffic.program;
  if (c.sending == c.next && !sends(call)) ++c.sending;
  ++c.next;
  c.draining = call.kind == CallKind::kSend ? 1 : call.kind == CallKind::kSignal ? 2 : 0;
  const u32 cycles = cycles_of(p, call);
  c.busy_until = now + cycles;
  if (p.processors && cycles) terminal.at(v.t.terminal_fields.program.processor_free, p.processor[rank]) = c.busy_until;
}

/// Posts the receive of a rank's next call, if that is one that is matched during the run.
template <class V, int W>
FLITLAB_INLINE void post_receive(const V& v, const Item<W>& terminal, u32 index, const CallList& calls,
                                 const ProgramControl& c) {
  if (!v.t.traffic.program.receives || c.draining || c.next == calls.count) return;
  const ProgramCall& call = calls.call[c.next];
  if (call.kind == CallKind::kPost || call.kind == CallKind::kMatch) matching(v, terminal, index).post(call.slot);
}

/// Counts a packet of a message, or the end of a message within the terminal.
template <class V, int W>
FLITLAB_INLINE void count_packet(const V& v, const Item<W>& terminal, u32 index, u32 slot) {
  ++terminal.at(v.t.terminal_fields.program.arrived, slot);
  if (v.t.traffic.program.receives) matching(v, terminal, index).packet_arrived(slot);
}

/// Makes calls of one rank of a terminal until it has to wait. Returns whether it has sent a message to another rank of
/// the terminal.
template <class V, int W>
FLITLAB_INLINE bool run_rank(const V& v, const Item<W>& terminal, u32 index, u32 number, Cycle now) {
  const ProgramTable& p = v.t.traffic.program;
  const auto& f = v.t.terminal_fields.program;
  const u32 rank = index * p.ranks + number;
  const CallList calls = calls_of(p, rank);
  ProgramControl& c = terminal.at(f.control, number);
  bool signalled = false;
  while (!c.done && now >= c.busy_until) {
    post_receive(v, terminal, index, calls, c);
    if (held_until(v, terminal, calls, c, rank) > now) break;
    if (c.draining == 2) {
      c.draining = 0;
      count_packet(v, terminal, index, calls.call[c.next - 1].slot);
      signalled = true;
      continue;
    }
    if (c.next < calls.count) {
      if (c.draining)
        c.draining = 0;
      else
        make_call(v, terminal, calls.call[c.next], c, rank, now);
      continue;
    }
    c.done = 1;
    c.finished = now;
    bool all = true;
    for (u32 i = 0; i < p.ranks; ++i) all = all && terminal.at(f.control, i).done;
    if (all) count(*v.shard, Total::kProgramsFinished);
    raise_to(*v.shard, Total::kLastProgramEnd, now);
  }
  return signalled;
}

/// Returns whether a rank has a packet for the network interface.
FLITLAB_HD inline bool has_packet(const ProgramControl& c, Cycle now) {
  return c.sending != c.next && !in_preparation(c, now);
}

/// Returns which rank of a terminal passes its next packet to the network interface: the one whose message has begun,
/// otherwise the next one in cyclic order that has a packet. If none has a packet, returns any rank.
template <class V, int W>
FLITLAB_INLINE u32 served_rank(const V& v, const Item<W>& terminal, Cycle now) {
  const ProgramTable& p = v.t.traffic.program;
  if (p.ranks == 1) return 0;
  const auto& f = v.t.terminal_fields.program;
  u32 number = terminal.at(f.served);
  for (u32 i = 0; i < p.ranks && !has_packet(terminal.at(f.control, number), now); ++i)
    number = number + 1 == p.ranks ? 0 : number + 1;
  return number;
}

}  // namespace detail

/// Makes calls until the program has to wait.
template <class V, int W>
FLITLAB_INLINE void run_program(const V& v, const Item<W>& terminal, u32 index, Cycle now) {
  const u32 ranks = v.t.traffic.program.ranks;
  // A message between ranks of the terminal may end the wait of a rank that was visited before.
  for (bool again = true; again;) {
    again = false;
    for (u32 number = 0; number < ranks; ++number) again = detail::run_rank(v, terminal, index, number, now) || again;
  }
}

/// Returns the next cycle in which the program acts by itself: it makes a call, or a message is ready to send. The
/// cycle may be past. Returns kNever if the program has ended, or waits for an arrival or for the network interface.
template <class V, int W>
FLITLAB_INLINE Cycle program_wakes(const V& v, const Item<W>& terminal, u32 index, Cycle now) {
  const ProgramTable& p = v.t.traffic.program;
  Cycle wakes = kNever;
  for (u32 number = 0; number < p.ranks; ++number) {
    const ProgramControl& c = terminal.at(v.t.terminal_fields.program.control, number);
    if (c.done) continue;
    const u32 rank = index * p.ranks + number;
    const Cycle held = detail::held_until(v, terminal, detail::calls_of(p, rank), c, rank);
    Cycle at = kNever;
    if (held != kNever)
      at = held > c.busy_until ? held : c.busy_until;
    else if (detail::in_preparation(c, now))
      at = c.busy_until;
    if (at < wakes) wakes = at;
  }
  return wakes;
}

/// Writes to `out` the next packet for the network interface. Returns false if there is no packet now.
template <class V, int W>
FLITLAB_INLINE bool next_program_packet(const V& v, const Item<W>& terminal, u32 index, Cycle now, ProgramPacket& out) {
  const ProgramTable& p = v.t.traffic.program;
  const u32 number = detail::served_rank(v, terminal, now);
  const ProgramControl& c = terminal.at(v.t.terminal_fields.program.control, number);
  if (!detail::has_packet(c, now)) return false;
  const ProgramCall& call = p.calls[p.first[index * p.ranks + number] + c.sending];
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
FLITLAB_INLINE void program_packet_taken(const V& v, const Item<W>& terminal, u32 index, Cycle now) {
  const ProgramTable& p = v.t.traffic.program;
  const auto& f = v.t.terminal_fields.program;
  const u32 number = detail::served_rank(v, terminal, now);
  ProgramControl& c = terminal.at(f.control, number);
  const ProgramCall* calls = p.calls + p.first[index * p.ranks + number];
  const bool last = ++c.handed == p.format.packets(calls[c.sending].amount);
  if (p.ranks > 1) terminal.at(f.served) = !last ? number : number + 1 == p.ranks ? 0 : number + 1;
  if (!last) return;
  c.handed = 0;
  do ++c.sending;
  while (c.sending < c.next && !detail::sends(calls[c.sending]));
}

/// Returns the call of a terminal that sends its packet number `id`: the last call before which it sends at most `id`
/// packets. Returns null if that call sends nothing, which is possible in a damaged state only.
FLITLAB_HD inline const ProgramCall* call_of_packet(const ProgramTable& p, u32 terminal, u32 id) {
  const detail::CallList calls = detail::calls_of(p, terminal * p.ranks, p.ranks);
  u32 first = 0;
  for (u32 n = calls.count; n > 1;) {
    const u32 half = n / 2;
    const bool later = calls.call[first + half].before <= id;
    first += later ? half : 0;
    n = later ? n - half : half;
  }
  return calls.count && detail::sends(calls.call[first]) ? calls.call + first : nullptr;
}

/// Counts a packet that has arrived completely at terminal `index`.
template <class V, int W>
FLITLAB_INLINE void program_packet_arrived(const V& v, const Item<W>& terminal, u32 index, u32 slot) {
  detail::count_packet(v, terminal, index, slot);
}

}  // namespace flitlab
