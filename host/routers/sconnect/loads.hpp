#pragma once
/// Channel loads under uniform traffic: the number of messages over each channel if each TIC with a host sends one
/// message to every other node, and each message takes all its options with equal probability.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class SconnectLoads {
 public:
  /// `entry`: [TICs][destinations] tables without a fault (tables.hpp). `stride`: only every stride-th destination is
  /// counted.
  SconnectLoads(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 stride = 1);

  /// Adds `part` times the load of all messages to a destination; part = -1 removes their load.
  void add(u32 destination, double part);
  /// Returns the load of channel number 6 * TIC + port, where TIC and port are the transmitter's.
  double of(u32 channel) const { return load_[channel]; }
  /// Returns the load of the busiest serial channel divided by the mean load; 0: no traffic.
  double busiest() const;
  /// Returns the numbers of all serial channels.
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
