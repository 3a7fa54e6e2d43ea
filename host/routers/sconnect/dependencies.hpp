#pragma once
/// Dependency graph of routing tables (S-Connect, 2.4, 3.1). Each queue of a TIC has reserved buffers, and a message in
/// a queue may wait for the queues that it can enter at the next TIC. A queue is numbered 12 * TIC + 2 * port + virtual
/// channel. A vertex (TIC, virtual channel on which a message arrives) is numbered 2 TIC + virtual channel.
#include <string>
#include <vector>

#include "host/routers/sconnect/fabric.hpp"

namespace flitlab {

/// The dependency graph, the first fault found in it, and path lengths.
class SconnectDependencies {
 public:
  /// Follows messages from every TIC with a host to every node, over all options of the tables.
  SconnectDependencies(const SconnectFabric& fabric, const std::vector<u16>& entry);

  /// Returns a text that describes the first fault, or "".
  const std::string& fault() const { return fault_; }
  /// Returns for each vertex the hops to a destination on the shortest path that the tables allow; kNone: no message to
  /// this destination reaches the vertex. Requires tables without a fault.
  std::vector<u32> shortest(u32 destination) const;

 private:
  /// Marks all vertices that messages to a destination reach. Returns false if it finds a bad table entry.
  bool walk(u32 destination);
  /// Returns those options of a TIC that lead to other TICs.
  u32 to_tics(u32 tic) const;
  /// Searches a graph for a cycle. Returns its vertices, with the first one repeated at the end. If there is no cycle,
  /// returns an empty list and puts all vertices into `order_`, each after its successors. `bits_of`: outgoing edges of
  /// a vertex as bits.
  template <class BitsOf, class Next>
  std::vector<u32> circle(u32 vertices, BitsOf bits_of, Next next);
  /// Returns a cycle as text: a list of TICs with virtual channels in parentheses.
  std::string shown(const std::vector<u32>& vertices, u32 per_tic) const;
  /// Returns a node's name, e.g. "7 (TIC 7a)".
  std::string node_name(u32 node) const;

  const SconnectFabric& fabric_;
  const std::vector<u16>& entry_;
  std::vector<std::vector<u32>> hosts_;
  std::vector<u16> waits_;  ///< [queues] queues at the next TIC that messages in the queue may wait for, as bits
  std::vector<u32> seen_;   ///< [vertices] 1 + number of the last destination whose messages reach the vertex
  std::vector<u32> source_, stack_, order_;
  std::string fault_;
};

}  // namespace flitlab
