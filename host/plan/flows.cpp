#include "host/plan/flows.hpp"

#include <algorithm>

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
class MeanValue {
 public:
  MeanValue(const Destinations& destinations, const PairValue& value) : destinations_(destinations), value_(value) {
    for (const TerminalSet& set : destinations.sets()) sum_of_set_.push_back(value.sum_over(set));
  }

  double of(u32 source) const {
    double mean = 0;
    destinations_.visit(
        source, [&](u32 destination, double part) { mean += part * value_.of(source, destination); },
        [&](u32 set, double part) { mean += part * sum_of_set_[set](source); });
    return mean;
  }

 private:
  const Destinations& destinations_;
  const PairValue& value_;
  std::vector<std::function<double(u32 source)>> sum_of_set_;  ///< [sets] sum of the quantity over a set's members
};

}  // namespace

Destinations::Destinations(const TrafficTable& traffic) : t_(traffic) {
  find_groups();
  if (t_.pattern != Pattern::kHot && t_.pattern != Pattern::kAllToRegion) return;
  hot_.assign(t_.destination, t_.destination + t_.hot_count);
  for (u32 i = 0; i < t_.hot_count; ++i) hot_index_.emplace(hot_[i], i);
  // An I/O device belongs to no group, and random packets go only to members of the sender's group. So a hot terminal
  // that is a device excludes the case of one group.
  one_group_ =
      sets_.size() == 1 && std::all_of(hot_.begin(), hot_.end(), [&](u32 hot) { return group_of(t_, hot).count > 0; });
  sets_.push_back(hot_);
}

double Destinations::rate(u32 source) const {
  const bool silent = t_.pattern == Pattern::kAllToRegion ? hot_index_.count(source) > 0 : never_sends(t_, source);
  if (silent) return 0;
  if (t_.rates) return t_.rates[source].period > 0 ? 1 / t_.rates[source].period : 0;
  return t_.injection == Injection::kAllAtOnce ? batch_size(t_, source) : 1.0;
}

void Destinations::visit(u32 source, const Visit& one, const Visit& each_of) const {
  switch (t_.pattern) {
    case Pattern::kUniform: return even(source, t_.others_only, 1, one, each_of);
    case Pattern::kPermutation: return one(t_.destination[source], 1);
    case Pattern::kHot: return hot(source, one, each_of);
    case Pattern::kMatrix: return row(source, one);
    case Pattern::kAllToAll: return even(source, true, 1, one, each_of);
    case Pattern::kAllToRegion: return each_of(static_cast<u32>(sets_.size() - 1), 1.0 / t_.hot_count);
  }
}

void Destinations::find_groups() {
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
}

void Destinations::even(u32 source, bool others_only, double part, const Visit& one, const Visit& each_of) const {
  const double each = part / (group_of(t_, source).count - (others_only ? 1.0 : 0.0));
  each_of(group_[source], each);
  if (others_only) one(source, -each);
}

void Destinations::row(u32 source, const Visit& one) const {
  const u32 begin = t_.row_start[source], end = t_.row_start[source + 1];
  double below = 0;
  for (u32 i = begin; i < end; ++i) {
    const double next = i + 1 == end ? kDraws : t_.cumulative[i];
    one(t_.column[i], (next - below) / kDraws);
    below = next;
  }
}

void Destinations::hot(u32 source, const Visit& one, const Visit& each_of) const {
  const double part = t_.hot_threshold / kDraws, each = part / t_.hot_count;
  even(source, t_.others_only, 1 - part, one, each_of);
  if (one_group_) {  // the sender may choose any hot terminal except itself
    each_of(static_cast<u32>(sets_.size() - 1), each);
    if (!t_.others_only) return;
    const auto own = hot_index_.equal_range(source);
    for (auto index = own.first; index != own.second; ++index) {
      even_of_slice(source, index->second, each, one);
      one(source, -each);
    }
    return;
  }
  for (u32 i = 0; i < t_.hot_count; ++i) {
    const bool own = t_.others_only && hot_[i] == source;
    const bool chosen = !own && group_of(t_, hot_[i]).first == group_of(t_, source).first;
    if (chosen)
      one(hot_[i], each);
    else
      even_of_slice(source, i, each, one);
  }
}

void Destinations::even_of_slice(u32 source, u32 i, double part, const Visit& one) const {
  const TrafficGroup g = group_of(t_, source);
  const u32 count = g.count - t_.others_only;
  const double begin = static_cast<double>(i) * count / t_.hot_count,
               end = static_cast<double>(i + 1) * count / t_.hot_count;
  for (u32 r = static_cast<u32>(begin); r < count && r < end; ++r) {
    const double share = std::min(end, r + 1.0) - std::max(begin, static_cast<double>(r));
    const u32 rank = r + (t_.others_only && r >= g.rank);
    one(member_of(t_, g, rank), part * share / (end - begin));
  }
}

std::function<double(u32)> PairValue::sum_over(const TerminalSet& set) const {
  return [this, &set](u32 source) {
    double sum = 0;
    for (u32 destination : set) sum += of(source, destination);
    return sum;
  };
}

bool has_flows(TrafficMode mode) {
  return mode == TrafficMode::kOpen || mode == TrafficMode::kClasses || mode == TrafficMode::kRequestReply;
}

double mean_over_packets(const TrafficTable& t, TrafficMode mode, const PairValue& value) {
  if (!has_flows(mode)) return kNotMeasured;
  const Destinations destinations(t);
  const MeanValue mean(destinations, value);
  double sum = 0, packets = 0;
  for (u32 s = 0; s < t.terminals; ++s) {
    const double rate = destinations.rate(s);
    if (rate == 0) continue;
    sum += rate * mean.of(s);
    packets += rate;
  }
  if (packets == 0) return kNotMeasured;
  const double there = sum / packets;
  if (mode != TrafficMode::kRequestReply || value.symmetric()) return there;
  return (there + mean_over_packets(t, TrafficMode::kOpen, Reversed(value))) / 2;
}

}  // namespace flitlab
