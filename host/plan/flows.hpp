#pragma once
/// Destinations of an experiment's packets, and means over its packets.
#include <functional>
#include <utility>
#include <vector>

#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// Terminals that are equally likely destinations.
using TerminalSet = std::vector<u32>;

/// A quantity of a packet that depends on its source and destination, such as the hops of its route.
class PairValue {
 public:
  virtual ~PairValue() = default;
  /// Returns the value for two terminals; the mean if packets between them take different routes.
  virtual double of(u32 source, u32 destination) const = 0;
  /// Returns a function of the source: the sum of of(source, d) over all d of a set, which must outlive it. A network
  /// with coordinates has a closed form, which takes milliseconds instead of minutes for 65,536 routers.
  virtual std::function<double(u32 source)> sum_over(const TerminalSet& set) const;
  /// Returns whether of(a, b) always equals of(b, a).
  virtual bool symmetric() const { return false; }
};

/// A quantity that a function computes.
class ValueOf final : public PairValue {
 public:
  explicit ValueOf(std::function<double(u32 source, u32 destination)> value) : value_(std::move(value)) {}
  double of(u32 source, u32 destination) const override { return value_(source, destination); }

 private:
  std::function<double(u32, u32)> value_;
};

/// Returns the mean of a quantity over all packets that an experiment creates; kNotMeasured if a trace, a program or a
/// broadcast defines the packets, or if no terminal sends. Each reply of a closed loop counts as a packet.
double mean_over_packets(const TrafficTable& traffic, TrafficMode mode, const PairValue& value);

/// Returns whether mean_over_packets() can compute a mean in that mode.
bool has_flows(TrafficMode mode);

}  // namespace flitlab
