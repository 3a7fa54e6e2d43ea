#pragma once
/// Shape of a T3E: its nodes and the links between them (manual, Node Shapes).
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// A block of nodes that exist in a partial plane.
struct Block {
  u32 z;
  u32 y, y_nodes;
  u32 x, x_nodes;
};

/// Nodes in X, Y and Z, and which of them exist. Node numbers grow fastest in X and slowest in Z.
///
/// A ring joins the existing nodes of a line in the order of their ordinates: in Z all of them; in Y all of them,
/// except that two nodes have a single link; in X the nodes of an aligned group of 8, 4 or 2, the only sizes that X
/// has.
class Shape {
 public:
  /// `planes`: five numbers per block: Z, first Y, nodes in Y, first X, nodes in X. A plane with blocks has only the
  /// nodes of its blocks; all other planes are full. ConfigError if this is not a T3E.
  explicit Shape(const std::vector<u32>& extents, const std::vector<u32>& planes = {});

  u32 radix(u32 dim) const { return radix_[dim]; }
  u32 nodes() const { return static_cast<u32>(address_.size()); }
  /// Returns whether all planes are full.
  bool full() const { return blocks_.empty(); }
  bool in_partial_plane(u32 node) const;
  /// Returns R_PWHO of a node.
  u32 address(u32 node) const { return address_[node]; }
  /// Returns the node at an address, or kNone if it does not exist.
  u32 node_at(u32 address) const;
  u32 at(u32 node, u32 dim) const { return ordinate(address_[node], dim); }
  /// Returns the next node in a direction, or kNone if the link is open.
  u32 neighbour(u32 node, u32 direction) const;
  /// Returns the nodes that are joined in a line with a node in a dimension, in the order of their ordinates.
  std::vector<u32> line(u32 node, u32 dim) const;
  /// Returns whether a line of full planes is a ring: in X always, in Y unless it has 2 nodes, in Z unless it has 1.
  bool ring(u32 dim) const { return closed(dim, radix_[dim]); }

 private:
  static bool closed(u32 dim, std::size_t nodes) { return nodes > 1 && (dim != 1 || nodes > 2); }
  bool exists(u32 x, u32 y, u32 z) const;

  u32 radix_[3];
  std::vector<Block> blocks_;
  std::vector<u32> address_;  ///< [nodes]
  std::vector<u32> node_;     ///< [X * Y * Z] node, or kNone
};

/// Returns the topology. Ports: the six directions, then the PE and the I/O device.
Topology make_topology(const Shape& shape);

}  // namespace flitlab::t3e
