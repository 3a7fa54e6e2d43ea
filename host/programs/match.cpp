/// Matching of sends and receives, and the check that a program can end.
#include <algorithm>
#include <span>

#include "host/programs/draft.hpp"

namespace flitlab {
namespace {

/// The send or the receive of a message: one of its two ends.
struct End {
  u32 from, tag;  ///< `from`: rank that sends the message
  u32 call;
  u32 slot;  ///< slot of the message at the receiver; not set for sends

  friend bool operator<(const End& a, const End& b) { return a.from != b.from ? a.from < b.from : a.tag < b.tag; }
};

class Matcher {
 public:
  Matcher(Draft& draft, const FieldFile& file, const PacketFormat& format)
      : draft_(draft), file_(file), format_(format), ranks_(static_cast<u32>(draft.program.first.size() - 1)) {}

  void match() {
    list_sends();
    for (u32 rank = 0; rank < ranks_; ++rank) match_receiver(rank);
    if (wrong_line_ != kNone) file_.fail(wrong_line_, wrong_);
    for (u32 rank = 0; rank < ranks_; ++rank) resolve_waits(rank);
  }

 private:
  struct Sent {
    u32 from, call;
  };

  /// Lists all sends, sorted by receiver, then sender, then call.
  void list_sends() {
    const Program& p = draft_.program;
    send_start_.assign(ranks_ + std::size_t{1}, 0);
    for (const ProgramCall& c : p.calls) send_start_[c.peer + 1] += is_send(c);
    for (u32 rank = 0; rank < ranks_; ++rank) send_start_[rank + 1] += send_start_[rank];
    sends_.resize(send_start_.back());
    std::vector<u32> next(send_start_.begin(), send_start_.end() - 1);
    for (u32 rank = 0; rank < ranks_; ++rank)
      for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i)
        if (is_send(p.calls[i])) sends_[next[p.calls[i].peer]++] = {rank, i};
  }

  void match_receiver(u32 rank) {
    Program& p = draft_.program;
    std::vector<End> sends, receives;
    for (u32 i = send_start_[rank]; i < send_start_[rank + 1]; ++i)
      sends.push_back({sends_[i].from, p.calls[sends_[i].call].slot, sends_[i].call, 0});
    for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i)
      if (is_receive(p.calls[i]))
        receives.push_back({p.calls[i].peer, p.calls[i].slot, i, static_cast<u32>(receives.size())});
    p.slots = std::max(p.slots, static_cast<u32>(receives.size()));
    std::stable_sort(sends.begin(), sends.end());
    std::stable_sort(receives.begin(), receives.end());
    auto send = sends.begin();
    auto receive = receives.begin();
    while (send != sends.end() || receive != receives.end()) {
      if (receive == receives.end() || (send != sends.end() && *send < *receive))
        no_receive(rank, *send++);
      else if (send == sends.end() || *receive < *send)
        no_send(rank, *receive++);
      else
        connect(rank, *send++, *receive++);
    }
  }

  void connect(u32 rank, const End& send, const End& receive) {
    ProgramCall &out = draft_.program.calls[send.call], &in = draft_.program.calls[receive.call];
    if (in.amount != kNone && in.amount != out.amount)
      wrong(receive.call, [&] {
        return "the message that rank " + std::to_string(rank) + " receives here has " + std::to_string(out.amount) +
               " bytes (line " + file_.quote(draft_.lines[send.call]) + "). Give that number, or leave it out.";
      });
    const bool dependency = out.kind == CallKind::kSignal;
    if (dependency != (in.kind == CallKind::kAfter))
      wrong(std::max(send.call, receive.call), [&] {
        return "an after matches a notify, and a recv a send; the other call is in line " +
               file_.quote(draft_.lines[std::min(send.call, receive.call)]) + ". Give them another tag.";
      });
    out.slot = in.slot = receive.slot;
    in.amount = dependency ? 1 : format_.packets(out.amount);
  }

  static std::string tagged(u32 tag) {
    return tag < kCollectiveTag ? "with tag " + std::to_string(tag) : "of a collective";
  }

  void no_receive(u32 rank, const End& send) {
    wrong(send.call, [&] {
      return "rank " + std::to_string(rank) + " has no receive left for this message from rank " +
             std::to_string(send.from) + " " + tagged(send.tag) + ". Add one, or correct peer or tag.";
    });
  }

  void no_send(u32 rank, const End& receive) {
    wrong(receive.call, [&] {
      return "rank " + std::to_string(receive.from) + " sends no message " + tagged(receive.tag) + " to rank " +
             std::to_string(rank) + " that is left for this receive. Add one, or correct peer or tag.";
    });
  }

  /// Stores an error unless an error in an earlier line of the file has been stored.
  template <class Text>
  void wrong(u32 call, Text text) {
    if (draft_.lines[call] >= wrong_line_) return;
    wrong_line_ = draft_.lines[call];
    wrong_ = text();
  }

  /// Replaces each wait for an irecv by the receive itself.
  void resolve_waits(u32 rank) {
    Program& p = draft_.program;
    for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i) {
      if (p.calls[i].kind != CallKind::kWait) continue;
      const ProgramCall& awaited = p.calls[p.first[rank] + p.calls[i].amount];
      if (awaited.kind != CallKind::kIreceive) continue;
      p.calls[i] = awaited;
      p.calls[i].kind = CallKind::kReceive;
    }
  }

  Draft& draft_;
  const FieldFile& file_;
  const PacketFormat& format_;
  u32 ranks_;
  std::vector<u32> send_start_;  ///< [ranks + 1] index in `sends_` of the first send to each receiver
  std::vector<Sent> sends_;
  u32 wrong_line_ = kNone;
  std::string wrong_;
};

/// Execution of a program without timing.
class UntimedRun {
 public:
  explicit UntimedRun(const Program& program)
      : p_(program),
        ranks_(static_cast<u32>(program.first.size() - 1)),
        next_(program.first.begin(), program.first.end() - 1),
        message_start_(ranks_ + std::size_t{1}, 0) {
    for (u32 rank = 0; rank < ranks_; ++rank) {
      const auto own = calls(rank);
      message_start_[rank + 1] = message_start_[rank] + messages(own);
    }
    sent_.resize(message_start_.back());
  }

  void run() {
    std::vector<u32> ready(ranks_);
    for (u32 i = 0; i < ranks_; ++i) ready[i] = ranks_ - 1 - i;
    while (!ready.empty()) {
      const u32 rank = ready.back();
      ready.pop_back();
      for (; !is_waiting(rank) && next_[rank] < p_.first[rank + 1]; ++next_[rank]) {
        const ProgramCall& call = p_.calls[next_[rank]];
        if (!is_send(call)) continue;
        const bool releases = next_[call.peer] < p_.first[call.peer + 1] && awaits(call.peer, call.slot);
        sent_[message_start_[call.peer] + call.slot] = true;
        if (releases) ready.push_back(call.peer);
      }
    }
  }

  /// Returns ranks that wait for one another in a cycle: each waits for the next one. Returns an empty list if all
  /// ranks have ended.
  std::vector<u32> cycle() const {
    u32 rank = 0;
    while (rank < ranks_ && next_[rank] == p_.first[rank + 1]) ++rank;
    if (rank == ranks_) return {};
    std::vector<u32> path, position(ranks_, kNone);
    for (; position[rank] == kNone; rank = p_.calls[next_[rank]].peer) {
      position[rank] = static_cast<u32>(path.size());
      path.push_back(rank);
    }
    path.erase(path.begin(), path.begin() + position[rank]);
    return path;
  }

  /// Returns the index of the call that a rank has reached.
  u32 next(u32 rank) const { return next_[rank]; }

 private:
  std::span<const ProgramCall> calls(u32 rank) const {
    return std::span(p_.calls).subspan(p_.first[rank], p_.first[rank + 1] - p_.first[rank]);
  }
  static u64 messages(std::span<const ProgramCall> calls) {
    u32 count = 0;
    for (const ProgramCall& c : calls)
      if (is_receive(c)) count = std::max(count, c.slot + 1);
    return count;
  }
  /// Returns whether a rank waits for message `slot`: it has reached the receive of this message, which has not been
  /// sent. The rank must not have ended.
  bool awaits(u32 rank, u32 slot) const {
    const ProgramCall& call = p_.calls[next_[rank]];
    return (call.kind == CallKind::kReceive || call.kind == CallKind::kAfter) && call.slot == slot &&
           !sent_[message_start_[rank] + slot];
  }
  bool is_waiting(u32 rank) const {
    return next_[rank] < p_.first[rank + 1] && awaits(rank, p_.calls[next_[rank]].slot);
  }

  const Program& p_;
  u32 ranks_;
  std::vector<u32> next_;           ///< [ranks] index of the call that the rank has reached
  std::vector<u64> message_start_;  ///< [ranks + 1] index in `sent_` of the first message of each receiver
  std::vector<bool> sent_;          ///< [messages] whether the message has been sent
};

}  // namespace

void match_messages(Draft& draft, const FieldFile& file, const PacketFormat& format) {
  Matcher(draft, file, format).match();
}

void number_packets(Draft& draft, const FieldFile& file, const PacketFormat& format) {
  Program& p = draft.program;
  for (std::size_t terminal = 0; (terminal + 1) * p.ranks < p.first.size(); ++terminal) {
    u64 packets = 0;
    for (u32 i = p.first[terminal * p.ranks]; i < p.first[(terminal + 1) * p.ranks]; ++i) {
      p.calls[i].before = static_cast<u32>(packets);
      if (is_send(p.calls[i]) && p.calls[i].kind != CallKind::kSignal) packets += format.packets(p.calls[i].amount);
      if (packets >= kNone)
        file.fail(draft.lines[i], "terminal " + std::to_string(terminal) + " sends " + std::to_string(packets) +
                                      " packets up to here; at most 4294967294 are possible. Raise "
                                      "traffic.payload_bytes, or send less.");
    }
  }
}

void check_that_it_ends(const Draft& draft, const FieldFile& file) {
  constexpr std::size_t kMostShown = 8;
  UntimedRun run(draft.program);
  run.run();
  const std::vector<u32> cycle = run.cycle();
  if (cycle.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < cycle.size() && i < kMostShown; ++i)
    text += (i ? ", rank " : "rank ") + std::to_string(cycle[i]) + " waits for rank " +
            std::to_string(draft.program.calls[run.next(cycle[i])].peer) + " in line " +
            file.quote(draft.lines[run.next(cycle[i])]);
  if (cycle.size() > kMostShown) text += " and so on, " + std::to_string(cycle.size()) + " ranks in all";
  file.fail(draft.lines[run.next(cycle.front())],
            "the program cannot end on any network: " + text +
                ". Let one of them send before it receives, or receive by irecv.");
}

}  // namespace flitlab
