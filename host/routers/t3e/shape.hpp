#pragma once
/// Shape of a T3E: its nodes and the links between them (manual, Node Shapes).
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// A block of nodes that exist in a partial plane: the plane's Z, and ranges of Y and X.
struct Block {
  u32 z;
  u32 y, y_nodes;
  u32 x, x_nodes;
};

/// Extents of a machine in X, Y and Z, and which of its nodes exist. Node numbers grow fastest in X and slowest in Z.
///
/// Existing nodes that differ in one dimension only form a *line*, in the order of their ordinates; a link from its
/// last node to its first closes it to a ring. A line in Z has all nodes with the same X and Y. A line in Y has all
/// nodes with the same X and Z, and is not closed if it has two nodes. A line in X is an aligned group of 8, 4 or 2
/// nodes, because X has no other sizes.
class Shape {
 public:
  /// `planes`: five numbers for each block: Z, first Y, nodes in Y, first X, nodes in X. A plane for which blocks are
  /// given has only the nodes of these blocks; all other planes are full. ConfigError if no T3E has this shape.
  explicit Shape(const std::vector<u32>& extents, const std::vector<u32>& planes = {});

  u32 radix(u32 dim) const { return radix_[dim]; }
  u32 nodes() const { return static_cast<u32>(address_.size()); }
  /// Returns whether all planes are full.
  bool full() const { return blocks_.empty(); }
  bool in_partial_plane(u32 node) const;
  /// Returns the address of a node: the value of its register R_PWHO.
  u32 address(u32 node) const { return address_[node]; }
  /// Returns the node at an address, or kNone if it does not exist.
  u32 node_at(u32 address) const;
  u32 at(u32 node, u32 dim) const { return ordinate(address_[node], dim); }
  /// Returns the next node in a direction, or kNone if there is no link in that direction.
  u32 neighbour(u32 node, u32 direction) const;
  /// Returns the nodes of the line in dimension `dim` through a node, in the order of their ordinates.
  std::vector<u32> line(u32 node, u32 dim) const;
  /// Returns whether the lines in a dimension are rings if all planes are full: in X always, in Y unless it has 2
  /// nodes, in Z unless it has 1.
  bool ring(u32 dim) const { return closed(dim, radix_[dim]); }

 private:
  static bool closed(u32 dim, std::size_t nodes) { return nodes > 1 && (dim != 1 || nodes > 2); }
  bool exists(u32 x, u32 y, u32 z) const;

  u32 radix_[3];
  std::vector<Block> blocks_;
  std::vector<u32> address_;  ///< [nodes] R_PWHO: X in bits 0 to 7, Y in bits 8 to 15, Z in bits 16 to 23
  std::vector<u32> node_;     ///< [X * Y * Z] number of the node at these ordinates; kNone if it does not exist
};

/// Returns the topology. The ports of a router are the six directions, then the PE and the I/O device.
Topology make_topology(const Shape& shape);

}  // namespace flitlab::t3e
