#pragma once
/// Endpoints of the second METRO (metro_naive.hpp): a source is its message and what the link that it has taken brings,
/// a sink what it has heard and has to answer.
#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/streams.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "kernels/traffic/params.hpp"
#include "tests/support/metro/naive_headers.hpp"
#include "tests/support/metro/naive_messages.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

/// What all cascaded wires of a link bring.
struct Heard {
  Kind kind = Kind::kNothing;
  bool agree = true;
  u64 content = 0;
};

struct NaiveMessage {
  u32 id, destination, words;
  Cycle created;
};

struct NaiveSource {
  enum { kIdle, kSending, kTurned, kClosing } state = kIdle;
  std::deque<NaiveMessage> queue;  // its first is under way once it has been tried
  bool open = false;               // it has been
  u32 serial = 0;
  u32 attempts = 0;
  u32 link = 0;
  std::vector<u64> words;  // header and body
  u32 header = 0;
  u32 sent = 0;
  Cycle started = 0;
  Cycle from = 0;
  u32 status = 0;
  bool acked = false, refused = false, blocked = false;
  u32 damaged = kNone;  // stage
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
  std::vector<std::vector<NaiveEnd>> link;  // [leaving links, entering ones][cascaded wires]
  std::vector<bool> link_on;
  std::vector<u32> next_serial, last_serial;
};

class NaiveEndpoints {
 public:
  NaiveEndpoints(const Experiment& e, const MetroPlan& plan, const NaiveHeaders& headers, NaiveCommon& common)
      : c_(common), t_(plan.table()), net_(plan.network()), headers_(headers), messages_(e, plan, common) {
    backoff_ = e.str(metro::param::endpoint.retry) == "backoff";
    backoff_cycles_ = backoff_ ? e.u32_of(metro::param::endpoint.backoff_cycles) : 0;
    doublings_ = backoff_ ? e.u32_of(metro::param::endpoint.backoff_doublings) : 0;
    most_attempts_ = e.u32_of(metro::param::endpoint.most_attempts);
    source_closes_ = e.str(metro::param::endpoint.closed_by) == "source";
    replies_ = e.str(param::traffic.mode) == "request_reply";
    stalls_ = replies_ || (e.has(metro::param::endpoint.stalls) && e.flag(metro::param::endpoint.stalls));
    reply_delay_ = replies_ ? e.u32_of(param::traffic.reply_delay) : 0;
    entry_ = e.u32_of(metro::param::topology.entry_delay);
    hop_ = c_.dp + e.u32_of(metro::param::topology.wire_delay);
    all_.resize(net_.terminals);
    for (u32 n = 0; n < all_.size(); ++n) {
      NaiveEndpoint& p = all_[n];
      p.sink.resize(net_.links);
      p.link.resize(2 * net_.links);
      p.link_on.resize(net_.links, true);
      p.next_serial.assign(net_.terminals, 0);
      p.last_serial.assign(net_.terminals, 255);
      p.source.next = first_creation(t_.traffic, c_.row, n);
      for (u32 l = 0; l < 2 * net_.links; ++l) p.link[l].resize(c_.slices);
    }
  }

  std::vector<NaiveEndpoint>& all() { return all_; }

  void cycle() {
    for (u32 n = 0; n < all_.size(); ++n) endpoint_cycle(n);
  }

 private:
  Heard heard(const std::vector<NaiveEnd>& link) const {
    Heard h;
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

  void endpoint_cycle(u32 n) {
    NaiveEndpoint& e = all_[n];
    NaiveSource& s = e.source;
    while (s.next.at <= c_.now) {
      const u32 id = s.next.index;
      s.queue.push_back(
          {id, packet_destination(t_.traffic, c_.row, n, id), packet_flits(t_.traffic, c_.row, n, id), s.next.at});
      ++c_.count(Total::kPacketsCreated);
      if (stalls_)
        s.next.at = kNever;
      else
        next_creation(t_.traffic, c_.row, n, s.next);
    }
    if (s.state != NaiveSource::kIdle) hear_back(n, heard(e.link[s.link]));
    if (s.state == NaiveSource::kIdle && !s.queue.empty() && s.from <= c_.now) start(n);
    if (s.state == NaiveSource::kSending) {
      if (s.sent < s.words.size()) {
        send(e.link[s.link], Kind::kData, s.words[s.sent++]);
      } else {
        send(e.link[s.link], Kind::kTurn);
        s.state = NaiveSource::kTurned;
        s.from = c_.now + 1 + c_.dp + 2 * e.link[s.link][0].delay;
      }
    } else if (s.state == NaiveSource::kClosing && s.from <= c_.now) {
      send(e.link[s.link], Kind::kDrop);
      ended(n);
    }
    for (u32 l = 0; l < net_.links; ++l) sink_cycle(n, l);
  }

  void start(u32 n) {
    NaiveEndpoint& e = all_[n];
    NaiveSource& s = e.source;
    std::vector<u32> links;
    for (u32 l = 0; l < net_.links; ++l)
      if (e.link_on[l] && e.link[l][0].out) links.push_back(l);
    if (links.empty()) return;
    const NaiveMessage& m = s.queue.front();
    if (!s.open) {
      s.open = true;
      s.attempts = 0;
      s.serial = e.next_serial[m.destination]++ % 256;
    }
    s.link = links[below(philox(c_.row.seed, metro::stream::kLink, n, u64{m.id} << 32 | s.attempts).word[0],
                         u32(links.size()))];
    ++s.attempts;
    ++c_.count(metro::Count::kAttempts);
    s.state = NaiveSource::kSending;
    s.words = headers_.of(n, m.destination);
    s.header = static_cast<u32>(s.words.size());
    const std::vector<u64> content =
        messages_.checked(messages_.body(n, m.destination, s.serial, m.words - messages_.check_words()), m.destination);
    s.words.insert(s.words.end(), content.begin(), content.end());
    s.sent = 0;
    s.started = c_.now + 1;
    s.status = 0;
    s.acked = s.refused = s.blocked = false;
    s.damaged = kNone;
    s.answer.clear();
    s.reply.clear();
  }

  void hear_back(u32 n, const Heard& h) {
    NaiveSource& s = all_[n].source;
    if (s.state == NaiveSource::kClosing) return;
    if (h.kind == Kind::kBackDrop) {
      u32 stage = 0;
      while (stage + 1 < net_.stages && back_drop_at(stage + 1) <= c_.now - s.started) ++stage;
      ++c_.count(metro::Count::kBlocked, std::min(stage, 7u));
      ended(n);
      send(all_[n].link[s.link], Kind::kDrop);
      return;
    }
    if (s.state != NaiveSource::kTurned) return;
    if (c_.now < s.from) return;  // what comes now is not for this attempt
    if (!h.agree || c_.now - s.from > t_.patience) {
      send(all_[n].link[s.link], Kind::kDrop);
      return falls_silent(n);
    }
    switch (h.kind) {
      case Kind::kStatus:
      case Kind::kBlocked:
        if (h.kind == Kind::kBlocked) s.blocked = true;
        if (s.status++ % 2 == 1 && s.damaged == kNone && h.content != expected_sum(s, s.status / 2 - 1))
          s.damaged = s.status / 2 - 1;
        return;
      case Kind::kData:
        if (s.answer.size() == 1 + messages_.check_words()) {
          s.reply.push_back(h.content);
          return;
        }
        if (s.answer.empty()) s.answered = c_.now;
        s.answer.push_back(h.content);
        if (s.answer.size() == 1 + messages_.check_words()) judge_answer(n);
        return;
      case Kind::kTurn:
        s.state = NaiveSource::kClosing;
        s.from = c_.now + c_.dp - 1;
        return;
      case Kind::kIdle: return;
      default: return falls_silent(n);
    }
  }

  /// The destination's answer has come, with its check.
  void judge_answer(u32 n) {
    NaiveSource& s = all_[n].source;
    const u32 to = s.queue.front().destination;
    const u32 stages = net_.levelled ? net_.stages : s.header / std::max(c_.header_words, 1u);
    const bool refusal = s.answer[0] == messages_.channel(metro::kRefused);
    const u32 first = refusal ? metro::first_crc(t_, 0) : metro::first_answer_crc(t_, n, to, s.serial);
    if (s.status != 2 * stages || messages_.remainder(first, s.answer, 0) != 0) return;
    s.acked = s.answer[0] == messages_.channel(metro::kAcknowledged);
    s.refused = refusal;
    if (s.acked && !replies_) delivered(n, s.answered);
  }

  /// `at`: when what says so was on the wire.
  void delivered(u32 n, Cycle at) {
    NaiveSource& s = all_[n].source;
    ++c_.count(Total::kPacketsDelivered);
    c_.count(Total::kLatencySum) += at - 1 - s.queue.front().created;  // its first word was on the wire at created + 1
    goes_on(n);
  }

  /// The processor does, if it has been waiting.
  void goes_on(u32 n) {
    if (!stalls_) return;
    SourceCursor& next = all_[n].source.next;
    ++next.index;
    seek_creation(t_.traffic, c_.row, n, next, c_.now + 1);
  }

  /// DROP, or nothing more.
  void falls_silent(u32 n) {
    const NaiveSource& s = all_[n].source;
    if (s.blocked)
      ++c_.count(metro::Count::kBlocked, std::min((s.status - 1) / 2, 7u));
    else if (!s.acked && !s.refused)
      ++c_.count(metro::Count::kLost, std::min(s.status / 2, 7u));
    ended(n);
  }

  /// The attempt is over.
  void ended(u32 n) {
    NaiveSource& s = all_[n].source;
    s.state = NaiveSource::kIdle;
    s.from = c_.now + 1;
    const bool whole = !s.reply.empty() && s.reply.size() >= messages_.check_words() &&
                       messages_.remainder(metro::first_crc(t_, n), s.reply, 0) == 0;
    if (s.acked && replies_ && whole) {
      c_.count(metro::Count::kReplyWords) += s.reply.size();
      delivered(n, c_.now);
    }
    if (s.acked && (!replies_ || whole)) return over(s);
    if (s.refused) ++c_.count(metro::Count::kRefused);
    if (s.damaged != kNone && !s.acked) ++c_.count(metro::Count::kDamaged, std::min(s.damaged, 7u));
    if (most_attempts_ && s.attempts == most_attempts_) {
      ++c_.count(Total::kPacketsDropped);
      goes_on(n);
      return over(s);
    }
    if (!backoff_) return;
    const u32 longest = backoff_cycles_ << std::min(s.attempts - 1, doublings_);
    s.from += below(philox(c_.row.seed, metro::stream::kBackoff, n, u64{s.queue.front().id} << 32 | s.attempts).word[0],
                    longest + 1);
  }

  static void over(NaiveSource& s) {
    s.queue.pop_front();
    s.open = false;
  }

  u32 back_drop_at(u32 stage) const { return 2 * entry_ + headers_.decides(stage) + 2 * stage * hop_ + c_.dp; }

  /// Of the words that the router of a stage has passed on as they are.
  u64 expected_sum(const NaiveSource& s, u32 stage) const {
    u64 all = 0;
    for (u32 c = 0; c < c_.slices; ++c) {
      u32 sum = 0;
      for (u32 k = stage < net_.stages ? std::min(headers_.decides(stage) + 1, s.header) : s.header; k < s.words.size();
           ++k)
        sum = c_.added(sum, static_cast<u32>((s.words[k] >> c * c_.width) % (1u << c_.width)));
      all |= u64{sum} << c * c_.width;
    }
    return all;
  }

  void sink_cycle(u32 n, u32 l) {
    NaiveEndpoint& e = all_[n];
    NaiveSink& s = e.sink[l];
    auto& link = e.link[net_.links + l];
    const Heard h = heard(link);
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

  /// TURN has come.
  void decide(u32 n, NaiveSink& s) {
    NaiveEndpoint& e = all_[n];
    s.state = NaiveSink::kAnswering;
    s.from = c_.now + c_.dp - 1;
    const u32 numbers = messages_.source_words() + messages_.serial_words(), check = messages_.check_words();
    // Of a number's words only as many bits count as it has.
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
  const NaiveHeaders& headers_;
  NaiveMessages messages_;
  u32 backoff_cycles_, doublings_, most_attempts_, reply_delay_, entry_, hop_;
  bool backoff_, source_closes_, replies_, stalls_;
  std::vector<NaiveEndpoint> all_;
};

}  // namespace flitlab::testing
