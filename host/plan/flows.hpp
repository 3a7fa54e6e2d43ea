#pragma once
/// Destinations of an experiment's packets, and means over its packets.
#include <functional>
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

/// Returns the mean of a quantity over all packets that an experiment creates. In a closed loop each reply counts as a
/// packet. Returns kNotMeasured if a trace, a program or a broadcast defines the packets, or if no terminal sends.
double mean_over_packets(const TrafficTable& traffic, TrafficMode mode, const PairValue& value);

/// Returns whether mean_over_packets() can compute a mean in a traffic mode.
bool has_flows(TrafficMode mode);

}  // namespace flitlab
