#pragma once
/// Matching of messages with receives during the run, as in MPI: a message matches the oldest posted receive that
/// accepts it, and a receive the oldest unexpected message that it accepts. The messages of one sender arrive in the
/// order in which they left: one whose packets have overtaken those of an earlier message arrives together with it.
///
/// The view offers what program.hpp needs.
#include "kernels/traffic/program_state.hpp"

namespace flitlab {
namespace detail {

constexpr u32 kUnmatched = 1;     ///< of `match`: the receive is posted and has no message
constexpr u32 kFirstMatched = 2;  ///< of `match`: it has message 0

/// The mailboxes of a terminal.
template <class V, int W>
struct Matching {
  const V& v;
  const Item<W>& terminal;
  u32 index;

  FLITLAB_INLINE const ProgramFields& fields() const { return v.t.terminal_fields.program; }
  FLITLAB_INLINE const ProgramMessage& message(u32 slot) const {
    const ProgramTable& p = v.t.traffic.program;
    return p.message[p.first_message[index] + slot];
  }
  FLITLAB_INLINE const ProgramReceive& receive(u32 number) const {
    const ProgramTable& p = v.t.traffic.program;
    return p.receive[p.first_receive[index] + number];
  }

  FLITLAB_INLINE static bool accepts(const ProgramReceive& receive, const ProgramMessage& message) {
    return receive.mailbox == message.mailbox && (receive.source == kNone || receive.source == message.source) &&
           (receive.tag == kNone || receive.tag == message.tag);
  }

  /// Removes from a list the oldest element for which `fits`, and returns it; kNone: there is none. next(n): what the
  /// element holds about the next one, of which `base` and more are an index; `removed`: what it holds afterwards.
  template <class Next, class Fits>
  FLITLAB_INLINE u32 take(MatchList& list, Next next, u32 base, u32 removed, Fits fits) const {
    for (u32 before = kNone, n = list.first; n;) {
      u32& link = next(n - 1);
      const u32 after = link >= base ? link - base + 1 : 0;
      if (!fits(n - 1)) {
        before = n - 1;
        n = after;
        continue;
      }
      if (before == kNone)
        list.first = after;
      else
        next(before) = link;
      if (!after) list.last = before == kNone ? 0 : before + 1;
      link = removed;
      return n - 1;
    }
    return kNone;
  }

  template <class Next>
  FLITLAB_INLINE void append(MatchList& list, Next next, u32 base, u32 number) const {
    if (list.first)
      next(list.last - 1) = number + base;
    else
      list.first = number + 1;
    list.last = number + 1;
  }

  FLITLAB_INLINE u32& next_message(u32 slot) const { return terminal.at(fields().next_message, slot); }
  FLITLAB_INLINE u32& next_receive(u32 number) const { return terminal.at(fields().next_receive, number); }

  /// Posts a receive, unless it has been posted.
  FLITLAB_INLINE void post(u32 number) const {
    u32& match = terminal.at(fields().match, number);
    if (match) return;
    const ProgramReceive& wanted = receive(number);
    const u32 slot = take(
        terminal.at(fields().unexpected), [&](u32 n) -> u32& { return next_message(n); }, 2, 1,
        [&](u32 n) { return accepts(wanted, message(n)); });
    if (slot != kNone) {
      match = kFirstMatched + slot;
      return;
    }
    match = kUnmatched;
    append(terminal.at(fields().posted), [&](u32 n) -> u32& { return next_receive(n); }, 1, number);
  }

  /// Gives a message, all packets of which have arrived, to a receive or to the list of unexpected messages.
  FLITLAB_INLINE void arrive(u32 slot) const {
    const ProgramMessage& arrived = message(slot);
    next_message(slot) = 1;
    const u32 number = take(
        terminal.at(fields().posted), [&](u32 n) -> u32& { return next_receive(n); }, 1, 0,
        [&](u32 n) { return accepts(receive(n), arrived); });
    if (number != kNone)
      terminal.at(fields().match, number) = kFirstMatched + slot;
    else
      append(terminal.at(fields().unexpected), [&](u32 n) -> u32& { return next_message(n); }, 2, slot);
  }

  FLITLAB_INLINE bool is_complete(u32 slot) const {
    return terminal.at(fields().arrived, slot) >= message(slot).packets;
  }

  /// Returns whether two messages with successive slots have the same sender and mailbox.
  FLITLAB_INLINE bool follows(u32 slot) const {
    return message(slot).packets && message(slot).mailbox == message(slot - 1).mailbox &&
           message(slot).sender == message(slot - 1).sender;
  }

  /// Accepts a packet of a message, which has been counted.
  FLITLAB_INLINE void packet_arrived(u32 slot) const {
    if (!message(slot).packets || !is_complete(slot) || next_message(slot)) return;
    if (slot && follows(slot) && !next_message(slot - 1)) return;
    arrive(slot);
    const ProgramTable& p = v.t.traffic.program;
    const u32 slots = p.first_message[index + 1] - p.first_message[index];
    while (++slot < slots && follows(slot) && is_complete(slot)) {
      if (p.queued) {
        Cycle &latest = terminal.at(fields().latest, slot), before = terminal.at(fields().latest, slot - 1);
        if (latest < before) latest = before;
      }
      arrive(slot);
    }
  }
};

template <class V, int W>
FLITLAB_INLINE Matching<V, W> matching(const V& v, const Item<W>& terminal, u32 index) {
  return {v, terminal, index};
}

}  // namespace detail
}  // namespace flitlab
