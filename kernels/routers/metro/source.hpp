#pragma once
/// The sending half of an endpoint (METRO, 4). A source sends a message over a randomly chosen link, turns the
/// connection, reads the replies of routers and destination, and retries until the destination acknowledges. It has one
/// message in flight.
#include <type_traits>

#include "kernels/common/philox.hpp"
#include "kernels/routers/metro/allocate.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/streams.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "kernels/routers/metro/wire.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::metro {

/// Functions that kernels/traffic/injection.hpp requires of a model. They are constant, because a METRO destination
/// checks the address before it acknowledges a message.
template <class V>
FLITLAB_INLINE bool is_destination(const V&, u32, const Packet&) {
  return true;
}
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;
}

inline constexpr u32 kCountedStages = 8;  ///< elements of a total by stage; the last one also counts later stages

/// Adds 1 to a stage's element of a total that has an element for each stage.
template <class V>
FLITLAB_INLINE void count_stage(const V& v, Count total, u32 stage) {
  const u32 bin = stage < kCountedStages ? stage : kCountedStages - 1;
  count(*v.shard, total, 1, bin);
}

/// One cycle of a source.
template <class V, class Far, class Words = const Word*>
struct SourceCycle {
  const V& v;
  const Far& far;
  Item<V::width> terminal;
  Words in;  ///< `in[link][slice]`: words of this cycle: leaving links, then entering links
  u32 index;
  Cycle now;
  TerminalControl& control;
  Source& s;

  FLITLAB_INLINE u32 route() const { return v.t.route_by_pair ? index * v.t.terminals + s.destination : s.destination; }
  FLITLAB_INLINE void send(Kind kind, u64 content = 0) const {
    if constexpr (std::is_same_v<Far, DeferredSignal>)  // the caller drives the link
      far.one = {kind, content};
    else
      drive_link(v, far, terminal, index, s.link, kind, content, now);
  }
  FLITLAB_INLINE const Wire& wire() const { return v.t.endpoint_wires[index * 2 * v.t.links + s.link]; }

  /// Takes the next message from the queue.
  FLITLAB_INLINE void load() {
    const auto& t = v.t;
    const QueuedPacket oldest = oldest_packet(v, terminal, index, control);
    s.id = oldest.id;
    s.created = oldest.created;
    s.destination = oldest_destination(v, terminal, index, control);
    s.body = static_cast<u16>(oldest.flits);
    remove_oldest(v, terminal, index, control);
    s.serial = terminal.at(t.serial_fields.next_serial, s.destination)++;
    s.header = static_cast<u16>(t.header_start[route() + 1] - t.header_start[route()]);
    s.attempts = 0;
    s.injected = now;
    count(*v.shard, Total::kPacketsInjected);
    count(*v.shard, Total::kFlitsInjected, s.body);
    if constexpr (V::traced)
      v.log.write(t.routers + index, Event{index, s.id, EventKind::kInjected, 0, 0, 0, 0, head_of(s.body), s.body});
  }

  /// Begins an attempt on a random link. Returns false if all links are switched off.
  FLITLAB_INLINE bool begin_attempt() {
    const auto& t = v.t;
    const u32 links = terminal.at(t.endpoint_fields.links_on), n = bit_count(links);
    if (!n) return false;
    const Random4 r = philox(v.row->seed, metro::stream::kLink, index, u64{s.id} << 32 | s.attempts);
    s.link = static_cast<u8>(nth_member(links, below(r.word[0], n)));
    s.state = SourceState::kSending;
    s.started = now + 1;
    s.sent = s.reply = 0;
    s.status = s.answer = s.acked = s.refused = s.blocked = s.damaged = 0;
    s.crc = first_crc(t, s.destination);
    for (u32 i = 0; i < kMaxCascade; ++i) s.sum[i] = 0;
    ++s.attempts;
    count(*v.shard, Count::kAttempts);
    return true;
  }

  /// Sends the next word of header or body, or TURN after the last word.
  FLITLAB_INLINE void send_next() {
    const auto& t = v.t;
    const u32 n = s.sent++;
    if (n < s.header) {
      const u64 word = t.header[t.header_start[route()] + n];
      u64 all = 0;
      FLITLAB_ROLLED for (u32 i = 0; i < t.slices; ++i) all |= word << i * t.width;
      send(Kind::kData, all);
    } else if (n < u32{s.header} + s.body) {
      const u64 word = body_word(v, index, s.destination, s.serial, n - s.header, s.body, s.crc);
      FLITLAB_ROLLED for (u32 i = 0; i < t.slices; ++i) {
        s.sum[i] = static_cast<u16>(
            add_to_checksum(s.sum[i], static_cast<u32>(word >> i * t.width & ((1u << t.width) - 1)), t.width));
      }
      send(Kind::kData, word);
    } else {
      send(Kind::kTurn);
      s.state = SourceState::kTurned;
      s.from = now + 1 + t.stages + 2 * wire().delay;
    }
  }

  /// Returns whether the checksum from the router of a stage matches the words that the source has sent.
  FLITLAB_INLINE bool checksum_fits(u32 stage, u64 content) const {
    const auto& t = v.t;
    const u32 mask = (1u << t.width) - 1;
    u32 head = 0;
    FLITLAB_ROLLED for (u32 i = t.header_first[stage]; i < s.header; ++i) {
      head = add_to_checksum(head, t.header[t.header_start[route()] + i], t.width);
    }
    head = turned_checksum(head, s.body, t.width);
    FLITLAB_ROLLED for (u32 i = 0; i < t.slices; ++i) {
      if ((content >> i * t.width & mask) != (head ^ s.sum[i])) return false;
    }
    return true;
  }

  FLITLAB_INLINE void take_status(const Arrived& word) {
    const u32 stage = s.status / 2;
    if (word.kind == Kind::kBlocked) s.blocked = 1;
    if (s.status % 2 && stage < kMaxStages && !s.damaged && !checksum_fits(stage, word.content))
      s.damaged = static_cast<u8>(stage + 1);
    if (s.status < 0xFF) ++s.status;
  }

  /// Returns the number of routers on the path.
  FLITLAB_INLINE u32 stages() const {
    const auto& t = v.t;
    return t.route_by_pair ? s.header / (t.header_words ? t.header_words : 1) : t.most_stages;
  }

  /// Takes a data word from the destination: first the answer and its check, which follow the STATUS words of all
  /// routers, then the reply if there is one.
  FLITLAB_INLINE void take_answer(const Arrived& word) {
    const auto& t = v.t;
    const u64 refusal = kRefused & channel_mask(t);
    if (s.answer == 0)
      s.crc = word.content == refusal ? first_crc(t, 0) : first_answer_crc(t, index, s.destination, s.serial);
    s.crc = add_to_crc(t.crc, s.crc, word.content, t.word_bits());
    if (s.answer > t.crc_words) {
      ++s.reply;
      return;
    }
    if (s.answer == 0) {
      s.said = word.content;
      s.answered = now;
    }
    if (s.answer++ < t.crc_words || s.crc != 0 || s.status != 2 * stages()) return;
    s.acked = s.said == (kAcknowledged & channel_mask(t));
    s.refused = s.said == refusal;
    s.crc = first_crc(t, index);
    if (s.acked && t.mode != TrafficMode::kRequestReply) complete(s.answered);
  }

  /// Counts a message that is acknowledged and whose reply, if any, is complete. `at`: cycle in which the answer (or
  /// the reply's end) was on the wire.
  FLITLAB_INLINE void complete(Cycle at) {
    const auto& t = v.t;
    Packet packet{};
    packet.dst = s.destination;
    packet.src = index;
    packet.created = s.created;
    packet.injected = s.injected;
    packet.id = s.id;
    packet.flits = s.body;
    packet.hops = static_cast<u16>(s.status / 2);
    deliver(v, index, control, packet, at - 1);  // - 1: like injection, one cycle before the word is on the wire
    count(*v.shard, Total::kFlitsDelivered, s.body);
    if (t.mode == TrafficMode::kTrace) record_arrival(v, terminal, index, packet, now);
    if (t.mode == TrafficMode::kRequestReply) {
      count(*v.shard, Total::kTransactions);
      count(*v.shard, Count::kReplyWords, s.reply);
      if (measured(v, s.created)) {
        count(*v.shard, Total::kRoundTrips);
        count(*v.shard, Total::kRoundTripSum, at - 1 - s.created);
        raise_to(*v.shard, Total::kRoundTripMax, at - 1 - s.created);
      }
    }
    s.body = 0;
    create_after();
  }

  /// Schedules the next message of a processor that stalls, after the processor's think time (endpoint.think_cycles).
  FLITLAB_INLINE void create_after() {
    if (!v.t.stalls) return;
    ++control.next.index;
    if (v.t.think_cycles == kNone)
      seek_creation(v.t.traffic, *v.row, index, control.next, now + 1);
    else
      control.next.at = now + 1 + v.t.think_cycles;
    control.oldest = control.next;
  }

  /// Ends an attempt whose connection is closed. Functions that detect this return true and their caller calls end(),
  /// so that this code exists once.
  FLITLAB_INLINE void end() {
    const auto& t = v.t;
    s.state = SourceState::kIdle;
    s.from = now + 1;
    if (!s.body) return;
    if (t.mode == TrafficMode::kRequestReply && s.acked && s.reply && s.reply >= t.crc_words && s.crc == 0)
      return complete(now);
    if (s.refused) count(*v.shard, Count::kRefused);
    if (s.damaged && !s.acked) count_stage(v, Count::kDamaged, s.damaged - 1);
    if (t.most_attempts && s.attempts >= t.most_attempts) {
      count(*v.shard, Total::kPacketsDropped);
      count(*v.shard, Total::kFlitsDropped, s.body);
      if (measured(v, s.created)) count(*v.shard, Total::kMeasuredDropped);
      s.body = 0;
      return create_after();
    }
    if (!t.backoff) return;
    const u32 doublings = s.attempts - 1 < t.backoff_doublings ? s.attempts - 1 : t.backoff_doublings;
    const Random4 r = philox(v.row->seed, metro::stream::kBackoff, index, u64{s.id} << 32 | s.attempts);
    s.from += below(r.word[0], (t.backoff_cycles << doublings) + 1);
  }

  /// Returns the stage of the router that released the connection, derived from the time at which its backward control
  /// bit arrives.
  FLITLAB_INLINE u32 stage_of_back_drop() const {
    u32 stage = 0;
    while (stage + 1 < v.t.most_stages && s.started + v.t.back_drop_at[stage + 1] <= now) ++stage;
    return stage;
  }

  /// Reads a word after TURN. Returns whether the connection is closed.
  FLITLAB_INLINE bool read_answer(const Arrived& word) {
    if (now < s.from) return false;
    const bool endless = now - s.from > v.t.answer_timeout;
    const Kind kind = word.agree && !endless ? word.kind : Kind::kNothing;
    switch (kind) {
      case Kind::kStatus:
      case Kind::kBlocked: take_status(word); return false;
      case Kind::kData: take_answer(word); return false;
      case Kind::kIdle: return false;
      case Kind::kTurn:
        s.state = SourceState::kClosing;
        s.from = now + v.t.stages - 1;
        return close();
      default:
        if (s.blocked)
          count_stage(v, Count::kBlocked, (s.status - 1) / 2);
        else if (!s.acked && !s.refused)
          count_stage(v, Count::kLost, s.status / 2);
        if (!word.agree || endless) send(Kind::kDrop);  // part of the connection may still be open
        return true;
    }
  }

  /// Sends DROP on a connection that the destination has turned back, as soon as the source may drive the wire. Returns
  /// whether DROP was sent.
  FLITLAB_INLINE bool close() {
    if (now < s.from) return false;
    send(Kind::kDrop);
    return true;
  }

  /// Begins an attempt for a new message, or for a message whose last attempt failed. Returns whether the first word of
  /// the attempt is to be sent in this cycle.
  FLITLAB_INLINE bool start() {
    if (!s.body && control.sent != control.created) load();
    return s.body && s.from <= now && begin_attempt();
  }

  /// Reacts to the backward control bit, by which a router has released the connection. Returns true: the connection is
  /// closed.
  FLITLAB_INLINE bool drop() {
    count_stage(v, Count::kBlocked, stage_of_back_drop());
    send(Kind::kDrop);
    return true;
  }

  /// Runs one cycle of a source in state kSending.
  FLITLAB_INLINE void continue_sending() {
    if (arrived_at(v.t, in, s.link).kind != Kind::kBackDrop) return send_next();
    drop();
    end();
  }

  /// Runs one cycle of a source in state kTurned.
  FLITLAB_INLINE void continue_reply() {
    const Arrived word = arrived_at(v.t, in, s.link);
    if (word.kind == Kind::kBackDrop ? drop() : read_answer(word)) end();
  }

  /// Runs one cycle of the source, whatever its state.
  FLITLAB_INLINE void work() {
    const bool begins = s.state == SourceState::kIdle;
    if (begins && !start()) return;
    const Arrived word = arrived_at(v.t, in, s.link);
    bool over = false;
    if (s.state == SourceState::kClosing)
      over = close();
    else if (word.kind == Kind::kBackDrop && !begins)
      over = drop();
    else if (s.state == SourceState::kSending)
      send_next();
    else
      over = read_answer(word);
    if (over) end();
  }
};

}  // namespace flitlab::metro
