#pragma once
/// Who may wait for whom: buffers are counted by TIC and virtual channel, and a message that has come to a TIC on one
/// may wait for those of its options (S-Connect, 2.4). A place is 2 TIC + virtual channel.
#include <string>
#include <vector>

#include "host/sconnect/fabric.hpp"

namespace flitlab {

class SconnectWaits {
 public:
  /// Follows messages from every TIC with a host to every node by all their options.
  SconnectWaits(const SconnectFabric& fabric, const std::vector<u16>& entry);

  /// The first thing found wrong, or "".
  const std::string& fault() const { return fault_; }
  /// Hops to a destination from every place, by the shortest ways that tables allow; kNone: no message comes there.
  /// Only where there is no fault.
  std::vector<u32> shortest(u32 destination) const;

 private:
  /// Marks all places that messages to a destination come to; false: something is wrong with an entry.
  bool walk(u32 destination);
  /// A circle in a graph of options by place, its first place repeated at the end, or nothing. Otherwise `order_`
  /// is all places, each after those it leads to.
  template <class OptionsOf>
  std::vector<u32> circle(OptionsOf options_of);
  std::string shown(const std::vector<u32>& places) const;
  /// "7 (TIC 7a)": a node.
  std::string node_name(u32 node) const;

  const SconnectFabric& fabric_;
  const std::vector<u16>& entry_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u16> waits_;  ///< [places] options of all messages that come there
  std::vector<u32> seen_;   ///< [places] the destination, plus one, whose messages came there last
  std::vector<u32> source_, stack_, order_;
  std::string fault_;
};

}  // namespace flitlab
