#pragma once
/// What tables make of uniform traffic: how many messages each channel carries if every host's TIC sends one to every
/// other node, and each message takes any of its options with the same chance.
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

class SconnectLoads {
 public:
  /// `entry` [TICs][destinations], without a fault (tables.hpp). `stride`: only every so many destinations.
  SconnectLoads(const SconnectFabric& fabric, const std::vector<u16>& entry, u32 stride = 1);

  /// Adds what messages to a destination load channels with, or, by -1, takes it away.
  void add(u32 destination, double part);
  double of(u32 channel) const { return load_[channel]; }  ///< by 6 TIC + port where it begins
  /// Over the mean of all serial channels; 0: there is no traffic.
  double busiest() const;
  const std::vector<u32>& serial() const { return serial_; }  ///< channels

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
