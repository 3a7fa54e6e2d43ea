#pragma once
/// Destinations of an experiment's packets, and means over its packets.
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// A set of terminals that are equally likely destinations.
using TerminalSet = std::vector<u32>;

/// A quantity of a packet that depends on the packet's source and destination, such as the number of hops of its route.
class PairValue {
 public:
  virtual ~PairValue() = default;
  /// Returns the value for two terminals. If packets between them take different routes, returns the mean over the
  /// routes.
  virtual double of(u32 source, u32 destination) const = 0;
  /// Returns a function that computes, for a source, the sum of of(source, d) over all destinations d of a set. The set
  /// must outlive the function. A network with coordinates has a closed form for the sum; for 65,536 routers it takes
  /// milliseconds instead of minutes.
  virtual std::function<double(u32 source)> sum_over(const TerminalSet& set) const;
  /// Returns whether of(a, b) always equals of(b, a).
  virtual bool symmetric() const { return false; }
};

/// A quantity that is given by a function.
class ValueOf final : public PairValue {
 public:
  explicit ValueOf(std::function<double(u32 source, u32 destination)> value) : value_(std::move(value)) {}
  double of(u32 source, u32 destination) const override { return value_(source, destination); }

 private:
  std::function<double(u32, u32)> value_;
};

/// Destinations of each terminal's packets, with the probabilities by which packet_destination() draws them.
class Destinations {
 public:
  explicit Destinations(const TrafficTable& traffic);

  /// Returns the rate at which a terminal creates packets, up to a factor that is the same for all terminals.
  double rate(u32 source) const;
  /// Sets of destinations: the groups, and the hot terminals.
  const std::vector<TerminalSet>& sets() const { return sets_; }

  using Visit = std::function<void(u32 number, double probability)>;
  /// Calls one(destination, probability), and each_of(set, probability of each member), which add up to the
  /// destinations of a terminal. A negative probability takes a terminal out of a set of which it is a member.
  void visit(u32 source, const Visit& one, const Visit& each_of) const;

 private:
  void find_groups();
  /// Visits all members of the sender's group; with `others_only`, without the sender itself. `part`: probability of
  /// all of them.
  void even(u32 source, bool others_only, double part, const Visit& one, const Visit& each_of) const;
  void row(u32 source, const Visit& one) const;
  void hot(u32 source, const Visit& one, const Visit& each_of) const;
  /// Visits the packets for which hot terminal `i` was drawn although the source may not send to it. These packets get
  /// a uniform destination by the same draw, so their destinations are one slice of the sender's group.
  void even_of_slice(u32 source, u32 i, double part, const Visit& one) const;

  const TrafficTable& t_;
  std::vector<TerminalSet> sets_;  ///< members of each group; then the hot terminals, if there are any
  std::vector<u32> group_;         ///< [terminals] index of the terminal's group in sets_
  TerminalSet hot_;
  bool one_group_ = false;             ///< whether there is one group, and all hot terminals belong to it
  std::multimap<u32, u32> hot_index_;  ///< index in hot_ of each hot terminal
};

/// Returns the mean of a quantity over all packets of a traffic table. In a closed loop each reply counts as a
/// packet. Returns kNotMeasured if a trace, a program or a broadcast defines the packets, or if no terminal sends.
double mean_over_packets(const TrafficTable& traffic, TrafficMode mode, const PairValue& value);

/// Returns whether mean_over_packets() can compute a mean in a traffic mode.
bool has_flows(TrafficMode mode);

}  // namespace flitlab
