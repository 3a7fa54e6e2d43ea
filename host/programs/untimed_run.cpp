/// The check that a program can end.
#include "host/programs/draft.hpp"

namespace flitlab {
namespace {

/// Execution of a program without timing.
class UntimedRun {
 public:
  explicit UntimedRun(const Draft& draft)
      : draft_(draft),
        p_(draft.program),
        ranks_(static_cast<u32>(p_.first.size() - 1)),
        next_(p_.first.begin(), p_.first.end() - 1),
        message_start_(ranks_ + std::size_t{1}, 0),
        left_(ranks_, 0),
        waiting_(ranks_) {
    for (u32 rank = 0; rank < ranks_; ++rank)
      message_start_[rank + 1] = message_start_[rank] + draft.mailboxes[rank].matched;
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
        if (call.kind == CallKind::kMatch) --left_[draft_.mailbox(rank)];
        if (!is_send(call)) continue;
        if (call.slot >= draft_.mailboxes[call.peer].matched) {
          ++left_[call.peer];
          if (auto& waiting = waiting_[call.peer]; !waiting.empty()) {
            ready.push_back(waiting.back());
            waiting.pop_back();
          }
          continue;
        }
        const bool releases = next_[call.peer] < p_.first[call.peer + 1] && awaits(call.peer, call.slot);
        sent_[message_start_[call.peer] + call.slot] = true;
        if (releases) ready.push_back(call.peer);
      }
      if (waits_for_any(rank)) waiting_[draft_.mailbox(rank)].push_back(rank);
    }
  }

  /// Returns a rank that waits for a message of its mailbox that is matched during the run; kNone: there is none.
  u32 waits_for_any() const {
    for (u32 rank = 0; rank < ranks_; ++rank)
      if (waits_for_any(rank)) return rank;
    return kNone;
  }

  /// Returns ranks that wait for one another in a cycle: each waits for the next one. Returns an empty list if all
  /// ranks have ended. Requires that no rank waits for a message that is matched during the run.
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
  bool waits_for_any(u32 rank) const {
    return next_[rank] < p_.first[rank + 1] && p_.calls[next_[rank]].kind == CallKind::kMatch &&
           !left_[draft_.mailbox(rank)];
  }
  /// Returns whether a rank waits for message `slot`: it has reached the receive of this message, which has not been
  /// sent. The rank must not have ended.
  bool awaits(u32 rank, u32 slot) const {
    const ProgramCall& call = p_.calls[next_[rank]];
    return (call.kind == CallKind::kReceive || call.kind == CallKind::kAfter) && call.slot == slot &&
           !sent_[message_start_[rank] + slot];
  }
  bool is_waiting(u32 rank) const {
    return next_[rank] < p_.first[rank + 1] && (waits_for_any(rank) || awaits(rank, p_.calls[next_[rank]].slot));
  }

  const Draft& draft_;
  const Program& p_;
  u32 ranks_;
  std::vector<u32> next_;           ///< [ranks] index of the call that the rank has reached
  std::vector<u64> message_start_;  ///< [ranks + 1] index in `sent_` of the first message of each receiver
  std::vector<bool> sent_;          ///< [messages] whether the message has been sent
  std::vector<u32> left_;           ///< [mailboxes] messages that are matched during the run: sent, and not received
  std::vector<std::vector<u32>> waiting_;  ///< [mailboxes] ranks that wait for such a message
};

}  // namespace

void check_that_it_ends(const Draft& draft, const FieldFile& file) {
  constexpr std::size_t kMostShown = 8;
  UntimedRun run(draft);
  run.run();
  if (const u32 rank = run.waits_for_any(); rank != kNone)
    file.fail(draft.lines[run.next(rank)],
              "the program cannot end on any network: rank " + std::to_string(rank) +
                  " waits here for a message, and all ranks that could still send one wait, too. Let one of them send "
                  "before it receives, or receive by irecv.");
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
