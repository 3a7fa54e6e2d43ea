#pragma once
/// A TIC in a routing cycle, as its parts see it: buffers, queues, and the routing decision (S-Connect, 3, 3.1).
#include "kernels/common/select.hpp"
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/state.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

/// Sources of the event counter: what happens at port p is 5 p + one of these; 30 and 31 are the TIC's own.
enum class PortEvent : u8 { kSent, kReceived, kDamaged, kRefused, kCameBack };
inline constexpr u32 kEventsOfPort = 5;
inline constexpr u8 kInjectionHeldUp = 30;  ///< a host's message found no buffer
inline constexpr u8 kEveryCycle = 31;

FLITLAB_HD inline void add_to_register(u16& error) { error = static_cast<u16>(error + (error < 0xFFFF)); }

/// Buffers promised to a queue, if there is anything at its port.
template <class Table>
FLITLAB_INLINE u32 promise(const Table& t, u32 tic, u32 q) {
  if (q % kVcs >= vcs_of(t.links[tic * kPorts + q / kQueuesOfPort].kind, t.parallel_vcs)) return 0;
  return t.reserve[q % kQueuesOfPort / kVcs];
}

template <class V, int W>
struct Tic {
  const V& v;
  Item<W> item;
  u32 index;
  Cycle now;
  TicControl& control;

  FLITLAB_INLINE Port& port(u32 p) const { return item.at(v.t.fields.port, p); }
  FLITLAB_INLINE BufferState& state(u32 buffer) const { return item.at(v.t.fields.buffer, buffer); }
  FLITLAB_INLINE Message& message(u32 buffer) const { return item.at(v.t.fields.message, buffer); }
  FLITLAB_INLINE Queue& queue(u32 q) const { return item.at(v.t.fields.queue, q); }
  FLITLAB_INLINE const Link& link(u32 p) const { return v.t.links[index * kPorts + p]; }
  /// Clock of a port in which its header is read, from the first of a routing cycle in phase 0.
  FLITLAB_INLINE u32 turn(u32 p) const { return v.t.phase[index] + p; }
  FLITLAB_INLINE bool enabled(u32 p) const { return control.enabled >> p & 1; }

  /// Whether the data stream of a channel has been switched off: the far end can make nothing of what is sent.
  FLITLAB_INLINE bool silent(u32 p) const {
    return v.t.clocks && link(p).kind == LinkKind::kSerial && !(item.at(v.t.fields.clock.state).sends >> p & 1);
  }

  FLITLAB_INLINE void note(u32 p, PortEvent event) const {
    if (control.counting == kEventsOfPort * p + static_cast<u32>(event)) ++control.counter;
  }

  // Buffers. A queue that holds fewer than it is promised leaves the rest reserved. A message counts for one promise,
  // or none: gave it back two when it leaves, more would be reserved than there is.

  FLITLAB_INLINE u32 owed(u32 q) const {
    const u32 promised = promise(v.t, index, q), held = control.held[q];
    return promised > held ? promised - held : 0;
  }

  /// The same of control requests, or of replies, that have found nothing left of their queues' promises: a fabric that
  /// is full, or stuck, can still be asked and put right.
  FLITLAB_INLINE u32 owed_to_control(const Message& m) const {
    const u32 held = control.held_control[is_reply(m)];
    return v.t.control_buffers > held ? v.t.control_buffers - held : 0;
  }

  /// Whether a queue has room for a message.
  FLITLAB_INLINE bool can_take(u32 q, const Message& m) const {
    const u32 own = owed(q);
    u32 taken = u32{control.used} + control.reserved + m.flits - (own < m.flits ? own : m.flits);
    if (m.control && !own) taken -= owed_to_control(m) > 0;
    return taken <= v.t.buffers;
  }

  /// kApart: a message that enters a queue counts for what is kept for control messages; 0: for the queue's promise.
  FLITLAB_INLINE u8 apart(u32 q, const Message& m) const { return m.control && !owed(q) ? kApart : u8{0}; }

  /// Changes by `change` buffers what a message's queue holds, or, if it is apart, what its kind does.
  FLITLAB_INLINE void hold_buffers(u32 q, const Message& m, u8 flags, u32 change) const {
    const bool own = flags & kApart;
    u8& held = own ? control.held_control[is_reply(m)] : control.held[q];
    const u32 before = own ? owed_to_control(m) : owed(q);
    held = static_cast<u8>(held + change);
    control.reserved = static_cast<u8>(control.reserved - before + (own ? owed_to_control(m) : owed(q)));
    control.used = static_cast<u8>(control.used + change);
  }

  FLITLAB_INLINE static bool is_single(const Message& m) { return m.flits == 1 && !m.control; }

  /// A single data message is one buffer more of its queue, or one less. Tables hold only options whose queues there
  /// are.
  FLITLAB_INLINE void hold_single(u32 q) const {
    control.reserved = static_cast<u8>(control.reserved - (control.held[q] < v.t.reserve[q % kQueuesOfPort / kVcs]));
    ++control.held[q];
    ++control.used;
  }
  FLITLAB_INLINE void release_single(u32 q) const {
    control.reserved = static_cast<u8>(control.reserved + (control.held[q] <= v.t.reserve[q % kQueuesOfPort / kVcs]));
    --control.held[q];
    --control.used;
  }

  FLITLAB_INLINE void release(u32 buffer) const {
    const Message& m = message(buffer);
    if (is_single(m))
      release_single(state(buffer).queue);
    else
      hold_buffers(state(buffer).queue, m, state(buffer).flags, 0u - m.flits);
    control.free |= u64{1} << buffer;
  }

  /// A damaged message leaves: its buffer is free, and nobody is to look at it again.
  FLITLAB_INLINE void annihilate(u32 buffer) const {
    Port& source = port(state(buffer).source);
    if (source.doubtful == buffer) source.doubtful = kNoBuffer;
    if (source.spoiled == buffer) source.spoiled = kNoBuffer;
    release(buffer);
    count(*v.shard, Count::kAborted);
  }

  // Queues.

  FLITLAB_INLINE static u32 queue_of(u32 p, u32 priority, u32 vc) { return p * kQueuesOfPort + priority * kVcs + vc; }

  /// Messages of a queue that go before one of its priority. They are its first ones, in all readings of age.
  FLITLAB_INLINE u32 ahead(u32 q, const Message& m) const {
    const Queue& list = queue(q);
    if (m.tried >= kPorts && (v.t.age != Age::kAll || !m.age)) return list.messages;
    u32 n = 0;
    for (u32 b = list.head; n < list.messages && goes_before(v.t.age, message(b), m); b = state(b).next) ++n;
    return n;
  }

  /// A buffer's message enters a queue where its turn is.
  FLITLAB_INLINE void push(u32 q, u32 buffer) const {
    Queue& list = queue(q);
    const u32 before = ahead(q, message(buffer));
    BufferState& b = state(buffer);
    b.queue = static_cast<u8>(q);
    b.flags |= kWaiting;
    if (before == list.messages) return append(q, buffer);
    if (before) {
      u32 last = list.head;
      for (u32 i = 1; i < before; ++i) last = state(last).next;
      b.next = state(last).next;
      state(last).next = static_cast<u8>(buffer);
    } else {
      b.next = list.head;
      list.head = static_cast<u8>(buffer);
    }
    ++list.messages;
  }

  /// It is the last one. Whether it is the first one as well cannot be foreseen.
  FLITLAB_INLINE void append(u32 q, u32 buffer) const {
    Queue& list = queue(q);
    const bool any = list.messages != 0;
    state(select(any, list.tail, buffer)).next = static_cast<u8>(buffer);
    state(buffer).next = kNoBuffer;
    list.head = static_cast<u8>(select(any, list.head, buffer));
    list.tail = static_cast<u8>(buffer);
    ++list.messages;
    control.waiting |= u64{1} << q;
  }

  FLITLAB_INLINE u32 pop(u32 q) const {
    Queue& list = queue(q);
    const u32 buffer = list.head;
    list.head = state(buffer).next;
    state(buffer).flags &= static_cast<u8>(~kWaiting);
    --list.messages;
    control.waiting &= ~(u64{list.messages == 0} << q);
    return buffer;
  }

  /// Takes a message that waits out of its queue, wherever it is in there.
  FLITLAB_INLINE void unlink(u32 buffer) const {
    const u32 q = state(buffer).queue;
    Queue& list = queue(q);
    if (list.head == buffer) {
      pop(q);
      return;
    }
    u32 before = list.head;
    while (state(before).next != buffer) before = state(before).next;
    state(before).next = state(buffer).next;
    if (list.tail == buffer) list.tail = static_cast<u8>(before);
    --list.messages;
    state(buffer).flags &= static_cast<u8>(~kWaiting);
  }

  /// Messages that go before another one over a port: all of higher priority, and of its own those that are ahead.
  FLITLAB_INLINE u32 pending(u32 p, const Message& m) const {
    u32 sum = port(p).sending != kNoBuffer;
    u32 waiting = static_cast<u32>(control.waiting >> p * kQueuesOfPort & 0xFF) >> m.priority * kVcs;
    for (u32 first = p * kQueuesOfPort + m.priority * kVcs; waiting; waiting &= waiting - 1) {
      const u32 place = lowest_bit(waiting);
      sum += place < kVcs ? ahead(first + place, m) : queue(first + place).messages;
    }
    return sum;
  }

  // The routing decision.

  /// Options of a message's table entry over ports that are on, without the one that it has tried if there is another.
  FLITLAB_INLINE Options options_of(const Message& m) const {
    const Options all = allowed(item.at(v.t.fields.table, m.node), m.vc);
    Options on = 0;
    for (Options o = all; o; o &= o - 1)
      if (enabled(lowest_bit(o) / kVcs)) on |= o & (0u - o);
    if (!on) on = all;
    const Options others = m.tried < kPorts ? on & ~(3u << kVcs * m.tried) : on;
    return others ? others : on;
  }

  /// The table says nothing of a message's destination.
  FLITLAB_INLINE void miss(const Message& m, u32 source) const {
    if (!(control.fault & kFaultNoRoute)) control.missed = m.node;
    raise_fault(control.fault, kFaultNoRoute, source);
  }

  /// Queue for a message: of the ports that it may take, and that have a buffer for it, the one with the least pending;
  /// of equals, the first whose turn comes after that of the port it came by, which is the shortest way through. kNone:
  /// there is no buffer.
  FLITLAB_INLINE u32 decide(const Message& m, u32 source) const {
    const Options options = options_of(m);
    if (!options) miss(m, source);
    u32 best = kNone, least = ~0u;
    for (u32 i = 1; i <= kPorts; ++i) {
      const u32 p = source + i < kPorts ? source + i : source + i - kPorts;
      const u32 vcs = options >> kVcs * p & 3;
      if (!vcs) continue;
      const u32 load = pending(p, m);
      if (load >= least) continue;
      const u32 q = shorter_queue(p, m, vcs);
      if (q == kNone) continue;
      least = load;
      best = q;
    }
    return best;
  }

  /// Of a port's queues that a message may enter, the shorter one that has a buffer for it.
  FLITLAB_INLINE u32 shorter_queue(u32 p, const Message& m, u32 vcs) const {
    const u32 q0 = queue_of(p, m.priority, 0), q1 = q0 + 1;
    const bool room0 = (vcs & 1) && can_take(q0, m), room1 = (vcs & 2) && can_take(q1, m);
    if (room0 && room1) return queue(q1).messages < queue(q0).messages ? q1 : q0;
    return room0 ? q0 : room1 ? q1 : kNone;
  }

  /// A message enters the pool, and a queue that has a buffer for it.
  FLITLAB_INLINE u32 store(const Message& m, u32 source, u8 flags, u32 q) const {
    if (is_single(m)) {
      hold_single(q);
    } else {
      flags |= apart(q, m);
      hold_buffers(q, m, flags, m.flits);
    }
    return put(m, source, flags, q);
  }

  /// It enters buffers that have been counted as its own.
  FLITLAB_INLINE u32 put(const Message& m, u32 source, u8 flags, u32 q) const {
    const u32 buffer = lowest_bit(control.free);
    control.free &= control.free - 1;
    message(buffer) = m;
    state(buffer) = BufferState{kNoBuffer, 0, flags, static_cast<u8>(source)};
    push(q, buffer);
    return buffer;
  }

  /// A message that has come back is routed anew, to the head of a queue, behind those only that are older.
  FLITLAB_INLINE void route_again(u32 buffer, u32 p) const {
    // Taken out of a queue while it was in doubt, it would be forgotten that it is bad.
    u8& flags = state(buffer).flags;
    if (flags & kBad) return annihilate(buffer);
    const Message& m = message(buffer);
    const u32 old = state(buffer).queue;
    hold_buffers(old, m, flags, 0u - m.flits);
    // A control message that names its hops has no other way.
    u32 q = m.control && m.node == kNoAddress ? old : decide(m, p);
    if (q == kNone) q = old;
    flags = static_cast<u8>((flags & ~kApart) | apart(q, m));
    hold_buffers(q, m, flags, m.flits);
    push(q, buffer);
  }

  FLITLAB_INLINE void log(EventKind kind, const Message& m, u32 p, u32 q) const {
    if constexpr (V::traced) {
      if (m.control) return;
      v.log.write(index, Event{m.src, m.id, kind, u8(p), m.vc, u8(q / kQueuesOfPort), u8(q % kVcs), 3, u16(m.flits)});
    }
  }
};

}  // namespace flitlab::sconnect
