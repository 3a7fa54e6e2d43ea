/// Reader of programs. It turns the lines of a file into calls, and keeps track of handles, groups of ranks and
/// collectives.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <variant>

#include "host/config/check.hpp"
#include "host/config/memory.hpp"
#include "host/config/value.hpp"
#include "host/programs/collectives.hpp"
#include "host/programs/draft.hpp"
#include "host/programs/forms.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

constexpr u64 kMostCycles = 1000000000;
constexpr u32 kMostRanksHere = 1024;  // of a terminal
constexpr u32 kMostRanks = kAnyRank;  // ProgramCall::peer cannot hold larger numbers

/// Memory of a call while messages are matched, bytes: the call, its line number, and its entry in the list of sends.
constexpr u64 kCallBytes = sizeof(ProgramCall) + sizeof(u32) + 2 * sizeof(u32);

/// A group of ranks, and the collectives that it has made.
struct Group {
  std::string name;
  std::vector<u32> ranks;
  std::unordered_map<u32, u32> member;  ///< number of each rank among the members; empty: the group has all ranks
  std::vector<Collective> made;         ///< collectives in the order in which the first rank to make each has made it
  std::vector<u32> lines;               ///< [collectives] line of that rank's call
  std::vector<u32> count;               ///< [ranks] number of collectives that the rank has made so far
};

class Reader {
 public:
  Reader(FieldFile& file, u32 terminals) : file_(file), terminals_(terminals) {}

  /// Reads the file twice. The first pass only counts the calls, so that the second pass can store each call at its
  /// final position.
  Draft read() {
    read_lines();
    Draft draft;
    std::vector<u32>& first = draft.program.first;
    first.push_back(0);
    for (const RankState& rank : state_) first.push_back(first.back() + rank.made);
    if (places_.empty()) first.resize(terminals_ + std::size_t{1}, first.back());
    require_memory(param::traffic.program_file.path, u64{first.back()} * kCallBytes,
                   "The program has " + std::to_string(first.back()) +
                       " calls, of which most are messages of collectives. Run it on fewer ranks, or a part of it.");
    draft.program.calls.resize(first.back());
    draft.lines.resize(first.back());
    draft_ = &draft;
    file_.rewind();
    ranks_ = 0;
    state_.clear();
    groups_.clear();
    places_.clear();
    threads_.clear();
    read_lines();
    draft.places = std::move(places_);
    draft.threads = std::move(threads_);
    for (u32 rank = static_cast<u32>(draft.threads.size()); rank + 1 < first.size() && rank; ++rank)
      draft.threads.push_back(rank);
    return draft;
  }

 private:
  /// An open call: an isend or irecv for which the program has not waited yet.
  struct Open {
    u32 call;  ///< index of the call among the calls of its rank
    u32 line;
    CallKind kind;
  };
  struct RankState {
    u32 made = 0;            ///< number of calls so far
    u64 computed = 0;        ///< cycles of computation so far
    std::vector<Open> open;  ///< open calls (isend, irecv) without a handle
    std::unordered_map<u32, Open> open_handles;
  };
  struct Arguments {
    u32 value[std::size(kArgumentNames)];
    u32& operator[](Argument a) { return value[static_cast<u32>(a)]; }
  };

  void read_lines() {
    while (file_.next()) {
      if (file_.field(0) == "ranks")
        read_ranks();
      else if (file_.field(0) == "group")
        read_group();
      else if (file_.field(0) == "place")
        read_place();
      else if (file_.field(0) == "thread")
        read_thread();
      else
        read_call();
    }
    start();
    check_places();
    for (const auto& [number, group] : groups_) check_complete(group);
    for (u32 rank = 0; rank < ranks_; ++rank) wait_for_all(rank, kNone);
  }

  void read_ranks() {
    if (file_.fields() != 2) file_.fail("this line is ranks,NUMBER.");
    if (!state_.empty()) file_.fail("the number of ranks must be given once, before all calls and groups.");
    ranks_ = file_.number(1, "ranks", kNone - 1);
    ranks_line_ = file_.line();
    if (ranks_ < 1 || ranks_ > u64{kMostRanksHere} * terminals_) fail_ranks();
    start();
  }

  [[noreturn]] void fail_ranks() const {
    file_.fail(ranks_line_, "a program can have 1 to " + std::to_string(terminals_) +
                                " ranks here, one for each terminal of the network. If terminals have several ranks, "
                                "give the terminal of each rank in a line place,RANK,TERMINAL[,PROCESSOR].");
  }

  void read_place() {
    start();
    if (file_.fields() < 3 || file_.fields() > 4) file_.fail("this line is place,RANK,TERMINAL[,PROCESSOR].");
    const u32 rank = rank_of(1, "rank"), terminal = file_.number(2, "terminal", kNone - 1);
    if (terminal >= terminals_)
      file_.fail("terminal " + std::to_string(terminal) + " does not exist: terminals are numbered 0 to " +
                 std::to_string(terminals_ - 1) + ".");
    if (places_.empty()) {
      places_.resize(ranks_);
      for (u32 i = 0; i < ranks_; ++i) places_[i] = {i, kNone};
      placed_.assign(ranks_, false);
    }
    if (placed_[rank]) file_.fail("rank " + std::to_string(rank) + " has a place already. Remove one.");
    placed_[rank] = true;
    places_[rank] = {terminal, file_.fields() > 3 ? file_.number(3, "processor", kNone - 1) : kNone};
  }

  void read_thread() {
    start();
    if (file_.fields() != 3) file_.fail("this line is thread,RANK,OF_RANK.");
    const u32 rank = rank_of(1, "rank"), owner = rank_of(2, "rank");
    if (threads_.empty()) {
      threads_.resize(ranks_);
      std::iota(threads_.begin(), threads_.end(), 0);
    }
    if (rank == owner || threads_[rank] != rank || threads_[owner] != owner ||
        std::count(threads_.begin(), threads_.end(), rank) > 1)
      file_.fail("rank " + std::to_string(rank) + " cannot be a thread of rank " + std::to_string(owner) +
                 ": a rank is a thread of one other rank, which is not a thread.");
    threads_[rank] = owner;
  }

  /// Checks that every rank has a terminal. A rank without a place runs on the terminal of its number.
  void check_places() const {
    if (places_.empty() && ranks_ > terminals_) fail_ranks();
    std::vector<u32> here(terminals_, 0);
    for (u32 rank = 0; rank < places_.size(); ++rank) {
      const u32 terminal = places_[rank].terminal;
      if (terminal >= terminals_)
        file_.fail(ranks_line_, "rank " + std::to_string(rank) + " has no terminal: terminals are numbered 0 to " +
                                    std::to_string(terminals_ - 1) + ". Give it one in a line place,RANK,TERMINAL.");
      if (++here[terminal] > kMostRanksHere)
        file_.fail(ranks_line_, "more than " + std::to_string(kMostRanksHere) + " ranks run on terminal " +
                                    std::to_string(terminal) + ". Place some of them on others.");
    }
  }

  /// Sets the number of ranks. Called before the first line that needs this number.
  void start() {
    if (!state_.empty()) return;
    ranks_given_ = ranks_ != 0;
    if (!ranks_given_) ranks_ = terminals_;
    if (ranks_ > kMostRanks)
      file_.fail("a program can have at most " + std::to_string(kMostRanks) +
                 " ranks, and the network has more terminals: start the program with a line ranks,NUMBER.");
    state_.resize(ranks_);
    Group& all = groups_[kNone];
    all.name = "all ranks";
    all.ranks.resize(ranks_);
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    all.count.resize(ranks_);
  }

  void read_group() {
    start();
    if (file_.fields() < 3) file_.fail("this line is group,NUMBER,RANK[,RANK...].");
    const u32 number = file_.number(1, "group", kCollectiveTag - 2);
    const auto [entry, fresh] = groups_.try_emplace(number);
    if (!fresh) file_.fail("group " + std::to_string(number) + " has been given before. Use another number.");
    Group& group = entry->second;
    group.name = "group " + std::to_string(number);
    for (u32 i = 2; i < file_.fields(); ++i) {
      const u32 rank = rank_of(i, "rank");
      if (!group.member.emplace(rank, i - 2).second)
        file_.fail("rank " + std::to_string(rank) + " is in the group twice. Remove one.");
      group.ranks.push_back(rank);
    }
    group.count.resize(group.ranks.size());
  }

  u32 rank_of(u32 field, const char* name) const {
    const u32 rank = file_.number(field, name, kNone - 1);
    if (rank >= ranks_)
      file_.fail(std::string(name) + " " + std::to_string(rank) + " does not exist: the program's ranks are 0 to " +
                 std::to_string(ranks_ - 1) + ".");
    return rank;
  }

  void read_call() {
    start();
    const std::string name(file_.field(1));
    const auto form = std::find_if(forms().begin(), forms().end(), [&](const Form& f) { return name == f.name; });
    if (form == forms().end()) unknown(name);
    const u32 rank = rank_of(0, "rank");
    Arguments arguments = read_arguments(*form);
    if (const auto* kind = std::get_if<CallKind>(&form->what))
      add_call(rank, *kind, arguments);
    else if (const auto* collective = std::get_if<CollectiveKind>(&form->what))
      add_collective(rank, *collective, arguments);
    else
      wait_for_all(rank, file_.line());
  }

  [[noreturn]] void unknown(const std::string& name) const {
    std::vector<std::string> names;
    std::string list;
    for (const Form& form : forms()) {
      names.emplace_back(form.name);
      list += (list.empty() ? "" : ", ") + names.back();
    }
    file_.fail(name.empty() ? "a line is rank,call[,arguments]; calls are " + list + "."
                            : "there is no call " + shown(Value{name}) + did_you_mean(nearest(name, names)) +
                                  " Calls are " + list + ".");
  }

  Arguments read_arguments(const Form& form) const {
    Arguments arguments{{kNone, kNone, 0, kNone, 0, kNone, kNone}};
    if (file_.fields() > form.arguments.size() + 2)
      file_.fail("it has too many fields: the line is " + form.text() + ".");
    for (u32 i = 0; i < form.arguments.size(); ++i) {
      const Argument a = form.arguments[i];
      const char* name = kArgumentNames[static_cast<u32>(a)];
      if (file_.field(i + 2).empty()) {
        if (i < form.required) file_.fail(std::string(name) + " is missing: the line is " + form.text() + ".");
        continue;
      }
      switch (a) {
        case Argument::kPeer: arguments[a] = is_any(form, i + 2) ? kAnyRank : rank_of(i + 2, name); break;
        case Argument::kRoot: arguments[a] = rank_of(i + 2, name); break;
        case Argument::kBytes: arguments[a] = file_.number(i + 2, name, kMostMessageBytes); break;
        case Argument::kTag:
          arguments[a] = is_any(form, i + 2) ? kAnyTag : file_.number(i + 2, name, kCollectiveTag - 1);
          break;
        case Argument::kCycles: arguments[a] = file_.number(i + 2, name, kMostCycles); break;
        case Argument::kHandle:
        case Argument::kGroup: arguments[a] = file_.number(i + 2, name, kNone - 1); break;
      }
    }
    return arguments;
  }

  /// Returns whether a field is the word that stands for any source or any tag, and may be.
  bool is_any(const Form& form, u32 field) const {
    const auto* kind = std::get_if<CallKind>(&form.what);
    return kind && (*kind == CallKind::kReceive || *kind == CallKind::kIreceive) && file_.field(field) == "any";
  }

  void add(u32 rank, ProgramCall call, u32 line) {
    const u32 number = state_[rank].made++;
    if (call.kind == CallKind::kCompute && (state_[rank].computed += call.amount) >= kEndOfTime)
      file_.fail("rank " + std::to_string(rank) + " computes " + std::to_string(state_[rank].computed) +
                 " cycles up to here, and emulated time ends at " + std::to_string(kEndOfTime) + ". Compute less.");
    if (!draft_) {
      if (++total_ == kNone) file_.fail("a program can have at most 4294967294 calls.");
      return;
    }
    const std::vector<u32>& first = draft_->program.first;
    if (number >= first[rank + 1] - first[rank]) file_.fail("the file has changed while it was being read.");
    draft_->program.calls[first[rank] + number] = call;
    draft_->lines[first[rank] + number] = line;
  }
  void add(u32 rank, ProgramCall call) { add(rank, call, file_.line()); }

  void add_call(u32 rank, CallKind kind, Arguments& a) {
    RankState& rank_state = state_[rank];
    const u32 handle = a[Argument::kHandle];
    if (kind == CallKind::kCompute) return add(rank, {a[Argument::kCycles], 0, 0, kind});
    if (kind == CallKind::kWait) {
      const auto opened = rank_state.open_handles.find(handle);
      if (opened == rank_state.open_handles.end())
        file_.fail("rank " + std::to_string(rank) + " has no open handle " + std::to_string(handle) +
                   ": isend and irecv open one, wait and waitall close it.");
      add(rank, {opened->second.call, 0, 0, kind});
      rank_state.open_handles.erase(opened);
      return;
    }
    if (a[Argument::kPeer] == rank)
      file_.fail("rank " + std::to_string(rank) + " cannot exchange a message with itself. Remove the line.");
    const Open open{rank_state.made, file_.line(), kind};
    const u32 bytes = kind == CallKind::kSignal ? 0 : a[Argument::kBytes];
    add(rank, {bytes, a[Argument::kTag], a[Argument::kPeer], kind});
    if (kind != CallKind::kIsend && kind != CallKind::kIreceive) return;
    if (handle == kNone)
      rank_state.open.push_back(open);
    else if (const auto [before, fresh] = rank_state.open_handles.emplace(handle, open); !fresh)
      file_.fail("handle " + std::to_string(handle) + " of rank " + std::to_string(rank) + " is still open (line " +
                 file_.quote(before->second.line) + "). Wait for it first, or use another handle.");
  }

  /// Adds a wait for every open call: for the irecvs in their order, then for the last isend, because all other isends
  /// are sent before it. `line`: line of the call that waits. kNone: the waits are at the end of the program, and each
  /// wait gets the line of the call for which it waits.
  void wait_for_all(u32 rank, u32 line) {
    RankState& rank_state = state_[rank];
    for (const auto& [handle, open] : rank_state.open_handles) rank_state.open.push_back(open);
    std::sort(rank_state.open.begin(), rank_state.open.end(),
              [](const Open& a, const Open& b) { return a.call < b.call; });
    const Open* last_sent = nullptr;
    const auto wait = [&](const Open& open) {
      add(rank, {open.call, 0, 0, CallKind::kWait}, line == kNone ? open.line : line);
    };
    for (const Open& open : rank_state.open) {
      if (open.kind == CallKind::kIsend)
        last_sent = &open;
      else
        wait(open);
    }
    if (last_sent) wait(*last_sent);
    rank_state.open.clear();
    rank_state.open_handles.clear();
  }

  void add_collective(u32 rank, CollectiveKind kind, Arguments& a) {
    const auto entry = groups_.find(a[Argument::kGroup]);
    if (entry == groups_.end())
      file_.fail("there is no group " + std::to_string(a[Argument::kGroup]) +
                 " yet. Give it in a line group,NUMBER,RANK[,RANK...] above.");
    Group& group = entry->second;
    const u32 me = member(group, rank);
    Collective collective{kind, 0, 0, a[Argument::kCycles]};
    if (a[Argument::kRoot] != kNone) collective.root = member(group, a[Argument::kRoot]);
    if (a[Argument::kBytes] != kNone) collective.bytes = a[Argument::kBytes];
    const u32 number = group.count[me]++;
    if (number == group.made.size()) {
      group.made.push_back(collective);
      group.lines.push_back(file_.line());
    } else if (collective != group.made[number]) {
      file_.fail("this is collective " + std::to_string(number) + " of " + group.name +
                 " (counted from 0), which is a different one in line " + file_.quote(group.lines[number]) +
                 ": all members must make the same collectives in the same order.");
    }
    // For the group of all ranks, unsigned overflow is intended: kNone + 1 is 0.
    const u32 tag = kCollectiveTag + 1 + a[Argument::kGroup];
    expand(collective, static_cast<u32>(group.ranks.size()), me, [&](CallKind call, u32 other, u64 amount) {
      if (call == CallKind::kCompute) return add(rank, {static_cast<u32>(amount), 0, 0, call});
      if (amount > kMostMessageBytes)
        file_.fail("this call would send messages of " + std::to_string(amount) + " bytes; at most " +
                   std::to_string(kMostMessageBytes) + " are possible. Gather in smaller portions.");
      add(rank, {static_cast<u32>(amount), tag, group.ranks[other], call});
    });
  }

  u32 member(const Group& group, u32 rank) const {
    if (group.member.empty()) return rank;  // the group has all ranks, so numbers are the same
    const auto found = group.member.find(rank);
    if (found == group.member.end()) file_.fail("rank " + std::to_string(rank) + " is not in " + group.name + ".");
    return found->second;
  }

  void check_complete(const Group& group) const {
    for (std::size_t i = 0; i < group.ranks.size(); ++i)
      if (const u32 count = group.count[i]; count < group.made.size())
        file_.fail(group.lines[count],
                   "rank " + std::to_string(group.ranks[i]) + " never makes this call, which is collective " +
                       std::to_string(count) + " of " + group.name + " (counted from 0): all members must make it." +
                       (ranks_given_ ? ""
                                     : " If the program has fewer ranks than the network has terminals, "
                                       "start the program with a line ranks,NUMBER."));
  }

  FieldFile& file_;
  u32 terminals_, ranks_ = 0;
  u32 ranks_line_ = 0;  ///< line that gives the number of ranks; 0: none
  bool ranks_given_ = false;
  u32 total_ = 0;
  Draft* draft_ = nullptr;        ///< program to fill; null in the first pass, which only counts calls
  std::vector<RankState> state_;  ///< [ranks]
  std::vector<Place> places_;     ///< [ranks]; empty: no line gives a place
  std::vector<bool> placed_;      ///< [ranks] whether a line has given the rank's place
  std::vector<u32> threads_;      ///< [ranks] the rank of which it is a thread; empty: there are no threads
  std::map<u32, Group> groups_;   ///< by number of the group; kNone: the group of all ranks
};

}  // namespace

Draft read_draft(FieldFile& file, u32 terminals) { return Reader(file, terminals).read(); }

}  // namespace flitlab
