/// Matching of sends and receives.
#include <algorithm>
#include <utility>

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
    find_open_mailboxes();
    list_sends();
    draft_.mailboxes.resize(ranks_);
    for (u32 rank = 0; rank < ranks_; ++rank) match_receiver(rank);
    for (u32 rank = 0; rank < ranks_; ++rank) open_receives(rank);
    for (u32 rank = 0; rank < ranks_; ++rank) check_open(rank);
    for (const Mailbox& mailbox : draft_.mailboxes)
      draft_.program.slots = std::max(draft_.program.slots, mailbox.slots());
    if (wrong_line_ != kNone) file_.fail(wrong_line_, wrong_);
    for (u32 rank = 0; rank < ranks_; ++rank) resolve_waits(rank);
  }

 private:
  struct Sent {
    u32 from, call;
  };

  /// Finds the mailboxes whose messages are matched during the run.
  void find_open_mailboxes() {
    const Program& p = draft_.program;
    open_.assign(ranks_, !draft_.threads.empty());
    open_call_.assign(ranks_, kNone);
    for (u32 rank = 0; rank < ranks_; ++rank)
      for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i) {
        const ProgramCall& c = p.calls[i];
        if (is_receive(c) && (c.peer == kAnyRank || c.slot == kAnyTag)) open_[draft_.mailbox(rank)] = true;
      }
  }

  /// Returns whether a send or receive of a message to `rank` is matched during the run.
  bool is_open(const ProgramCall& c, u32 rank) const {
    const bool in_file = c.slot < kCollectiveTag || c.slot == kAnyTag;
    return in_file && open_[draft_.mailbox(rank)] && c.kind != CallKind::kSignal && c.kind != CallKind::kAfter;
  }

  /// Lists all sends, sorted by receiver, then sender, then call. Messages to a thread go to its rank.
  void list_sends() {
    Program& p = draft_.program;
    for (ProgramCall& c : p.calls)
      if (is_send(c) && is_open(c, c.peer)) c.peer = draft_.mailbox(c.peer);
    send_start_.assign(ranks_ + std::size_t{1}, 0);
    for (const ProgramCall& c : p.calls)
      if (is_send(c)) ++send_start_[c.peer + 1];
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
    for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i)
      if (is_receive(p.calls[i]) && !is_open(p.calls[i], rank))
        receives.push_back({p.calls[i].peer, p.calls[i].slot, i, static_cast<u32>(receives.size())});
    Mailbox& mailbox = draft_.mailboxes[rank];
    mailbox.matched = static_cast<u32>(receives.size());
    for (u32 i = send_start_[rank]; i < send_start_[rank + 1]; ++i) {
      const auto [from, call] = sends_[i];
      ProgramCall& send = p.calls[call];
      if (!is_open(send, rank)) {
        sends.push_back({from, send.slot, call, 0});
        continue;
      }
      if (draft_.mailbox(from) == rank)
        wrong(call,
              [&] { return "threads of rank " + std::to_string(rank) + " cannot exchange messages. Use notify."; });
      open_call_[rank] = std::min(open_call_[rank], call);
      const u32 tag = std::exchange(send.slot, mailbox.slots());
      mailbox.messages.push_back({format_.packets(send.amount), rank, draft_.mailbox(from), tag, from});
    }
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

  /// Lists the receives of a rank that are matched during the run.
  void open_receives(u32 rank) {
    Program& p = draft_.program;
    const u32 mailbox = draft_.mailbox(rank);
    std::vector<ProgramReceive>& receives = draft_.mailboxes[mailbox].receives;
    for (u32 i = p.first[rank]; i < p.first[rank + 1]; ++i) {
      ProgramCall& c = p.calls[i];
      if (!is_receive(c) || !is_open(c, rank)) continue;
      if (receives.empty()) open_call_[mailbox] = i;
      receives.push_back({mailbox, c.peer == kAnyRank ? kNone : draft_.mailbox(c.peer), c.slot});
      c.kind = c.kind == CallKind::kReceive ? CallKind::kMatch : CallKind::kPost;
      c.slot = static_cast<u32>(receives.size()) - 1;
      c.amount = c.peer = 0;  // a damaged state may take the call for one that sends
    }
  }

  void check_open(u32 rank) {
    const Mailbox& mailbox = draft_.mailboxes[rank];
    if (mailbox.messages.size() == mailbox.receives.size()) return;
    wrong(open_call_[rank], [&] {
      return "rank " + std::to_string(rank) + " receives " + std::to_string(mailbox.receives.size()) +
             " messages, and " + std::to_string(mailbox.messages.size()) +
             " are sent to it (collectives do not count). Add or remove receives or sends.";
    });
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
      if (awaited.kind != CallKind::kIreceive && awaited.kind != CallKind::kPost) continue;
      p.calls[i] = awaited;
      p.calls[i].kind = awaited.kind == CallKind::kPost ? CallKind::kMatch : CallKind::kReceive;
    }
  }

  Draft& draft_;
  const FieldFile& file_;
  const PacketFormat& format_;
  u32 ranks_;
  std::vector<u32> send_start_;  ///< [ranks + 1] index in `sends_` of the first send to each receiver
  std::vector<Sent> sends_;
  std::vector<bool> open_;      ///< [mailboxes] whether its messages are matched during the run
  std::vector<u32> open_call_;  ///< [mailboxes] its first such receive; if it has none, the first send
  u32 wrong_line_ = kNone;
  std::string wrong_;
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

}  // namespace flitlab
