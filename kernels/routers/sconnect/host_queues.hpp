#pragma once
/// Source queues of a host's port: one for each priority (S-Connect, 2.3, 3), or a single one. Packets are not stored,
/// but computed from random draws when they are needed. A queue is therefore a cursor over the sequence of packets that
/// the port creates, and points to the oldest unsent packet of the queue's priority. In a closed loop these packets are
/// requests; replies have another queue, which is offered first.
#include "kernels/common/bits.hpp"
#include "kernels/routers/sconnect/host_loop.hpp"
#include "kernels/routers/sconnect/state.hpp"
#include "kernels/traffic/replay.hpp"
#include "kernels/traffic/source_queue.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::sconnect {

/// Returns the priority of a terminal's packet: for a quad the priority of quads, else a priority drawn by the weights
/// of the port (host.priorities).
FLITLAB_HD inline u32 packet_priority(const Table& t, const ReplicaRow& row, u32 p, u32 terminal, u32 id, u32 flits) {
  if (flits > 1) return t.quad_priority;
  const u32* below = t.priority_below[p - kSerial];
  if (below[0] == ~0u) return 0;
  const u32 draw = packet_draws(row, terminal, id).word[3];
  u32 priority = 0;
  while (below[priority] != ~0u && draw >= below[priority]) ++priority;
  return priority;
}

template <class V, int W>
struct HostQueues {
  const V& v;
  Item<W> terminal;
  u32 index;
  u32 p;  ///< port of the TIC
  TerminalControl& control;
  HostControl& host;

  /// Returns the priorities that have queues, as bits; 0: a single queue.
  FLITLAB_INLINE u32 queues() const { return v.t.queues[p - kSerial]; }
  FLITLAB_INLINE HostQueue& queue(u32 priority) const { return terminal.at(v.t.host_fields.queue, priority); }
  FLITLAB_INLINE Message& offered(u32 n) const {
    return n == kReplies ? loop().reply() : queues() ? queue(n).offered : host.offered;
  }
  FLITLAB_INLINE HostLoop<V, W> loop() const { return {v, terminal, index}; }

  /// Creates the due packets, and moves the cursors of empty queues to their first new packets.
  FLITLAB_INLINE void create(Cycle now) const {
    if (is_trace()) {
      const u32 before = end();
      create_from_trace(v, terminal, index, control, now);
      if (end() != before) settle(before);
    } else if (is_loop()) {
      create_in_loop(now);
    } else if (control.next.at <= now) {
      const u32 before = end();
      create_packets(v, index, control, now);
      if (queues()) settle(before);
    }
  }

  /// Returns the queues that have a message to offer, as bits: bit 0 for a single queue, bit kReplies for replies. For
  /// a host without messages, the call does not change the state, so callers may omit it.
  FLITLAB_INLINE u32 offers() const {
    const u32 replies = is_loop() ? draw_reply() : 0;
    if (control.sent == control.created) return replies;
    if (queues()) return draw();
    if (!(host.ready & 1)) {
      draw_oldest();
      host.ready |= 1;
    }
    return host.ready;
  }

  /// Removes the offered message of queue n, which the TIC has accepted.
  FLITLAB_INLINE void remove(u32 n) const {
    host.ready = static_cast<u8>(host.ready & ~(1u << n));
    if (n == kReplies) return loop().remove();
    if (queues()) return remove_first(n);
    if (is_loop())
      ++control.sent;
    else
      remove_oldest(v, terminal, index, control);
  }

  /// Returns whether the queues are consistent: they hold the unsent packets, and offer the first of each queue.
  FLITLAB_INLINE bool sound() const {
    bool any = !queues() && control.sent != control.created;
    u32 known = queues() ? 0 : host.ready & 1;
    for (u32 set = queues(); set; set &= set - 1) {
      const u32 priority = lowest_bit(set), position = queue(priority).oldest.index;
      if (position > end()) return false;
      if (position == end()) continue;
      any = true;
      const QueuedPacket first = packet(position, queue(priority).oldest.at);
      const Message& m = queue(priority).offered;
      if (priority_of(first) != priority) return false;
      if (m.id == first.id && m.priority == priority) known |= 1u << priority;
    }
    if (is_loop()) {
      const auto sent = [&](u32 id) { return is_sent(id); };
      if (!loop().sound(control, host.ready >> kReplies & 1, sent)) return false;
      known |= 1u << kReplies;
    }
    return any == (control.sent != control.created) && !(host.ready & ~known);
  }

 private:
  FLITLAB_HD void create_in_loop(Cycle now) const {
    loop().end_transactions(control, now, [&](u32 id) { return is_sent(id); });
    create_replies(v, terminal, index, loop().control(), now);
    const u32 before = end();
    create_requests(v, terminal, index, control, loop().control(), now);
    if (queues() && end() != before) settle(before);
  }

  FLITLAB_INLINE bool is_sent(u32 id) const {
    return id < (queues() ? queue(priority_of(packet(id, 0))).oldest.index : control.sent);
  }

  FLITLAB_HD u32 draw_reply() const {
    const LoopControl& waiting = loop().control();
    if (!(host.ready >> kReplies & 1) && waiting.created) {
      const QueuedReply& oldest = loop().oldest();
      const QueuedPacket reply{kReplyId | waiting.replies_sent, oldest.created,
                               reply_flits(v, index, waiting.replies_sent)};
      loop().reply() = message(reply, oldest.to, v.t.reply_priority);
      loop().reply().tag = static_cast<u8>(oldest.tag);
      host.ready = static_cast<u8>(host.ready | 1u << kReplies);
    }
    return host.ready & 1u << kReplies;
  }

  FLITLAB_INLINE void draw_oldest() const {
    if (is_loop()) {
      const QueuedPacket oldest = packet(control.sent, 0);
      host.offered = message(oldest, destination(oldest.id), priority_of(oldest));
    } else {
      const QueuedPacket oldest = oldest_packet(v, terminal, index, control);
      host.offered = message(oldest, oldest_destination(v, terminal, index, control), priority_of(oldest));
    }
  }

  /// Draws the next message of each non-empty queue. Returns these queues as bits.
  FLITLAB_HD u32 draw() const {
    for (u32 set = queues() & ~u32{host.ready}; set; set &= set - 1) {
      const u32 priority = lowest_bit(set), position = queue(priority).oldest.index;
      if (position == end()) continue;
      queue(priority).offered = message(packet(position, queue(priority).oldest.at), destination(position), priority);
      host.ready = static_cast<u8>(host.ready | 1u << priority);
    }
    return host.ready;
  }

  FLITLAB_HD void remove_first(u32 n) const {
    ++control.sent;
    SourceCursor& oldest = queue(n).oldest;
    if (is_trace()) {
      remove_of_trace(v, terminal, oldest.index);
      for (u32 set = queues(); set; set &= set - 1) {
        SourceCursor& other = queue(lowest_bit(set)).oldest;
        other.index -= other.index > oldest.index;
      }
    } else {
      step(oldest);
    }
    seek(n);
  }

  /// Advances the cursors of the queues that were empty before new packets were created. `position`: end of the packet
  /// sequence at that time, at which the cursors of empty queues are.
  FLITLAB_HD void settle(u32 position) const {
    for (u32 set = queues(); set; set &= set - 1)
      if (queue(lowest_bit(set)).oldest.index == position) seek(lowest_bit(set));
  }

  FLITLAB_INLINE bool is_trace() const { return v.t.mode == TrafficMode::kTrace; }
  FLITLAB_INLINE bool is_loop() const { return v.t.mode == TrafficMode::kRequestReply; }

  // The position of a packet in the sequence is its number. With a trace, the position is the index in the circular
  // buffer of created packets.

  /// Returns the position after the last created packet.
  FLITLAB_INLINE u32 end() const {
    return is_trace() ? terminal.at(v.t.terminal_fields.trace.control).created : control.next.index;
  }

  FLITLAB_INLINE const TraceEntry& entry(u32 position) const {
    const TraceFields& f = v.t.terminal_fields.trace;
    return terminal.at(f.entry, (terminal.at(f.control).first + position) % kTraceQueue);
  }

  FLITLAB_INLINE QueuedPacket packet(u32 position, Cycle created) const {
    if (!is_trace()) return {position, created, packet_flits(v.t.traffic, *v.row, index, position)};
    return {entry(position).id, entry(position).cycle, entry(position).flits};
  }

  FLITLAB_INLINE u32 destination(u32 position) const {
    return is_trace() ? entry(position).destination : packet_destination(v.t.traffic, *v.row, index, position);
  }

  FLITLAB_INLINE u32 priority_of(const QueuedPacket& packet) const {
    return packet_priority(v.t, *v.row, p, index, packet.id, packet.flits);
  }

  FLITLAB_INLINE void step(SourceCursor& cursor) const {
    if (is_trace() || is_loop())
      ++cursor.index;
    else if (cursor.index + 1 == control.next.index)
      cursor = control.next;
    else
      next_creation(v.t.traffic, *v.row, index, cursor);
  }

  /// Advances a queue's cursor to the next packet of the queue's priority, at the cursor or after it.
  FLITLAB_HD void seek(u32 priority) const {
    SourceCursor& cursor = queue(priority).oldest;
    while (cursor.index != end() && priority_of(packet(cursor.index, cursor.at)) != priority) step(cursor);
  }

  FLITLAB_INLINE Message message(const QueuedPacket& packet, u32 dst, u32 priority) const {
    Message m{};
    m.id = packet.id;
    m.created = packet.created;
    m.dst = dst;
    m.flits = static_cast<u8>(packet.flits);
    m.priority = static_cast<u8>(priority);
    m.src = index;
    m.node = v.t.table_given ? v.t.terminal_node[dst] : v.terminals[dst].at(v.t.host_fields.host).address;
    m.tried = kPorts;
    if (is_loop() && !is_host_reply(m)) {
      m.tag = static_cast<u8>(loop().tag_of(m.id));
      m.created = loop().transaction(m.tag).created;
    }
    return m;
  }
};

}  // namespace flitlab::sconnect
