#pragma once
/// Who may wait for whom: buffers are promised to each queue of a TIC, one for every virtual channel of every channel,
/// and a message in one may wait for those that are its options at the next TIC (S-Connect, 2.4, 3.1). A queue is 12
/// TIC + 2 port + virtual channel; a place, where a message has come to, 2 TIC + virtual channel.
#include <string>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

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
  /// Options of a TIC that lead to others.
  u32 to_tics(u32 tic) const;
  /// A circle in a graph of vertices, each with some bits that lead to others, its first vertex repeated at the end, or
  /// nothing. Otherwise `order_` is all vertices, each after those it leads to.
  template <class BitsOf, class Next>
  std::vector<u32> circle(u32 vertices, BitsOf bits_of, Next next);
  /// TICs and virtual channels of a circle of queues, or of places.
  std::string shown(const std::vector<u32>& vertices, u32 per_tic) const;
  /// "7 (TIC 7a)": a node.
  std::string node_name(u32 node) const;

  const SconnectFabric& fabric_;
  const std::vector<u16>& entry_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u16> waits_;  ///< [queues] options of all messages at the next TIC
  std::vector<u32> seen_;   ///< [places] the destination, plus one, whose messages came there last
  std::vector<u32> source_, stack_, order_;
  std::string fault_;
};

}  // namespace flitlab
