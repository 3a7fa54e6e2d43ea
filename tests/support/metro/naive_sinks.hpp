#pragma once
/// Parts of the endpoints in the second implementation of METRO (naive_endpoints.hpp), and their sinks: received words,
/// and answers still to be sent.
#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "kernels/traffic/params.hpp"
#include "tests/support/metro/naive_messages.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

/// The word of a link, composed of the words on its cascaded wires.
struct LinkWord {
  Kind kind = Kind::kNothing;
  bool agree = true;
  u64 content = 0;
};

struct NaiveMetroMessage {
  u32 id, destination, words;
  Cycle created;
};

struct NaiveSource {
  enum { kIdle, kSending, kTurned, kClosing } state = kIdle;
  std::deque<NaiveMetroMessage> queue;  // the first message is being sent if `open`
  bool open = false;                    // an attempt to send the first message has been made
  u32 serial = 0;
  u32 attempts = 0;
  u32 link = 0;
  std::vector<u64> words;  // words of header and body
  u32 header = 0;
  u32 sent = 0;
  Cycle started = 0;
  Cycle from = 0;
  u32 status = 0;
  bool acked = false, refused = false, blocked = false;
  u32 damaged = kNone;  // first stage whose checksum was wrong
  std::vector<u64> answer, reply;
  Cycle answered = 0;
  SourceCursor next;
};

struct NaiveSink {
  enum { kIdle, kTaking, kAnswering, kTurned } state = kIdle;
  std::vector<u64> words;
  bool refuse = false;
  std::deque<std::pair<Kind, u64>> answer;
  Cycle from = 0;
};

struct NaiveEndpoint {
  NaiveSource source;
  std::vector<NaiveSink> sink;
  std::vector<std::vector<NaiveEnd>> link;  // [leaving links, then entering links][cascaded wires]
  std::vector<bool> link_on;
  std::vector<u32> next_serial, last_serial;
};

class NaiveSinks {
 public:
  NaiveSinks(const Experiment& e, const MetroPlan& plan, NaiveCommon& common)
      : c_(common), t_(plan.table()), net_(plan.network()), messages_(e, plan, common) {
    source_closes_ = e.str(metro::param::endpoint.closed_by) == "source";
    replies_ = e.str(param::traffic.mode) == "request_reply";
    reply_delay_ = replies_ ? e.u32_of(param::traffic.reply_delay) : 0;
    all_.resize(net_.terminals);
    for (u32 n = 0; n < all_.size(); ++n) {
      NaiveEndpoint& p = all_[n];
      p.sink.resize(net_.links);
      p.link.resize(2 * net_.links);
      p.link_on.resize(net_.links, true);
      p.next_serial.assign(net_.terminals, 0);
      p.last_serial.assign(net_.terminals, 255);
      for (u32 l = 0; l < 2 * net_.links; ++l) p.link[l].resize(c_.slices);
    }
  }

  std::vector<NaiveEndpoint>& all() { return all_; }

 protected:
  LinkWord received(const std::vector<NaiveEnd>& link) const {
    LinkWord h;
    h.kind = kind_of(link[0].word);
    bool given_up = false;
    for (u32 s = 0; s < c_.slices; ++s) {
      h.content |= u64{payload_of(link[s].word)} << s * c_.width;
      if (kind_of(link[s].word) != h.kind) h.agree = false;
      if (kind_of(link[s].word) == Kind::kBackDrop) given_up = true;
    }
    if (given_up) h.kind = Kind::kBackDrop, h.agree = true;
    return h;
  }

  void send(std::vector<NaiveEnd>& link, Kind kind, u64 content = 0) {
    for (u32 s = 0; s < c_.slices; ++s)
      link[s].sent = make_word(kind, static_cast<u32>((content >> s * c_.width) % (1u << c_.width)));
  }

  void sink_cycle(u32 n, u32 l) {
    NaiveEndpoint& e = all_[n];
    NaiveSink& s = e.sink[l];
    auto& link = e.link[net_.links + l];
    const LinkWord h = received(link);
    switch (s.state) {
      case NaiveSink::kIdle:
        if (h.kind != Kind::kData) return;
        s = NaiveSink{};
        s.state = NaiveSink::kTaking;
        [[fallthrough]];
      case NaiveSink::kTaking:
        if (!h.agree) s.refuse = true;
        if (h.kind == Kind::kData) s.words.push_back(h.content);
        if (h.kind == Kind::kNothing || h.kind == Kind::kDrop) s.state = NaiveSink::kIdle;
        if (h.kind == Kind::kTurn) decide(n, s);
        break;
      case NaiveSink::kAnswering:
        if (h.kind == Kind::kDrop) s.state = NaiveSink::kIdle;
        break;
      case NaiveSink::kTurned:
        if (c_.now >= s.from && (h.kind == Kind::kDrop || h.kind == Kind::kNothing)) s.state = NaiveSink::kIdle;
        return;
    }
    if (s.state != NaiveSink::kAnswering || c_.now < s.from) return;
    const auto [kind, content] = s.answer.front();
    s.answer.pop_front();
    send(link, kind, content);
    if (!s.answer.empty()) return;
    s.state = kind == Kind::kDrop ? NaiveSink::kIdle : NaiveSink::kTurned;
    s.from = c_.now + 1 + link[0].delay + c_.dp + link[0].delay;
  }

  /// Decides whether to accept the message, when TURN has arrived.
  void decide(u32 n, NaiveSink& s) {
    NaiveEndpoint& e = all_[n];
    s.state = NaiveSink::kAnswering;
    s.from = c_.now + c_.dp - 1;
    const u32 numbers = messages_.source_words() + messages_.serial_words(), check = messages_.check_words();
    // A number may fill only a part of its last word; the other bits do not count.
    u32 source = 0;
    u8 serial = 0;
    bool good = !s.refuse && s.words.size() >= numbers + check;
    if (good) {
      u64 number = 0;
      for (u32 k = 0; k < messages_.source_words(); ++k)
        number = (k ? number << messages_.word_bits() : 0) | s.words[k];
      source = static_cast<u32>(number);
      for (u32 k = messages_.source_words(); k < numbers; ++k)
        number = (k > messages_.source_words() ? number << messages_.word_bits() : 0) | s.words[k];
      serial = static_cast<u8>(number);
      good = source < all_.size() && messages_.remainder(metro::first_crc(t_, n), s.words, 0) == 0;
    }
    s.answer.clear();
    const u32 first = good ? metro::first_answer_crc(t_, source, n, serial) : metro::first_crc(t_, 0);
    for (u64 w : messages_.checked_from(first, {messages_.channel(good ? metro::kAcknowledged : metro::kRefused)}))
      s.answer.emplace_back(Kind::kData, w);
    if (good) {
      const bool known = e.last_serial[source] == serial;
      ++c_.count(known ? metro::Count::kDuplicates : metro::Count::kAccepted);
      e.last_serial[source] = serial;
      if (!known) {
        const u32 words = static_cast<u32>(s.words.size()) - check;
        const std::vector<u64> sent = messages_.body(source, n, serial, words);
        if (!std::equal(sent.begin() + numbers, sent.end(), s.words.begin() + numbers))
          ++c_.count(metro::Count::kAcceptedWrong);
      }
      if (replies_) {
        for (u32 k = 0; k < reply_delay_; ++k) s.answer.emplace_back(Kind::kIdle, 0);
        const u32 words = length_from(
            t_.traffic.replies, philox(c_.row.seed, flitlab::stream::kReply, n, u64{source} << 8 | serial).word[0]);
        std::vector<u64> data;
        for (u32 k = 0; k + check < words; ++k)
          data.push_back(metro::data_word(t_, c_.row.seed, n, source, serial | 1u << 16, k));
        for (u64 w : messages_.checked(data, source)) s.answer.emplace_back(Kind::kData, w);
      }
    }
    s.answer.emplace_back(source_closes_ ? Kind::kTurn : Kind::kDrop, 0);
  }

  NaiveCommon& c_;
  const metro::Table& t_;
  const MetroNetwork& net_;
  NaiveMessages messages_;
  u32 reply_delay_;
  bool source_closes_, replies_;
  std::vector<NaiveEndpoint> all_;
};

}  // namespace flitlab::testing
