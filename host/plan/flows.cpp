#include "host/plan/flows.hpp"

#include <algorithm>
#include <map>

#include "host/plan/not_measured.hpp"
#include "kernels/traffic/all_to_all.hpp"

namespace flitlab {
namespace {

constexpr double kDraws = 4294967296.0;  ///< number of different 32-bit draws

/// Another quantity, with source and destination exchanged.
class Reversed final : public PairValue {
 public:
  explicit Reversed(const PairValue& value) : value_(value) {}
  double of(u32 source, u32 destination) const override { return value_.of(destination, source); }

 private:
  const PairValue& value_;
};

/// For each terminal, the mean of a quantity over the destinations of the terminal's packets.
class Destinations {
 public:
  Destinations(const TrafficTable& traffic, const PairValue& value) : t_(traffic), value_(value) {
    find_groups();
    if (t_.pattern != Pattern::kHot && t_.pattern != Pattern::kAllToRegion) return;
    hot_.assign(t_.destination, t_.destination + t_.hot_count);
    for (u32 i = 0; i < t_.hot_count; ++i) hot_index_.emplace(hot_[i], i);
    // An I/O device belongs to no group, and random packets go only to members of the sender's group. So a hot terminal
    // that is a device excludes the case of one group.
    one_group_ = sets_.size() == 1 &&
                 std::all_of(hot_.begin(), hot_.end(), [&](u32 hot) { return group_of(t_, hot).count > 0; });
    sum_of_hot_ = value_.sum_over(hot_);
  }

  /// Returns the rate at which a terminal creates packets, up to a factor that is the same for all terminals.
  double rate(u32 source) const {
    const bool silent = t_.pattern == Pattern::kAllToRegion ? hot_index_.count(source) > 0 : never_sends(t_, source);
    if (silent) return 0;
    if (t_.rates) return t_.rates[source].period > 0 ? 1 / t_.rates[source].period : 0;
    return t_.injection == Injection::kAllAtOnce ? batch_size(t_, source) : 1.0;
  }

  /// Returns the mean of the quantity over the packets of a terminal, with the probabilities by which
  /// packet_destination() draws destinations.
  double mean(u32 source) const {
    switch (t_.pattern) {
      case Pattern::kUniform: return even(source, t_.others_only);
      case Pattern::kPermutation: return value_.of(source, t_.destination[source]);
      case Pattern::kHot: return hot(source);
      case Pattern::kMatrix: return row(source);
      case Pattern::kAllToAll: return even(source, true);
      case Pattern::kAllToRegion: return sum_of_hot_(source) / t_.hot_count;
    }
    return kNotMeasured;
  }

 private:
  void find_groups() {
    group_.assign(t_.terminals, 0);
    std::vector<u32> set_at(t_.terminals, kNone);
    for (u32 i = 0; i < t_.terminals; ++i) {
      const TrafficGroup g = group_of(t_, i);
      if (!g.count) continue;
      if (set_at[g.first] == kNone) {
        set_at[g.first] = static_cast<u32>(sets_.size());
        sets_.emplace_back();
        for (u32 rank = 0; rank < g.count; ++rank) sets_.back().push_back(member_of(t_, g, rank));
      }
      group_[i] = set_at[g.first];
    }
    for (const TerminalSet& set : sets_) sum_of_set_.push_back(value_.sum_over(set));
  }

  /// Returns the mean over all members of the sender's group; with `others_only`, without the sender itself.
  double even(u32 source, bool others_only) const {
    const double sum = sum_of_set_[group_[source]](source), count = group_of(t_, source).count;
    return others_only ? (sum - value_.of(source, source)) / (count - 1) : sum / count;
  }

  double row(u32 source) const {
    const u32 begin = t_.row_start[source], end = t_.row_start[source + 1];
    double sum = 0, below = 0;
    for (u32 i = begin; i < end; ++i) {
      const double next = i + 1 == end ? kDraws : t_.cumulative[i];
      sum += (next - below) / kDraws * value_.of(source, t_.column[i]);
      below = next;
    }
    return sum;
  }

  double hot(u32 source) const {
    const double part = t_.hot_threshold / kDraws, each = part / t_.hot_count;
    const double mean = (1 - part) * even(source, t_.others_only);
    double sum = 0;
    if (one_group_) {  // the sender may choose any hot terminal except itself
      sum = sum_of_hot_(source);
      if (!t_.others_only) return mean + each * sum;
      const auto own = hot_index_.equal_range(source);
      for (auto index = own.first; index != own.second; ++index)
        sum += even_of_slice(source, index->second) - value_.of(source, source);
      return mean + each * sum;
    }
    for (u32 i = 0; i < t_.hot_count; ++i) {
      const bool own = t_.others_only && hot_[i] == source;
      const bool chosen = !own && group_of(t_, hot_[i]).first == group_of(t_, source).first;
      sum += chosen ? value_.of(source, hot_[i]) : even_of_slice(source, i);
    }
    return mean + each * sum;
  }

  /// Returns the mean over the packets for which hot terminal `i` was drawn although the source may not send to it.
  /// These packets get a uniform destination by the same draw, so their destinations are one slice of the sender's
  /// group.
  double even_of_slice(u32 source, u32 i) const {
    const TrafficGroup g = group_of(t_, source);
    const u32 count = g.count - t_.others_only;
    const double begin = static_cast<double>(i) * count / t_.hot_count,
                 end = static_cast<double>(i + 1) * count / t_.hot_count;
    double sum = 0;
    for (u32 r = static_cast<u32>(begin); r < count && r < end; ++r) {
      const double share = std::min(end, r + 1.0) - std::max(begin, static_cast<double>(r));
      const u32 rank = r + (t_.others_only && r >= g.rank);
      sum += share * value_.of(source, member_of(t_, g, rank));
    }
    return sum / (end - begin);
  }

  const TrafficTable& t_;
  const PairValue& value_;
  std::vector<TerminalSet> sets_;  ///< members of each group
  std::vector<u32> group_;         ///< [terminals] index of the terminal's group in sets_
  /// [groups] function: sum of value_(source, m) over the members m of the group
  std::vector<std::function<double(u32 source)>> sum_of_set_;
  TerminalSet hot_;
  bool one_group_ = false;                        ///< whether there is one group, and all hot terminals belong to it
  std::multimap<u32, u32> hot_index_;             ///< index in hot_ of each hot terminal
  std::function<double(u32 source)> sum_of_hot_;  ///< sum of value_(source, m) over all hot terminals m
};

}  // namespace

std::function<double(u32)> PairValue::sum_over(const TerminalSet& set) const {
  return [this, &set](u32 source) {
    double sum = 0;
    for (u32 destination : set) sum += of(source, destination);
    return sum;
  };
}

bool has_flows(TrafficMode mode) { return mode == TrafficMode::kOpen || mode == TrafficMode::kRequestReply; }

double mean_over_packets(const TrafficTable& t, TrafficMode mode, const PairValue& value) {
  if (!has_flows(mode)) return kNotMeasured;
  const Destinations destinations(t, value);
  double sum = 0, packets = 0;
  for (u32 s = 0; s < t.terminals; ++s) {
    const double rate = destinations.rate(s);
    if (rate == 0) continue;
    sum += rate * destinations.mean(s);
    packets += rate;
  }
  if (packets == 0) return kNotMeasured;
  const double there = sum / packets;
  if (mode != TrafficMode::kRequestReply || value.symmetric()) return there;
  return (there + mean_over_packets(t, TrafficMode::kOpen, Reversed(value))) / 2;
}

}  // namespace flitlab
