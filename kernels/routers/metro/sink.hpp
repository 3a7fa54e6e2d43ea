#pragma once
/// The receiving half of an endpoint at one of the endpoint's links. A sink receives a message and, after TURN, answers
/// whether the message is intact. It acknowledges a message again that it has accepted before and whose acknowledgment
/// was lost.
#include "kernels/routers/metro/source.hpp"
#include "kernels/routers/metro/totals.hpp"

namespace flitlab::metro {

/// One cycle of a sink.
template <class V, class Far, class Words = const Word*>
struct SinkCycle {
  const V& v;
  const Far& far;
  Item<V::width> terminal;
  Words in;  ///< `in[link][slice]`: words of this cycle: leaving links, then entering links
  u32 index;
  u32 link;  ///< the sink's link, counted from the first leaving link
  Cycle now;
  Sink& s;

  FLITLAB_INLINE void send(Kind kind, u64 content = 0) const {
    if constexpr (std::is_same_v<Far, DeferredSignal>)  // the caller drives the link
      far.one = {kind, content};
    else
      drive_link(v, far, terminal, index, link, kind, content, now);
  }

  FLITLAB_INLINE void begin() {
    s = Sink{};
    s.state = SinkState::kTaking;
    s.first_wrong = 0xFFFF;
    s.crc = first_crc(v.t, index);
  }

  /// Takes a word of the body.
  FLITLAB_INLINE void take(const Arrived& word) {
    const auto& t = v.t;
    const u32 n = s.words, first_data = t.source_words + t.serial_words;
    if (n < t.source_words)
      s.source = static_cast<u32>(t.source_words == 1 ? word.content : u64{s.source} << t.word_bits() | word.content);
    else if (n < first_data)
      s.serial = static_cast<u8>(t.serial_words == 1 ? word.content : u64{s.serial} << t.word_bits() | word.content);
    else if (s.first_wrong == 0xFFFF && word.content != data_word(t, v.row->seed, s.source, index, s.serial, n))
      s.first_wrong = static_cast<u16>(n);
    s.crc = add_to_crc(t.crc, s.crc, word.content, t.word_bits());
    if (s.words < 0xFFFE) ++s.words;
  }

  /// Decides on the answer when the connection is turned.
  FLITLAB_INLINE void decide() {
    const auto& t = v.t;
    const u32 least = t.source_words + t.serial_words + t.crc_words;
    s.accepted = s.words >= least && s.crc == 0 && s.source < t.terminals && !s.refuse;
    s.state = SinkState::kAnswering;
    s.from = now + t.stages - 1;
    s.crc = s.accepted ? first_answer_crc(t, s.source, index, s.serial) : first_crc(t, 0);
    if (!s.accepted) return;
    u8& last = terminal.at(t.serial_fields.last_serial, s.source);
    if (last == s.serial) {
      count(*v.shard, Count::kDuplicates);
    } else {
      last = s.serial;
      count(*v.shard, Count::kAccepted);
      if (s.first_wrong < s.words - t.crc_words) count(*v.shard, Count::kAcceptedWrong);
    }
    if (t.mode != TrafficMode::kRequestReply) return;
    const Random4 r = philox(v.row->seed, flitlab::stream::kReply, index, u64{s.source} << 8 | s.serial);
    s.reply = static_cast<u16>(length_from(t.traffic.replies, r.word[0]));
    s.pause = t.traffic.reply_delay;
  }

  /// Sends the next word: the answer and its check, DATA-IDLE until the reply is ready, the reply, and DROP or TURN.
  FLITLAB_INLINE void answer() {
    const auto& t = v.t;
    if (now < s.from) return;
    if (s.answered <= t.crc_words) {
      send(Kind::kData, answer_word(t, s.crc, s.answered++, s.accepted));
      if (s.answered > t.crc_words) s.crc = first_crc(t, s.source);
      return;
    }
    if (s.pause && s.reply) {
      --s.pause;
      return send(Kind::kIdle);
    }
    if (s.replied < s.reply) {
      const u32 n = s.replied++;
      return send(Kind::kData, reply_word(v, index, s.source, s.serial, n, s.reply, s.crc));
    }
    send(t.source_closes ? Kind::kTurn : Kind::kDrop);
    s.state = t.source_closes ? SinkState::kTurned : SinkState::kIdle;
    const Wire& wire = t.endpoint_wires[index * 2 * t.links + link];
    s.from = now + 1 + t.stages + 2 * wire.delay;
  }

  /// Takes a message's next word or its end. Returns whether the sink must answer in this cycle.
  FLITLAB_INLINE bool take_next(const Arrived& word) {
    if (!word.agree) s.refuse = 1;
    if (word.kind == Kind::kData) take(word);
    if (word.kind == Kind::kDrop || word.kind == Kind::kNothing) s.state = SinkState::kIdle;
    if (word.kind != Kind::kTurn) return false;
    decide();
    return true;
  }

  FLITLAB_INLINE Arrived arrived() const { return arrived_at(v.t, in, link); }

  /// Runs one cycle of the sink, whatever its state.
  FLITLAB_INLINE void work() {
    const Arrived word = arrived();
    if (s.state == SinkState::kIdle) {
      if (word.kind != Kind::kData) return;
      begin();
    }
    if (s.state == SinkState::kTaking) take_next(word);
    if (s.state == SinkState::kAnswering) {
      if (word.kind != Kind::kDrop) return answer();
      s.state = SinkState::kIdle;
    } else if (s.state == SinkState::kTurned) {
      if (now >= s.from && (word.kind == Kind::kDrop || word.kind == Kind::kNothing)) s.state = SinkState::kIdle;
    }
  }
};

}  // namespace flitlab::metro
