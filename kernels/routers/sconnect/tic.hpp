#pragma once
/// Operations on one TIC in a routing cycle: buffers, queues, and the routing decision (S-Connect, 3, 3.1).
#include "kernels/common/select.hpp"
#include "kernels/routers/sconnect/control_message.hpp"
#include "kernels/routers/sconnect/state.hpp"
#include "kernels/routers/sconnect/totals.hpp"

namespace flitlab::sconnect {

/// Event numbers of the programmable counter (S-Connect, 3.4): 5 p + PortEvent for port p; 30 and 31 concern the TIC.
enum class PortEvent : u8 { kSent, kReceived, kDamaged, kRefused, kCameBack };
inline constexpr u32 kEventsOfPort = 5;
inline constexpr u8 kInjectionHeldUp = 30;  ///< a host's message was not accepted
inline constexpr u8 kEveryCycle = 31;

/// Increments a register that saturates at 65535.
FLITLAB_HD inline void add_to_register(u16& error) { error = static_cast<u16>(error + (error < 0xFFFF)); }

/// Returns the buffers reserved for a queue; 0 if its port has no such virtual channel.
template <class Table>
FLITLAB_INLINE u32 reserved_buffers(const Table& t, u32 tic, u32 q) {
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
  /// Returns the clock in which a port's header is read, counted from the start of a routing cycle of phase 0.
  FLITLAB_INLINE u32 turn(u32 p) const { return v.t.phase[index] + p; }
  FLITLAB_INLINE bool enabled(u32 p) const { return control.enabled >> p & 1; }

  /// Returns whether the data stream of a channel is switched off, so that the far end cannot read its slots.
  FLITLAB_INLINE bool silent(u32 p) const {
    return v.t.clocks && link(p).kind == LinkKind::kSerial && !(item.at(v.t.fields.clock.state).sends >> p & 1);
  }

  FLITLAB_INLINE void note(u32 p, PortEvent event) const {
    if (control.counting == kEventsOfPort * p + static_cast<u32>(event)) ++control.counter;
  }

  // Buffers. The unused part of a queue's reservation is not available to other queues. A message counts for one
  // reservation at most, so that its release returns a buffer to one reservation only.

  /// Returns the unused buffers of a queue's reservation.
  FLITLAB_INLINE u32 unused_reservation(u32 q) const {
    const u32 reservation = reserved_buffers(v.t, index, q), held = control.held[q];
    return reservation > held ? reservation - held : 0;
  }

  /// Returns the unused buffers of the reservation for control requests, or for replies. These buffers let software
  /// reach TICs of a full or deadlocked fabric when the reservations of the queues are used up.
  FLITLAB_INLINE u32 unused_control_reservation(const Message& m) const {
    const u32 held = control.held_control[is_reply(m)];
    return v.t.control_buffers > held ? v.t.control_buffers - held : 0;
  }

  /// Returns whether a queue can accept a message without using buffers that are reserved for other queues.
  FLITLAB_INLINE bool can_take(u32 q, const Message& m) const {
    const u32 own = unused_reservation(q);
    u32 taken = u32{control.used} + control.reserved + m.flits - (own < m.flits ? own : m.flits);
    if (m.control && !own) taken -= unused_control_reservation(m) > 0;
    return taken <= v.t.buffers;
  }

  /// Returns kApart if a message that enters a queue counts for the control reservation, 0 if it counts for the queue's
  /// reservation.
  FLITLAB_INLINE u8 apart(u32 q, const Message& m) const {
    return m.control && !unused_reservation(q) ? kApart : u8{0};
  }

  /// Adds `change` buffers to the count of a message's queue or, with kApart, of the control reservation.
  FLITLAB_INLINE void hold_buffers(u32 q, const Message& m, u8 flags, u32 change) const {
    const bool own = flags & kApart;
    u8& held = own ? control.held_control[is_reply(m)] : control.held[q];
    const u32 before = own ? unused_control_reservation(m) : unused_reservation(q);
    held = static_cast<u8>(held + change);
    control.reserved =
        static_cast<u8>(control.reserved - before + (own ? unused_control_reservation(m) : unused_reservation(q)));
    control.used = static_cast<u8>(control.used + change);
  }

  FLITLAB_INLINE static bool is_single(const Message& m) { return m.flits == 1 && !m.control; }

  /// Add one buffer to the counts, or remove one, for a single data message. These functions do not check the port,
  /// because routing tables name existing queues only.
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

  /// release() for a single data message.
  FLITLAB_INLINE void release_buffer_of_single(u32 buffer) const {
    release_single(state(buffer).queue);
    control.free |= u64{1} << buffer;
  }

  /// Frees the buffer of a damaged message that has left its queue, and clears the references to the buffer.
  FLITLAB_INLINE void drop_void(u32 buffer) const {
    Port& source = port(state(buffer).source);
    if (source.doubtful == buffer) source.doubtful = kNoBuffer;
    if (source.spoiled == buffer) source.spoiled = kNoBuffer;
    release(buffer);
    count(*v.shard, Count::kAborted);
  }

  // Queues.

  FLITLAB_INLINE static u32 queue_of(u32 p, u32 priority, u32 vc) { return p * kQueuesOfPort + priority * kVcs + vc; }

  /// Returns how many messages of a queue stay ahead of an entering message. For every `Age` they are the first
  /// messages of the queue.
  FLITLAB_INLINE u32 ahead(u32 q, const Message& m) const {
    const Queue& list = queue(q);
    if (m.tried >= kPorts && (v.t.age != Age::kAll || !m.age)) return list.messages;
    u32 n = 0;
    for (u32 b = list.head; n < list.messages && goes_before(v.t.age, message(b), m); b = state(b).next) ++n;
    return n;
  }

  /// Inserts a message into a queue at the position that its age gives it.
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

  /// Appends a message to a queue. Branch-free, because whether the queue is empty is unpredictable.
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

  /// Removes the first message of a queue and returns its buffer.
  FLITLAB_INLINE u32 pop(u32 q) const {
    Queue& list = queue(q);
    const u32 buffer = list.head;
    list.head = state(buffer).next;
    state(buffer).flags &= static_cast<u8>(~kWaiting);
    --list.messages;
    control.waiting &= ~(u64{list.messages == 0} << q);
    return buffer;
  }

  /// Removes a message from any position of its queue.
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

  /// Returns the number of messages ahead of an entering message at a port: a quad in transmission, all messages of
  /// higher priority, and the messages of its own priority that stay ahead.
  FLITLAB_INLINE u32 pending(u32 p, const Message& m) const {
    u32 sum = port(p).sending != kNoBuffer;
    u32 waiting = static_cast<u32>(control.waiting >> p * kQueuesOfPort & 0xFF) >> m.priority * kVcs;
    for (u32 first = p * kQueuesOfPort + m.priority * kVcs; waiting; waiting &= waiting - 1) {
      const u32 offset = lowest_bit(waiting);
      sum += offset < kVcs ? ahead(first + offset, m) : queue(first + offset).messages;
    }
    return sum;
  }

  // The routing decision.

  /// Returns the options of a message's table entry. Prefers ports that are on, then ports other than the port that was
  /// tried last.
  FLITLAB_INLINE Options options_of(const Message& m) const {
    const Options all = allowed(item.at(v.t.fields.table, m.node), m.vc);
    Options on = 0;
    for (Options o = all; o; o &= o - 1)
      if (enabled(lowest_bit(o) / kVcs)) on |= o & (0u - o);
    if (!on) on = all;
    const Options others = m.tried < kPorts ? on & ~(3u << kVcs * m.tried) : on;
    return others ? others : on;
  }

  /// Raises a fault: the routing table has no entry for a message's destination.
  FLITLAB_INLINE void miss(const Message& m, u32 source) const {
    if (!(control.fault & kFaultNoRoute)) control.missed = m.node;
    raise_fault(control.fault, kFaultNoRoute, source);
  }

  /// Returns the queue for a message: at the permitted port with a buffer for it and the fewest messages ahead. Of
  /// equal ports the choice is the first whose turn follows the turn of port `source`, for the lowest latency. kNone:
  /// no buffer.
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

  /// Returns the shorter of a port's permitted queues that have a buffer for a message; kNone: neither queue has one.
  FLITLAB_INLINE u32 shorter_queue(u32 p, const Message& m, u32 vcs) const {
    const u32 q0 = queue_of(p, m.priority, 0), q1 = q0 + 1;
    const bool room0 = (vcs & 1) && can_take(q0, m), room1 = (vcs & 2) && can_take(q1, m);
    if (room0 && room1) return queue(q1).messages < queue(q0).messages ? q1 : q0;
    return room0 ? q0 : room1 ? q1 : kNone;
  }

  /// Stores a message in the pool and in queue q, which has a buffer for it. Returns the buffer.
  FLITLAB_INLINE u32 store(const Message& m, u32 source, u8 flags, u32 q) const {
    if (is_single(m)) {
      hold_single(q);
    } else {
      flags |= apart(q, m);
      hold_buffers(q, m, flags, m.flits);
    }
    return put(m, source, flags, q);
  }

  /// store() for a single data message that is not damaged.
  FLITLAB_INLINE void store_single(const Message& m, u32 source, u32 q) const {
    hold_single(q);
    put(m, source, 0, q);
  }

  /// Stores a message like store(), but the buffers of the message have already been counted. Returns the buffer.
  FLITLAB_INLINE u32 put(const Message& m, u32 source, u8 flags, u32 q) const {
    const u32 buffer = lowest_bit(control.free);
    control.free &= control.free - 1;
    message(buffer) = m;
    state(buffer) = BufferState{kNoBuffer, 0, flags, static_cast<u8>(source)};
    push(q, buffer);
    return buffer;
  }

  /// Routes a returned message again; it enters a queue at the position that its age gives it.
  FLITLAB_INLINE void route_again(u32 buffer, u32 p) const {
    // A damaged message may have been removed from a queue before its CRC check ended, by TicPhase::empty.
    u8& flags = state(buffer).flags;
    if (flags & kBad) return drop_void(buffer);
    const Message& m = message(buffer);
    const u32 old = state(buffer).queue;
    hold_buffers(old, m, flags, 0u - m.flits);
    // A control message with a source route has no alternative.
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
