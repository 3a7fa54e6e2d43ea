#pragma once
/// Where the packets of an experiment go, and means over its packets.
#include <functional>
#include <utility>
#include <vector>

#include "kernels/traffic/traffic.hpp"

namespace flitlab {

/// Terminals that are equally likely destinations.
using TerminalSet = std::vector<u32>;

/// A quantity of a packet that follows from its source and its destination, such as the hops of its route.
class PairValue {
 public:
  virtual ~PairValue() = default;
  /// The value for two terminals; its mean, where packets between them take different routes.
  virtual double of(u32 source, u32 destination) const = 0;
  /// Returns a function of the source: the sum of of(source, d) over all d of a set, which must outlive it. A network
  /// with coordinates has a sum for it, so that 65,536 routers take milliseconds instead of minutes.
  virtual std::function<double(u32 source)> sum_over(const TerminalSet& set) const;
  /// Whether of(a, b) is always of(b, a).
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

/// Mean of a quantity over all packets that an experiment creates; kNotMeasured if a trace, a program or a broadcast
/// names the packets, or if no terminal sends. Each reply of a closed loop counts as a packet.
double mean_over_packets(const TrafficTable& traffic, TrafficMode mode, const PairValue& value);

/// Whether mean_over_packets() knows the destinations.
bool has_flows(TrafficMode mode);

}  // namespace flitlab
