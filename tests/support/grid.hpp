#pragma once
/// Coordinates of a torus, counted step by step.
#include <vector>

#include "host/config/value.hpp"
#include "kernels/common/types.hpp"

namespace flitlab::testing {

using Coordinates = std::vector<u32>;  // [dimension]

struct Grid {
  explicit Grid(const IntList& s) : shape(s.begin(), s.end()) {
    for (u32 k : shape) nodes *= k;
  }
  Coordinates at(u32 node) const {
    Coordinates coordinates;
    for (u32 k : shape) coordinates.push_back(node % k), node /= k;
    return coordinates;
  }
  u32 node(const Coordinates& coordinates) const {
    u32 n = 0;
    for (u32 d = static_cast<u32>(shape.size()); d-- > 0;) n = n * shape[d] + coordinates[d];
    return n;
  }
  Coordinates step(Coordinates from, u32 direction) const {
    const u32 k = shape[direction / 2];
    from[direction / 2] = (from[direction / 2] + (direction % 2 ? k - 1 : 1)) % k;
    return from;
  }
  u32 steps(Coordinates from, const Coordinates& to, u32 direction) const {
    u32 n = 0;
    for (; from[direction / 2] != to[direction / 2]; ++n) from = step(from, direction);
    return n;
  }
  /// Returns the directions that bring a packet nearer, as bits; both directions of a dimension if the destination is
  /// half-way round.
  u32 nearer(const Coordinates& from, const Coordinates& to) const {
    u32 set = 0;
    for (u32 d = 0; d < 2 * shape.size(); ++d)
      if (const u32 n = steps(from, to, d); n && n <= steps(from, to, d ^ 1)) set |= 1u << d;
    return set;
  }
  std::vector<u32> shape;
  u32 nodes = 1;
};

}  // namespace flitlab::testing
