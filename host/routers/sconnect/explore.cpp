#include "host/routers/sconnect/explore.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"

namespace flitlab::sconnect {
namespace {

constexpr u32 kWords = 4;
using Key = std::array<u64, kWords>;

/// Writes a state into a key, or reads the state back, by the same sequence of calls.
class Packer {
 public:
  explicit Packer(Key& key, bool reads) : key_(key), reads_(reads) {}

  void bits(u8& value, u32 count) {
    u64& word = key_[word_];
    if (reads_)
      value = static_cast<u8>(word >> at_ & ((1u << count) - 1));
    else
      word |= u64{value} << at_;
    at_ += count;
    if (at_ <= 56) return;  // a value is never divided between two words
    at_ = 0;
    ++word_;
  }
  /// Packs the number of a message, or kNoBuffer for no message.
  void message(u8& value) {
    u8 number = value == kNoBuffer ? u8{kMostChannelMessages} : value;
    bits(number, 4);
    value = number == kMostChannelMessages ? kNoBuffer : number;
  }

 private:
  Key& key_;
  bool reads_;
  u32 word_ = 0, at_ = 0;
};

void pack_end(Packer& packer, ChannelEnd& end, u32 round) {
  for (u32 i = 0; i < round; ++i) {
    packer.message(end.slot[i].buffer);
    packer.bits(end.slot[i].bits, 4);
  }
  u8 heard = end.heard & kOccupied ? static_cast<u8>(1 + bool(end.heard & kAcknowledge)) : u8{0};
  u8 reply = static_cast<u8>(bool(end.reply & kOccupied) + 2 * bool(end.reply & kAcknowledge));
  packer.bits(heard, 2);
  packer.bits(reply, 2);
  end.heard = static_cast<u8>((heard ? kOccupied : 0) | (heard == 2 ? kAcknowledge : 0));
  end.reply = static_cast<u8>((reply & 1 ? kOccupied : 0) | (reply & 2 ? kAcknowledge : 0));
  packer.message(end.sending);
  packer.bits(end.parts, 2);
  packer.bits(end.train.slot, 3);
  packer.bits(end.train.parts, 2);
  packer.message(end.train.buffer);
  packer.bits(end.train.spoiled, 1);
  packer.bits(end.good, 2);
}

void pack_state(Packer& packer, ChannelState& state, const ChannelInstance& what) {
  for (u32 e = 0; e < 2; ++e) {
    pack_end(packer, state.end[e], what.round());
    for (u32 i = 0; i < what.delay[e]; ++i) {
      SlotInFlight& slot = state.in_flight[e][i];
      // kHit is chosen on arrival, so it is 0 here, and kOccupied can take its position.
      u8 bits = slot.bits & (kOccupied - 1);
      bits = static_cast<u8>((bits & ~kHit) | (slot.bits & kOccupied ? kHit : 0));
      packer.bits(bits, 7);
      slot.bits = static_cast<u8>((bits & ~kHit) | (bits & kHit ? kOccupied : 0));
      packer.message(slot.message);
      packer.bits(slot.part, 2);
    }
  }
  for (u32 m = 0; m < what.messages(); ++m) {
    packer.bits(state.accepted[m], 1);
    packer.bits(state.acknowledged[m], 1);
  }
}

/// Enumerates all sequences of choices in a cycle. The first sequence consists of zeros.
class AllChoices final : public Choice {
 public:
  u32 of(u32 ways) override {
    if (at_ == choices_.size()) choices_.push_back({0, ways});
    return choices_[at_++].way;
  }
  void begin() { at_ = 0; }
  /// Moves to the next sequence. Returns false if there are no more sequences.
  bool advance() {
    while (!choices_.empty() && choices_.back().way + 1 == choices_.back().ways) choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().way;
    return true;
  }
  void describe(const std::string& text) override { description_ += (description_.empty() ? "" : "; ") + text; }
  bool wants_description() const override { return describes_; }
  std::string start_description() {
    describes_ = true;
    return std::exchange(description_, {});
  }

 private:
  struct MadeChoice {
    u32 way, ways;
  };
  std::vector<MadeChoice> choices_;
  std::size_t at_ = 0;
  bool describes_ = false;
  std::string description_;
};

/// Set of states, numbered in the order of insertion.
class StateSet {
 public:
  /// Returns the number of a state, and whether the state is new.
  std::pair<u32, bool> add(const Key& key) {
    if (2 * keys_.size() >= table_.size()) grow();
    u32& cell = find(key);
    if (cell != kNone) return {cell, false};
    cell = static_cast<u32>(keys_.size());
    keys_.push_back(key);
    return {cell, true};
  }
  const Key& operator[](u32 number) const { return keys_[number]; }
  u32 size() const { return static_cast<u32>(keys_.size()); }

 private:
  static u64 hash(const Key& key) {
    u64 h = 0x9E3779B97F4A7C15;
    for (u64 word : key) {
      h = (h ^ word) * 0xD6E8FEB86659FD93;
      h ^= h >> 32;
    }
    return h;
  }
  u32& find(const Key& key) {
    std::size_t i = hash(key) & (table_.size() - 1);
    while (table_[i] != kNone && keys_[table_[i]] != key) i = (i + 1) & (table_.size() - 1);
    return table_[i];
  }
  void grow() {
    table_.assign(std::max<std::size_t>(1 << 12, 2 * table_.size()), kNone);
    for (u32 n = 0; n < size(); ++n) find(keys_[n]) = n;
  }

  std::vector<Key> keys_;
  std::vector<u32> table_;
};

class Explorer {
 public:
  Explorer(const ChannelInstance& instance, u64 most_states) : pair_(instance), most_(most_states) {}

  Exploration run() {
    add(pair_.start(), kNone);
    u32 level_end = 1;
    for (u32 n = 0; n < set_.size() && found_.violation.empty(); ++n) {
      if (n == level_end) {
        level_end = set_.size();
        ++found_.depth;
      }
      if (!expand(n)) break;
    }
    found_.states = set_.size();
    if (found_.violation.empty() && found_.complete) check_ends();
    return found_;
  }

 private:
  Key key_of(ChannelState state) const {
    pair_.reduce(state);
    Key key{};
    Packer packer(key, false);
    pack_state(packer, state, pair_.instance());
    return key;
  }

  u32 add(const ChannelState& state, u32 parent) {
    const auto [number, is_new] = set_.add(key_of(state));
    if (is_new) parent_.push_back(parent);
    return number;
  }

  ChannelState state(u32 number) const {
    ChannelState state = pair_.start();
    Key key = set_[number];
    Packer packer(key, true);
    pack_state(packer, state, pair_.instance());
    return state;
  }

  bool expand(u32 number) {
    const ChannelState before = state(number);
    AllChoices choices;
    do {
      ChannelState after = before;
      choices.begin();
      const std::string wrong = pair_.step(after, choices);
      ++found_.transitions;
      if (!wrong.empty()) {
        found_.violation = wrong + ":\n" + path_to(number) + "  " + line(before, choices) + "\n";
        return false;
      }
      const u32 next = add(after, number);
      if (good_.size() == number) good_.push_back(next);
      if (set_.size() > most_) {
        found_.complete = false;
        return false;
      }
    } while (choices.advance());
    return true;
  }

  /// Checks that from every state the sequence of alternatives 0, which has no errors, ends with the channel at rest.
  void check_ends() {
    enum : u8 { kUnseen, kOnTheWay, kEnds };
    std::vector<u8> seen(set_.size(), kUnseen);
    std::vector<u32> way;
    for (u32 n = 0; n < set_.size(); ++n) {
      way.clear();
      u32 at = n;
      while (seen[at] == kUnseen && !pair_.at_rest(state(at))) {
        seen[at] = kOnTheWay;
        way.push_back(at);
        at = good_[at];
      }
      if (seen[at] == kOnTheWay) {
        found_.violation = "without further errors the channel never comes to rest:\n" + path_to(n);
        return;
      }
      seen[at] = kEnds;
      for (u32 passed : way) seen[passed] = kEnds;
    }
  }

  std::string line(const ChannelState& before, AllChoices& choices) const {
    ChannelState after = before;
    choices.begin();
    choices.start_description();
    pair_.step(after, choices);
    const std::string story = choices.start_description();
    return story.empty() ? "nothing happens" : story;
  }

  /// Returns as text the sequence that leads to a state. A message may change its number on the way, because states are
  /// replaced by their representatives.
  std::string path_to(u32 number) const {
    std::vector<u32> way;
    for (u32 n = number; n != kNone; n = parent_[n]) way.push_back(n);
    std::string text;
    for (std::size_t i = way.size(); i-- > 1;) {
      const ChannelState before = state(way[i]);
      AllChoices choices;
      while (true) {
        ChannelState after = before;
        choices.begin();
        pair_.step(after, choices);
        if (key_of(after) == set_[way[i - 1]]) break;
        choices.advance();
      }
      text += "  " + line(before, choices) + "\n";
    }
    return text;
  }

  ChannelPair pair_;
  u64 most_;
  StateSet set_;
  std::vector<u32> parent_;
  std::vector<u32> good_;  ///< [state] number of the next state if no error occurs
  Exploration found_;
};

}  // namespace

Exploration explore_channel(const ChannelInstance& instance, u64 most_states) {
  if (most_states >= kNone) throw ConfigError("most_states = " + std::to_string(most_states) + ": at most 4294967294.");
  return Explorer(instance, most_states).run();
}

}  // namespace flitlab::sconnect
