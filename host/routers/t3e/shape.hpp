#pragma once
/// Where the nodes of a T3E are and how they are wired (manual, Node Shapes).
#include <vector>

#include "host/topology/topology.hpp"
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

/// Nodes that exist in a plane that is not full.
struct Block {
  u32 z;
  u32 y, y_nodes;
  u32 x, x_nodes;
};

/// Nodes in X, Y and Z, and which of them exist. Nodes are numbered X fastest, Z slowest.
///
/// A ring joins the nodes that exist in a line, in the order of their ordinates: all of them in Z; in Y too, unless
/// they are two, which have one link; in X within aligned groups of 8, 4 or 2, the only shapes that X has.
class Shape {
 public:
  /// `planes`: five numbers a block: Z, first Y, nodes in Y, first X, nodes in X. A plane that is named has the nodes
  /// of its blocks, all others are full. ConfigError for what is no T3E.
  explicit Shape(const std::vector<u32>& extents, const std::vector<u32>& planes = {});

  u32 radix(u32 dim) const { return radix_[dim]; }
  u32 nodes() const { return static_cast<u32>(address_.size()); }
  /// Whether every plane is full.
  bool full() const { return blocks_.empty(); }
  bool in_partial_plane(u32 node) const;
  /// R_PWHO of a node.
  u32 address(u32 node) const { return address_[node]; }
  /// kNone if there is no such node.
  u32 node_at(u32 address) const;
  u32 at(u32 node, u32 dim) const { return ordinate(address_[node], dim); }
  /// The next node in a direction, or kNone where the link is open.
  u32 neighbour(u32 node, u32 direction) const;
  /// Nodes of a node's line in a dimension that are joined, in the order of their ordinates.
  std::vector<u32> line(u32 node, u32 dim) const;
  /// Whether a line of full planes is a ring: X always, Y unless it is 2, Z unless it is 1.
  bool ring(u32 dim) const { return closed(dim, radix_[dim]); }

 private:
  static bool closed(u32 dim, std::size_t nodes) { return nodes > 1 && (dim != 1 || nodes > 2); }
  bool exists(u32 x, u32 y, u32 z) const;

  u32 radix_[3];
  std::vector<Block> blocks_;
  std::vector<u32> address_;  ///< [nodes]
  std::vector<u32> node_;     ///< [X * Y * Z] node, or kNone
};

/// Ports as t3e::kDirections, then the PE.
Topology make_topology(const Shape& shape);

}  // namespace flitlab::t3e
