#pragma once
/// Channel loads under uniform traffic: messages per channel if each TIC with a host sends one to every other node, and
/// each message takes its options with equal probability.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class SconnectLoads {
 public:
  /// `entry`: [TICs][destinations] tables without a fault (tables.hpp). `stride`: uses every stride-th destination.
  SconnectLoads(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 stride = 1);

  /// Adds `part` times the load of the messages to a destination; part -1 removes it.
  void add(u32 destination, double part);
  /// Returns the load of a channel, which is 6 TIC + port of its transmitter.
  double of(u32 channel) const { return load_[channel]; }
  /// Returns the highest load of a serial channel / the mean; 0: no traffic.
  double busiest() const;
  /// Returns all serial channels.
  const std::vector<u32>& serial() const { return serial_; }

 private:
  const SconnectFabric& fabric_;
  const std::vector<u16>& entry_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u32> serial_, order_;
  std::vector<std::pair<u32, u32>> way_;
  std::vector<u8> seen_;
  std::vector<double> load_, flow_;
};

}  // namespace flitlab
