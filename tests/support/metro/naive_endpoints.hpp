#pragma once
/// Endpoints of the second implementation of METRO (naive.hpp). A source is a message and the words of the link that it
/// uses. Sinks are in naive_sinks.hpp.
#include <algorithm>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/params.hpp"
#include "kernels/routers/metro/streams.hpp"
#include "kernels/routers/metro/totals.hpp"
#include "tests/support/metro/naive_headers.hpp"
#include "tests/support/metro/naive_messages.hpp"
#include "tests/support/metro/naive_sinks.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

class NaiveEndpoints : public NaiveSinks {
 public:
  NaiveEndpoints(const Experiment& e, const MetroPlan& plan, const NaiveHeaders& headers, NaiveCommon& common)
      : NaiveSinks(e, plan, common), headers_(headers) {
    backoff_ = e.str(metro::param::endpoint.retry) == "backoff";
    backoff_cycles_ = backoff_ ? e.u32_of(metro::param::endpoint.backoff_cycles) : 0;
    doublings_ = backoff_ ? e.u32_of(metro::param::endpoint.backoff_doublings) : 0;
    most_attempts_ = e.u32_of(metro::param::endpoint.most_attempts);
    stalls_ = replies_ || (e.has(metro::param::endpoint.stalls) && e.flag(metro::param::endpoint.stalls));
    thinks_ = !e.is_auto(metro::param::endpoint.think_cycles);
    think_cycles_ = thinks_ ? e.u32_of(metro::param::endpoint.think_cycles) : 0;
    entry_ = e.u32_of(metro::param::topology.entry_delay);
    hop_ = c_.dp + e.u32_of(metro::param::topology.wire_delay);
    for (u32 n = 0; n < all_.size(); ++n) all_[n].source.next = first_creation(t_.traffic, c_.row, n);
  }

  void cycle() {
    for (u32 n = 0; n < all_.size(); ++n) endpoint_cycle(n);
  }

 private:
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
    if (s.state != NaiveSource::kIdle) read_answer(n, received(e.link[s.link]));
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
    const NaiveMetroMessage& m = s.queue.front();
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

  void read_answer(u32 n, const LinkWord& h) {
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
    if (c_.now < s.from) return;  // words that arrive now belong to an earlier attempt
    if (!h.agree || c_.now - s.from > t_.answer_timeout) {
      send(all_[n].link[s.link], Kind::kDrop);
      return end_of_answer(n);
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
      default: return end_of_answer(n);
    }
  }

  /// Evaluates the destination's answer, when its check is complete.
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

  /// Counts a delivery. `at`: cycle in which the word that proves the delivery was on the wire.
  void delivered(u32 n, Cycle at) {
    NaiveSource& s = all_[n].source;
    ++c_.count(Total::kPacketsDelivered);
    c_.count(Total::kLatencySum) += at - 1 - s.queue.front().created;  // the first word was on the wire at created + 1
    resume_processor(n);
  }

  /// Lets a processor that has waited for this transaction create its next message.
  void resume_processor(u32 n) {
    if (!stalls_) return;
    SourceCursor& next = all_[n].source.next;
    ++next.index;
    if (thinks_)
      next.at = c_.now + think_cycles_ + 1;
    else
      seek_creation(t_.traffic, c_.row, n, next, c_.now + 1);
  }

  /// Counts the outcome of an attempt, when DROP has arrived or no more words arrive.
  void end_of_answer(u32 n) {
    const NaiveSource& s = all_[n].source;
    if (s.blocked)
      ++c_.count(metro::Count::kBlocked, std::min((s.status - 1) / 2, 7u));
    else if (!s.acked && !s.refused)
      ++c_.count(metro::Count::kLost, std::min(s.status / 2, 7u));
    ended(n);
  }

  /// Ends an attempt: the source retries, counts a delivery, or gives up.
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
      resume_processor(n);
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

  /// Returns the checksum of the words that the router of a stage forwards unchanged.
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

  const NaiveHeaders& headers_;
  u32 backoff_cycles_, doublings_, most_attempts_, think_cycles_, entry_, hop_;
  bool backoff_, stalls_, thinks_;
};

}  // namespace flitlab::testing
