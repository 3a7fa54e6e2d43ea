#include "host/routers/t3e/shape.hpp"

#include <algorithm>
#include <set>

#include "host/config/check.hpp"
#include "host/routers/t3e/tables.hpp"
#include "kernels/common/error.hpp"

namespace flitlab::t3e {
namespace {

std::string shown_list(const std::vector<u32>& list) { return shown(Value{IntList(list.begin(), list.end())}); }

[[noreturn]] void refuse_shape(const std::vector<u32>& extents, const std::string& why) {
  throw ConfigError("topology.shape = " + shown_list(extents) + " is not a T3E: " + why +
                    " X is 2, 4 or 8; Y is 2 or a multiple of 4 up to 32; Z is 1 to 9.");
}

[[noreturn]] void refuse_planes(const std::vector<u32>& planes, const std::string& why) {
  throw ConfigError(
      "topology.partial_planes = " + shown_list(planes) + ": " + why +
      " A block of nodes is Z, first Y, nodes in Y, first X, nodes in X, inside topology.shape; a board has "
      "2 x 2 nodes, so all but Z are even.");
}

/// Returns the size of the group of nodes in X to which `x` belongs: the largest aligned group of 8, 4 or 2 nodes that
/// is complete.
template <class Exists>
u32 group_size(u32 x, u32 radix, Exists exists) {
  for (u32 size = radix; size > 2; size /= 2) {
    const u32 first = x / size * size;
    bool all = true;
    for (u32 i = first; i < first + size; ++i) all = all && exists(i);
    if (all) return size;
  }
  return 2;
}

}  // namespace

Shape::Shape(const std::vector<u32>& extents, const std::vector<u32>& planes) {
  if (extents.size() != 3) refuse_shape(extents, "it has three dimensions.");
  const u32 x = extents[0], y = extents[1], z = extents[2];
  if (x != 2 && x != 4 && x != 8) refuse_shape(extents, "X is " + std::to_string(x) + ".");
  if (y != 2 && (y % 4 || y == 0 || y > 32)) refuse_shape(extents, "Y is " + std::to_string(y) + ".");
  if (z < 1 || z > 9) refuse_shape(extents, "Z is " + std::to_string(z) + ".");
  std::copy(extents.begin(), extents.end(), radix_);

  if (planes.size() % 5) refuse_planes(planes, "it has " + std::to_string(planes.size()) + " numbers.");
  for (std::size_t i = 0; i < planes.size(); i += 5) {
    const Block b{planes[i], planes[i + 1], planes[i + 2], planes[i + 3], planes[i + 4]};
    const std::string name = "block " + std::to_string(i / 5 + 1) + " ";
    if (b.z >= z || b.y + b.y_nodes > y || b.x + b.x_nodes > x)
      refuse_planes(planes, name + "is not inside the shape.");
    if ((b.y | b.y_nodes | b.x | b.x_nodes) % 2) refuse_planes(planes, name + "does not consist of whole boards.");
    blocks_.push_back(b);
  }
  for (u32 k = 0; k < z; ++k)
    for (u32 j = 0; j < y; ++j)
      for (u32 i = 0; i < x; ++i) {
        const bool there = exists(i, j, k);
        node_.push_back(there ? nodes() : kNone);
        if (there) address_.push_back(pack_address(i, j, k));
      }
  if (nodes() > kMostPes)
    refuse_shape(extents, "its " + std::to_string(nodes()) + " PEs are more than the " + std::to_string(kMostPes) +
                              " that routing tables can address.");
  std::vector<u32> reached{0};
  std::set<u32> seen{0};
  for (std::size_t i = 0; i < reached.size() && nodes(); ++i)
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const u32 next = neighbour(reached[i], direction);
      if (next != kNone && seen.insert(next).second) reached.push_back(next);
    }
  if (nodes() == 0 || reached.size() != nodes())
    refuse_planes(planes, "only " + std::to_string(nodes() ? reached.size() : 0) + " of " + std::to_string(nodes()) +
                              " nodes are connected.");
}

bool Shape::exists(u32 x, u32 y, u32 z) const {
  bool named = false;
  for (const Block& b : blocks_) {
    if (b.z != z) continue;
    named = true;
    if (x - b.x < b.x_nodes && y - b.y < b.y_nodes) return true;
  }
  return !named;
}

bool Shape::in_partial_plane(u32 node) const {
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.z == at(node, 2); });
}

u32 Shape::node_at(u32 address) const {
  const u32 x = ordinate(address, 0), y = ordinate(address, 1), z = ordinate(address, 2);
  if (x >= radix_[0] || y >= radix_[1] || z >= radix_[2]) return kNone;
  return node_[(z * radix_[1] + y) * radix_[0] + x];
}

std::vector<u32> Shape::line(u32 node, u32 dim) const {
  const u32 here = address_[node];
  const auto other = [&](u32 i) { return node_at((here & ~(0xFFu << (dim * 8))) | i << (dim * 8)); };
  u32 first = 0, last = radix_[dim];
  if (dim == 0) {
    const u32 size = group_size(at(node, 0), radix_[0], [&](u32 i) { return other(i) != kNone; });
    first = at(node, 0) / size * size;
    last = first + size;
  }
  std::vector<u32> nodes;
  for (u32 i = first; i < last; ++i)
    if (other(i) != kNone) nodes.push_back(other(i));
  return nodes;
}

u32 Shape::neighbour(u32 node, u32 direction) const {
  const u32 dim = dimension_of(direction);
  const std::vector<u32> nodes = line(node, dim);
  const std::size_t k = nodes.size();
  const std::size_t position = static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  const bool plus = direction < 3;
  if (!closed(dim, k) && position == (plus ? k - 1 : 0)) return kNone;
  return nodes[(position + (plus ? 1 : k - 1)) % k];
}

Topology make_topology(const Shape& shape) {
  Topology t;
  t.kind = "t3e";
  t.shape = {shape.radix(0), shape.radix(1), shape.radix(2)};
  t.wraps = true;
  t.routers = t.terminals = shape.nodes();
  t.network_ports = kDirections;
  t.ports = kPorts;
  t.dim_shift = {0, 8, 16};
  t.dim_mask = {7, 31, 15};
  t.peers.resize(std::size_t{t.routers} * kPorts);
  for (u32 n = 0; n < t.routers; ++n) {
    t.address.push_back(shape.address(n));
    t.peers[n * kPorts + kNodePort] = {n, 0, 1};
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const u32 next = shape.neighbour(n, direction);
      if (next == kNone) continue;
      t.peers[n * kPorts + direction] = {next, static_cast<u16>(opposite(direction)), 0};
      ++t.channels;
    }
  }
  if (!shape.full()) return t;  // a machine with partial planes has no defined bisection
  for (u32 d = 0; d < 3; ++d) {
    if (shape.radix(d) == 1) continue;
    const u64 cut = u64{t.routers} / shape.radix(d) * 2 * (shape.ring(d) ? 2 : 1);
    if (!t.bisection_channels || cut < t.bisection_channels) t.bisection_channels = cut;
  }
  return t;
}

}  // namespace flitlab::t3e
