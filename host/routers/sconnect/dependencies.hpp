#pragma once
/// Dependency graph of routing tables: a message in a queue may wait for the queues of its options at the next TIC
/// (S-Connect, 2.4, 3.1). Each queue has reserved buffers. A queue is 12 TIC + 2 port + virtual channel; a vertex (TIC
/// and virtual channel of arrival) is 2 TIC + virtual channel.
#include <string>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// The graph, its first fault, and path lengths.
class SconnectDependencies {
 public:
  /// Follows messages from every TIC with a host to every node over all their options.
  SconnectDependencies(const SconnectFabric& fabric, const std::vector<u16>& entry);

  /// Returns the first fault, or "".
  const std::string& fault() const { return fault_; }
  /// Returns [vertices] the hops to a destination on the shortest paths that the tables allow; kNone: no message gets
  /// there. Requires tables without a fault.
  std::vector<u32> shortest(u32 destination) const;

 private:
  /// Marks all vertices that messages to a destination reach. Returns false for a bad entry.
  bool walk(u32 destination);
  /// Returns the options of a TIC that lead to other TICs.
  u32 to_tics(u32 tic) const;
  /// Returns a cycle of a graph, with the first vertex repeated at the end, or an empty list; then `order_` has all
  /// vertices, each after its successors. `bits_of`: outgoing edges of a vertex as bits.
  template <class BitsOf, class Next>
  std::vector<u32> circle(u32 vertices, BitsOf bits_of, Next next);
  /// Returns a cycle as text: TICs (virtual channels).
  std::string shown(const std::vector<u32>& vertices, u32 per_tic) const;
  /// Returns a node's name, e.g. "7 (TIC 7a)".
  std::string node_name(u32 node) const;

  const SconnectFabric& fabric_;
  const std::vector<u16>& entry_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u16> waits_;  ///< [queues] options at the next TIC, of all messages
  std::vector<u32> seen_;   ///< [vertices] 1 + last destination whose messages reach it
  std::vector<u32> source_, stack_, order_;
  std::string fault_;
};

}  // namespace flitlab
