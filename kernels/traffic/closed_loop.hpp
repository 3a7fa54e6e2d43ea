#pragma once
/// Request-reply traffic (Dally & Towles 23.1 and 14.1.4): a terminal has at most `window` requests without a reply,
/// and replies to the requests of other terminals. It accepts a request only if its reply queue has a free position.
/// While the queue is full, requests wait in the ejection buffers, hold their credits, and congest the network. With
/// one message class this can deadlock. With two message classes it cannot, because replies have virtual channels of
/// their own and terminals always accept them.
#include "kernels/traffic/injection.hpp"

namespace flitlab {

/// Bit that marks the packet number of a reply. Replies and requests are numbered separately.
inline constexpr u32 kReplyId = 0x80000000u;

/// Returns the cycle in which the next request is created; kNever while `window` requests have no reply.
template <class V>
FLITLAB_INLINE Cycle next_request(const V& v, const TerminalControl& control, const LoopControl& loop) {
  return loop.outstanding < v.t.traffic.window ? control.next.at : kNever;
}

/// Creates the requests whose creation cycle has come, while fewer than `window` requests have no reply. At that limit
/// the source stops. When a reply arrives, the time to the next request is computed again from the same random number,
/// and counts from that cycle; for a memoryless source this is equivalent to a pause.
/// `advance(cursor)` does what next_creation() does.
template <class V, int W, class Advance>
FLITLAB_INLINE void create_requests(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                    LoopControl& loop, Cycle now, Advance&& advance) {
  const auto& t = v.t;
  while (control.next.at <= now && loop.outstanding < t.traffic.window) {
    u32 tag = 0;
    while (terminal.at(t.terminal_fields.transaction, tag).id != kNone) ++tag;
    const u32 id = control.next.index;
    terminal.at(t.terminal_fields.transaction, tag) = Transaction{id, now};
    count_creation(v, index, id, now, packet_flits(t.traffic, *v.row, index, id),
                   [&] { return packet_destination(t.traffic, *v.row, index, id); });
    ++loop.outstanding;
    ++control.created;
    advance(control.next);
  }
}
template <class V, int W>
FLITLAB_INLINE void create_requests(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                    LoopControl& loop, Cycle now) {
  create_requests(v, terminal, index, control, loop, now,
                  [&](SourceCursor& next) { next_creation(v.t.traffic, *v.row, index, next); });
}

/// Returns the oldest request of the source queue: its length, class, tag, number and creation cycle.
template <class V, int W>
FLITLAB_INLINE Packet oldest_request(const V& v, const Item<W>& terminal, u32 index, const TerminalControl& control) {
  const auto& t = v.t;
  u32 tag = 0;
  while (terminal.at(t.terminal_fields.transaction, tag).id != control.sent) ++tag;
  Packet packet;
  packet.flits = static_cast<u16>(packet_flits(t.traffic, *v.row, index, control.sent));
  packet.message_class = 0;
  packet.tag = static_cast<u8>(tag);
  packet.id = control.sent;
  packet.created = terminal.at(t.terminal_fields.transaction, tag).created;
  return packet;
}

template <class V, int W>
FLITLAB_INLINE bool start_request(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  if (control.sent == control.created) return false;
  Packet packet = oldest_request(v, terminal, index, control);
  const auto destination = [&] { return packet_destination(t.traffic, *v.row, index, packet.id); };
  if (!start_packet(v, terminal, index, control.lane, packet, destination, now)) return false;
  ++control.sent;
  return true;
}

/// Returns the length of reply `number` of a terminal, flits.
template <class V>
FLITLAB_INLINE u32 reply_flits(const V& v, u32 index, u32 number) {
  return length_from(v.t.traffic.replies, philox(v.row->seed, stream::kReply, index, number).word[0]);
}

/// Returns the oldest queued reply: its length, class, tag, number and creation cycle.
template <class V, int W>
FLITLAB_INLINE Packet oldest_reply(const V& v, const Item<W>& terminal, u32 index, const LoopControl& loop) {
  const QueuedReply& reply = terminal.at(v.t.terminal_fields.reply, loop.reply_first);
  Packet packet;
  packet.flits = static_cast<u16>(reply_flits(v, index, loop.replies_sent));
  packet.message_class = static_cast<u8>(v.t.message_classes - 1);
  packet.tag = static_cast<u8>(reply.tag);
  packet.id = kReplyId | loop.replies_sent;
  packet.created = reply.created;
  return packet;
}
template <class V>
FLITLAB_INLINE void remove_oldest_reply(const V& v, LoopControl& loop) {
  ++loop.replies_sent;
  --loop.replies;
  --loop.created;
  loop.reply_first = static_cast<u16>(loop.reply_first + 1u == v.t.traffic.reply_queue ? 0 : loop.reply_first + 1);
}

template <class V, int W>
FLITLAB_INLINE bool start_reply(const V& v, const Item<W>& terminal, u32 index, LoopControl& loop, Cycle now) {
  if (!loop.created) return false;
  Packet packet = oldest_reply(v, terminal, index, loop);
  const auto destination = [&] { return terminal.at(v.t.terminal_fields.reply, loop.reply_first).to; };
  if (!start_packet(v, terminal, index, loop.lane, packet, destination, now)) return false;
  remove_oldest_reply(v, loop);
  return true;
}

/// Queues the reply to a request that has been received completely, in the position reserved for it.
template <class V, int W>
FLITLAB_INLINE void queue_reply(const V& v, const Item<W>& terminal, LoopControl& loop, const Packet& request,
                                Cycle now) {
  const auto& t = v.t;
  const u32 position = (loop.reply_first + loop.replies) % t.traffic.reply_queue;
  terminal.at(t.terminal_fields.reply, position) = QueuedReply{request.src, request.tag, now + t.traffic.reply_delay};
  --loop.promised;
  ++loop.replies;
}

/// Returns the cycle in which the next queued reply may leave; kNever if all may.
template <class V, int W>
FLITLAB_INLINE Cycle next_reply(const V& v, const Item<W>& terminal, const LoopControl& loop) {
  if (loop.created == loop.replies) return kNever;
  return terminal.at(v.t.terminal_fields.reply, (loop.reply_first + loop.created) % v.t.traffic.reply_queue).created;
}

/// Creates the replies whose delay is over.
template <class V, int W>
FLITLAB_INLINE void create_replies(const V& v, const Item<W>& terminal, u32 index, LoopControl& loop, Cycle now) {
  const u32 size = v.t.traffic.reply_queue;
  for (; loop.created < loop.replies; ++loop.created) {
    const QueuedReply& reply = terminal.at(v.t.terminal_fields.reply, (loop.reply_first + loop.created) % size);
    if (static_cast<i32>(now - reply.created) < 0) return;
    const u32 number = loop.replies_sent + loop.created;
    count_creation(v, index, kReplyId | number, reply.created, reply_flits(v, index, number), [&] { return reply.to; });
  }
}

/// Ends a transaction whose reply arrived in cycle `arrived`. A source that has stopped because `window` requests had
/// no reply continues in cycle `now`.
template <class V>
FLITLAB_INLINE void close_transaction(const V& v, Transaction& transaction, u32 index, TerminalControl& control,
                                      LoopControl& loop, Cycle arrived, Cycle now) {
  if (loop.outstanding-- == v.t.traffic.window) seek_creation(v.t.traffic, *v.row, index, control.next, now);
  count(*v.shard, Total::kTransactions);
  if (measured(v, transaction.created)) {
    count(*v.shard, Total::kRoundTrips);
    count(*v.shard, Total::kRoundTripSum, arrived - transaction.created);
    raise_to(*v.shard, Total::kRoundTripMax, arrived - transaction.created);
  }
  transaction.id = kNone;
}

/// Ends the transaction of a reply that has been received completely. Wrong routing tables may deliver a reply to a
/// terminal other than the requester. Such a reply counts as misdelivered, and its transaction stays open, if the reply
/// carries another terminal's number or if no request with its tag (index in the window) is open here. If several
/// terminals have the same number (a machine that has not been booted), the reply ends the transaction here that has
/// its tag.
template <class V, int W>
FLITLAB_INLINE void end_transaction(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                    LoopControl& loop, const Packet& reply, Cycle now) {
  Transaction& transaction = terminal.at(v.t.terminal_fields.transaction, reply.tag);
  const bool open = transaction.id < control.sent;       // kNone (no transaction) is larger than any packet number
  const bool meant = !is_misdelivered(v, index, reply);  // deliver() has already counted a misdelivered reply
  if (meant && !open) count(*v.shard, Total::kPacketsMisdelivered);
  if (open && meant) close_transaction(v, transaction, index, control, loop, now, now);
}

/// Returns whether the reply queue has a free position that no request has reserved.
template <class V>
FLITLAB_INLINE bool accepts_request(const V& v, const LoopControl& loop) {
  return u32{loop.replies} + loop.promised < v.t.traffic.reply_queue;
}

FLITLAB_INLINE bool is_reply(const Packet& packet) { return packet.id & kReplyId; }

/// Counts a packet that has been received completely: a request is queued for its reply; a reply ends its transaction.
template <class V, int W>
FLITLAB_INLINE void receive_packet(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                   LoopControl& loop, const Packet& packet, Cycle now) {
  deliver(v, index, control, packet, now);
  if (is_reply(packet))
    end_transaction(v, terminal, index, control, loop, packet, now);
  else
    queue_reply(v, terminal, loop, packet, now);
}

/// Consumes one flit from the ejection buffers, if the terminal can accept one; round robin over VCs.
template <class V, int W>
FLITLAB_INLINE void consume_flit(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                 LoopControl& loop, Cycle now) {
  const auto& t = v.t;
  const bool has_room = accepts_request(v, loop);
  const auto front = [&](u32 vc) -> const Packet& {
    return terminal.at(t.terminal_fields.ring, vc * t.ring + terminal.at(t.terminal_fields.first, vc));
  };
  u32 candidates = 0;
  for (u32 vc = 0; vc < t.vcs; ++vc) {
    const EjectionVc& held = terminal.at(t.terminal_fields.held, vc);
    if (held.flits && (held.left || has_room || is_reply(front(vc)))) candidates |= 1u << vc;
  }
  if (!candidates) return;
  const u32 vc = first_at_or_after(candidates, loop.take);
  loop.take = static_cast<u8>(vc + 1 == t.vcs ? 0 : vc + 1);
  EjectionVc& held = terminal.at(t.terminal_fields.held, vc);
  if (!held.left) {
    held.left = front(vc).flits;
    if (!is_reply(front(vc))) ++loop.promised;
  }
  --held.flits;
  count(*v.shard, Total::kFlitsDelivered);
  if (!--held.left) {
    const Packet packet = front(vc);
    u8& first = terminal.at(t.terminal_fields.first, vc);
    first = next_position(first, t.ring);
    receive_packet(v, terminal, index, control, loop, packet, now);
  }
  credit_to_router(v, index, vc, now);
}

/// Sends one flit of a request or of a reply into the network. If both can send, requests and replies alternate.
template <class V, int W>
FLITLAB_INLINE void send_in_turns(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                  LoopControl& loop, Cycle now) {
  for (u32 turn = 0; turn < 2; ++turn) {
    const u32 which = loop.served ^ 1 ^ turn;
    PacketInInjection& lane = which ? loop.lane : control.lane;
    u8 mark = 0;
    if (!lane.left) {
      // With one message class requests and replies use the same VCs, and flits of two packets must not mix in one VC.
      if (v.t.message_classes == 1 && (which ? control.lane : loop.lane).left) continue;
      const bool started =
          which ? start_reply(v, terminal, index, loop, now) : start_request(v, terminal, index, control, now);
      if (!started) continue;
      mark = kHeadMark;
    }
    if (send_next_flit(v, terminal, index, lane, mark, now)) {
      loop.served = static_cast<u8>(which);
      return;
    }
  }
}

}  // namespace flitlab
