/// The order of a program's calls in the table that terminals read.
#include <algorithm>
#include <map>

#include "host/programs/draft.hpp"

namespace flitlab {
namespace {

class Arranger {
 public:
  Arranger(Draft& draft, const FieldFile& file, u32 terminals)
      : draft_(draft), file_(file), terminals_(terminals), here_(terminals) {
    for (u32 rank = 0; rank < draft.places.size(); ++rank) here_[draft.places[rank].terminal].push_back(rank);
    for (const auto& ranks : here_) most_ = std::max(most_, static_cast<u32>(ranks.size()));
  }

  void arrange() {
    number_messages();
    check_threads();
    for (u32 rank = 0; rank < draft_.places.size(); ++rank)
      for (u32 i = draft_.program.first[rank]; i < draft_.program.first[rank + 1]; ++i) connect(rank, i);
    set_processors();
    order();
  }

 private:
  const Place& place(u32 rank) const { return draft_.places[rank]; }

  /// Gives numbers to the messages that a terminal receives: from 0 to those of its first rank, then to those of the
  /// next rank, and so on.
  void number_messages() {
    Program& p = draft_.program;
    base_.resize(draft_.places.size());
    receive_base_.resize(draft_.places.size());
    p.slots = 0;
    for (const auto& ranks : here_) {
      u32 count = 0, receives = 0;
      for (const u32 rank : ranks) {
        base_[rank] = count;
        receive_base_[rank] = receives;
        count += draft_.mailboxes[rank].slots();
        receives += static_cast<u32>(draft_.mailboxes[rank].receives.size());
      }
      p.slots = std::max(p.slots, count);
    }
  }

  void check_threads() const {
    for (u32 rank = 0; rank < draft_.threads.size(); ++rank)
      if (const u32 owner = draft_.threads[rank]; place(rank).terminal != place(owner).terminal)
        file_.fail("rank " + std::to_string(rank) + " is a thread of rank " + std::to_string(owner) +
                   ", but runs on another terminal. Give both the same terminal in lines place,RANK,TERMINAL.");
  }

  void connect(u32 rank, u32 i) {
    ProgramCall& call = draft_.program.calls[i];
    const bool sends = is_send(call), dependency = call.kind == CallKind::kSignal || call.kind == CallKind::kAfter;
    if (call.kind == CallKind::kPost || call.kind == CallKind::kMatch) call.slot += receive_base_[draft_.mailbox(rank)];
    if (!sends && !is_receive(call)) return;
    const u32 own = place(rank).terminal, other = place(call.peer).terminal;
    const u32 peer = call.peer, slot = call.slot;
    call.slot += base_[sends ? peer : rank];
    if (own != other && dependency)
      file_.fail(draft_.lines[i], "rank " + std::to_string(rank) + " runs on terminal " + std::to_string(own) +
                                      ", and rank " + std::to_string(call.peer) + " on terminal " +
                                      std::to_string(other) +
                                      ": notify and after connect ranks of one terminal. Use send and recv.");
    call.peer = other;
    if (own != other || dependency) return;
    call.amount = 1;
    if (!sends) return;
    call.kind = CallKind::kSignal;
    Mailbox& mailbox = draft_.mailboxes[peer];
    if (slot >= mailbox.matched) mailbox.messages[slot - mailbox.matched].packets = 1;
  }

  /// Numbers the processors of each terminal. A rank without a number has a processor of its own, so it needs none in
  /// the table unless other ranks of the network share one.
  void set_processors() {
    Program& p = draft_.program;
    bool shared = false;
    p.processor.assign(std::size_t{terminals_} * most_, 0);
    for (u32 terminal = 0; terminal < terminals_; ++terminal) {
      std::map<u32, u32> numbers;
      u32 count = 0;
      for (std::size_t k = 0; k < here_[terminal].size(); ++k) {
        const u32 given = place(here_[terminal][k]).processor;
        u32 number = count;
        if (given == kNone) {
          ++count;
        } else {
          const auto [entry, fresh] = numbers.emplace(given, count);
          number = entry->second;
          count += fresh;
          shared = shared || !fresh;
        }
        p.processor[std::size_t{terminal} * most_ + k] = number;
      }
      p.processors = std::max(p.processors, count);
    }
    if (!shared) p.processors = 0;
  }

  void order() {
    Program& p = draft_.program;
    std::vector<ProgramCall> calls;
    std::vector<u32> first{0}, lines;
    calls.reserve(p.calls.size());
    lines.reserve(p.calls.size());
    for (const auto& ranks : here_)
      for (u32 k = 0; k < most_; ++k) {
        if (k < ranks.size()) {
          const auto begin = p.first[ranks[k]], end = p.first[ranks[k] + 1];
          calls.insert(calls.end(), p.calls.begin() + begin, p.calls.begin() + end);
          lines.insert(lines.end(), draft_.lines.begin() + begin, draft_.lines.begin() + end);
        }
        first.push_back(static_cast<u32>(calls.size()));
      }
    p.calls = std::move(calls);
    p.first = std::move(first);
    p.ranks = most_;
    draft_.lines = std::move(lines);
  }

  Draft& draft_;
  const FieldFile& file_;
  u32 terminals_;
  std::vector<std::vector<u32>> here_;  ///< [terminals] ranks, rising
  std::vector<u32> base_;               ///< [ranks] number of the first message that the rank receives
  std::vector<u32> receive_base_;       ///< [ranks] number of its first receive that is matched during the run
  u32 most_ = 1;                        ///< ranks of a terminal, the largest number
};

/// Lists messages and receives that are matched during the run in the order of terminals, and of the ranks of each.
void list_mailboxes(Draft& draft, u32 terminals) {
  Program& p = draft.program;
  const auto is_open = [](const Mailbox& mailbox) { return !mailbox.receives.empty(); };
  if (std::none_of(draft.mailboxes.begin(), draft.mailboxes.end(), is_open)) return;
  std::vector<std::vector<u32>> here(terminals);
  for (u32 rank = 0; rank < draft.mailboxes.size(); ++rank)
    here[draft.places.empty() ? rank : draft.places[rank].terminal].push_back(rank);
  for (const auto& ranks : here) {
    const u32 first = static_cast<u32>(p.receive.size());
    p.first_receive.push_back(first);
    p.first_message.push_back(static_cast<u32>(p.message.size()));
    for (const u32 rank : ranks) {
      const Mailbox& mailbox = draft.mailboxes[rank];
      p.receive.insert(p.receive.end(), mailbox.receives.begin(), mailbox.receives.end());
      p.message.resize(p.message.size() + mailbox.matched);
      p.message.insert(p.message.end(), mailbox.messages.begin(), mailbox.messages.end());
    }
    p.receives = std::max(p.receives, static_cast<u32>(p.receive.size()) - first);
  }
  p.first_receive.push_back(static_cast<u32>(p.receive.size()));
  p.first_message.push_back(static_cast<u32>(p.message.size()));
}

}  // namespace

void arrange(Draft& draft, const FieldFile& file, u32 terminals) {
  const auto depends = [](const ProgramCall& c) { return c.kind == CallKind::kSignal || c.kind == CallKind::kAfter; };
  const auto& calls = draft.program.calls;
  const bool alone = draft.places.empty() && draft.threads.empty() && std::none_of(calls.begin(), calls.end(), depends);
  if (!alone) {
    if (draft.places.empty())
      for (u32 rank = 0; rank < terminals; ++rank) draft.places.push_back({rank, kNone});
    Arranger(draft, file, terminals).arrange();
  }
  list_mailboxes(draft, terminals);
}

}  // namespace flitlab
