#include "host/routers/bgl/faults.hpp"

#include <algorithm>

#include "host/config/cross_checks.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/bgl/hints.hpp"
#include "kernels/routers/bgl/params.hpp"

namespace flitlab {
namespace {

using bgl::RouteClass;

/// Table of a smaller torus that has the dead nodes of a large one. Of each run of coordinates without dead nodes it
/// keeps two, one for a source and one for a destination. Two nodes of it are connected if and only if the
/// corresponding nodes of the large torus are.
struct Sketch {
  Sketch(const bgl::Table& table, const Topology& whole) : t(table) {
    std::vector<u32> shape;
    for (u32 d = 0; d < t.dims; ++d) {
      std::vector<u32> left;
      for (u32 c = 0; c < t.radix[d]; ++c) {
        bool near = false;
        for (u32 i = 0; i < t.dead_count; ++i)
          near |= (c + t.radix[d] - bgl::coordinate(t, t.dead[i], d)) % t.radix[d] <= 2;
        if (near) left.push_back(c);
      }
      shape.push_back(static_cast<u32>(left.size()));
      kept.push_back(std::move(left));
    }
    const Topology small = make_torus(shape, 1);
    for (u32 d = 0; d < t.dims; ++d) {
      t.radix[d] = shape[d];
      t.mask[d] = small.dim_mask[d];
      t.shift[d] = small.dim_shift[d];
    }
    for (u32 n = 0; n < small.routers; ++n) {
      u32 address = 0;
      for (u32 d = 0; d < t.dims; ++d) address |= kept[d][small.coordinate(n, d)] << whole.dim_shift[d];
      node.push_back(whole.router_at(address));
      for (u32 i = 0; i < t.dead_count; ++i)
        if (address == table.dead[i]) t.dead[i] = small.address[n];
    }
    address = small.address;
  }

  bgl::Table t;
  std::vector<std::vector<u32>> kept;  ///< [dims] coordinates of the large torus that the sketch keeps
  std::vector<u32> address, node;      ///< both by node of the sketch: its address in the sketch; its number in the
                                       ///< large torus
};

using Pair = std::pair<u32, u32>;

/// Returns the pairs of live nodes of a sketch between which the dimension-ordered route may be blocked in all
/// directions: a dead node is on one of the lines that the route follows.
std::vector<Pair> doubtful_pairs(const Sketch& sketch) {
  const bgl::Table& t = sketch.t;
  const u32 nodes = static_cast<u32>(sketch.address.size());
  std::vector<u32> same[3];  // `[dim][node]`: dead nodes with the same coordinate as the node (bits)
  for (u32 d = 0; d < 3; ++d)
    for (u32 a : sketch.address) {
      u32 set = 0;
      for (u32 i = 0; i < t.dead_count; ++i)
        set |= u32{d >= t.dims || bgl::coordinate(t, a, d) == bgl::coordinate(t, t.dead[i], d)} << i;
      same[d].push_back(set);
    }
  std::vector<Pair> pairs;
  for (u32 s = 0; s < nodes; ++s) {
    if (bgl::is_dead(t, sketch.address[s])) continue;
    const u32 x_line = same[1][s] & same[2][s], z_plane = same[2][s];
    for (u32 d = 0; d < nodes; ++d) {
      const u32 y_line = same[0][d] & z_plane, z_line = same[0][d] & same[1][d];
      if (s != d && (x_line | y_line | z_line) && !bgl::is_dead(t, sketch.address[d])) pairs.emplace_back(s, d);
    }
  }
  return pairs;
}

/// Sets the directions in which blocked packets may leave the layers of dead nodes so that they do not wait for one
/// another in a cycle. A layer is the set of nodes with one coordinate in a dimension. `side[dim]` 0: packets leave to
/// the nearer end of a block of adjacent layers with dead nodes. 1 or 2: they leave in the plus or minus direction
/// through the whole block, or directly to an adjacent layer without dead nodes.
void set_exits(bgl::Table& t, const u32 (&side)[3]) {
  for (u32 i = 0; i < t.dead_count; ++i) {
    t.exits[i] = 0;
    for (u32 d = 0; d < t.dims; ++d) {
      const u32 k = t.radix[d], at = bgl::coordinate(t, t.dead[i], d);
      const auto has_dead = [&](u32 c) {
        return std::any_of(t.dead, t.dead + t.dead_count, [&](u32 a) { return bgl::coordinate(t, a, d) == c; });
      };
      u32 up = 0, down = 0;
      while (up < k && has_dead((at + up) % k)) ++up;
      while (down < k && has_dead((at + k - down) % k)) ++down;
      if (up == k) continue;  // every layer has dead nodes, so a packet cannot avoid them by leaving in this dimension
      const u32 nearer = u32{up <= down} | u32{down <= up} << 1, beside = u32{up == 1} | u32{down == 1} << 1;
      t.exits[i] |= static_cast<u8>((side[d] ? side[d] | beside : nearer) << 2 * d);
    }
  }
}

/// Returns the pair whose best route has the worst RouteClass, and that RouteClass.
std::pair<Pair, RouteClass> worst_pair(const Sketch& sketch, const std::vector<Pair>& pairs) {
  std::pair<Pair, RouteClass> worst{{}, RouteClass::kAny};
  for (const Pair& p : pairs) {
    const RouteClass way = bgl::best_hints(sketch.t, sketch.address[p.first], sketch.address[p.second], 0).way;
    if (way > worst.second) worst = {p, way};
    if (way == RouteClass::kNone) break;
  }
  return worst;
}

/// Throws a ConfigError that names a pair of nodes that dead nodes disconnect.
[[noreturn]] void reject_pair(const Sketch& sketch, const Topology& topology, const Pair& pair) {
  const u32 from = sketch.address[pair.first], to = sketch.address[pair.second];
  u32 in_the_way = 0;
  for (u32 hints = 0; hints < 64; ++hints) {
    bool fits = true;
    for (u32 d = 0; d < 3; ++d) {
      const u32 bits = hints >> 2 * d & 3;
      const bool needed = d < sketch.t.dims && bgl::coordinate(sketch.t, from, d) != bgl::coordinate(sketch.t, to, d);
      fits = fits && (needed ? bits == 1 || bits == 2 : bits == 0);
    }
    if (fits) in_the_way |= bgl::dead_between(sketch.t, from, to, hints);
  }
  std::string nodes;
  for (u32 n = 0; n < sketch.address.size(); ++n)
    for (u32 i = 0; i < sketch.t.dead_count; ++i)
      if (in_the_way >> i & 1 && sketch.address[n] == sketch.t.dead[i])
        nodes += (nodes.empty() ? "" : ", ") + shown_node(topology, sketch.node[n]);
  Sketch with_vcs = sketch;
  with_vcs.t.dynamic_vcs = 1;
  const bool ordered_only = bgl::best_hints(with_vcs.t, from, to, 0).way != RouteClass::kNone;
  throw ConfigError("faults.nodes: no hint bits lead from node " + shown_node(topology, sketch.node[pair.first]) +
                    " to node " + shown_node(topology, sketch.node[pair.second]) + "; dead nodes in the way: " + nodes +
                    ". " +
                    (ordered_only ? "Set router.dynamic_vcs to 1 or more, since only dynamic packets go round them."
                                  : "Choose other nodes: up to three are no obstacle if no two of them are on a line "
                                    "along a dimension."));
}

/// Returns hint bits as text, in the order of a packet's header: x+ x- y+ y- z+ z-.
std::string shown_hints(u32 written) {
  std::string text;
  for (u32 b = 6; b-- > 0;) text += written >> b & 1 ? '1' : '0';
  return text;
}

u32 read_bits(u32 written) {
  u32 hints = 0;
  for (u32 d = 0; d < 6; ++d) hints |= (written >> (5 - d) & 1) << d;
  return hints;
}

}  // namespace

std::string shown_node(const Topology& topology, u32 node) {
  std::string text = std::to_string(node) + " (";
  for (u32 d = 0; d < topology.shape.size(); ++d) text += (d ? "," : "") + std::to_string(topology.coordinate(node, d));
  return text + ")";
}

Topology without_nodes(Topology topology, const std::vector<u32>& nodes) {
  const auto cut = [&](u32 node, u32 port) {
    Peer& peer = topology.peers[std::size_t{node} * topology.ports + port];
    if (peer.item == kNone) return;
    peer.item = kNone;
    --topology.channels;
  };
  for (u32 node : nodes)
    for (u32 p = 0; p < topology.network_ports; ++p) {
      const Peer peer = topology.peer(node, p);
      if (peer.item == kNone) continue;
      cut(peer.item, peer.port);
      cut(node, p);
    }
  return topology;
}

std::vector<std::string> set_dead_nodes(bgl::Table& t, const Topology& topology, const std::vector<u32>& nodes) {
  if (nodes.empty()) return {};
  t.dead_count = static_cast<u32>(nodes.size());
  for (u32 i = 0; i < t.dead_count; ++i) t.dead[i] = topology.address[nodes[i]];
  Sketch sketch(t, topology);
  const std::vector<Pair> pairs = doubtful_pairs(sketch);
  std::pair<Pair, RouteClass> worst;
  const auto try_sides = [&](u32 y, u32 z) {
    set_exits(t, {0, y, z});
    std::copy(t.exits, t.exits + t.dead_count, sketch.t.exits);
    worst = worst_pair(sketch, pairs);
    return worst.second != RouteClass::kUnsafe;
  };
  for (u32 sides = 0; sides < 9; ++sides)
    if (try_sides(sides % 3, sides / 3)) break;
  if (worst.second == RouteClass::kNone) reject_pair(sketch, topology, worst.first);
  if (worst.second != RouteClass::kUnsafe) return {};
  try_sides(0, 0);
  return {"faults.nodes: packets, for instance from node " + shown_node(topology, sketch.node[worst.first.first]) +
          " to node " + shown_node(topology, sketch.node[worst.first.second]) +
          ", may deadlock: so many dead nodes are adjacent that flitlab cannot exclude it."};
}

std::vector<bgl::GivenHints> read_hints(const Experiment& e, const Topology& topology, const bgl::Table& t,
                                        std::vector<std::string>& warnings) {
  const std::vector<u32> list = e.ints(bgl::param::routing.hints);
  if (list.size() % 3)
    throw ConfigError("routing.hints has " + std::to_string(list.size()) +
                      " numbers: give three for each pair of nodes, the source, the destination and the hint bits "
                      "x+ x- y+ y- z+ z-, such as 0, 5, 0b100100.");
  std::vector<bgl::GivenHints> given;
  for (std::size_t i = 0; i < list.size(); i += 3) {
    const u32 from = list[i], to = list[i + 1], written = list[i + 2];
    const std::string name = "routing.hints: entry " + std::to_string(i / 3 + 1) + ", from node " +
                             std::to_string(from) + " to node " + std::to_string(to) + ", ";
    if (from >= topology.routers || to >= topology.routers)
      throw ConfigError(name + "names a node that does not exist: nodes are numbered 0 to " +
                        std::to_string(topology.routers - 1) + ".");
    if (from == to) throw ConfigError(name + "has the same source and destination. Leave it out.");
    if (written > 63)
      throw ConfigError(name + "has hint bits " + std::to_string(written) +
                        ": there are six, x+ x- y+ y- z+ z-, so they are at most 63 = 0b111111.");
    const u32 a = topology.address[from], b = topology.address[to], hints = read_bits(written);
    const std::string bits = name + "has hint bits " + shown_hints(written);
    for (u32 d = 0; d < 3; ++d) {
      const std::string dim(1, "xyz"[d]);
      const u32 set = hints >> 2 * d & 3;
      const bool needed = d < t.dims && bgl::coordinate(t, a, d) != bgl::coordinate(t, b, d);
      if (set == 3) throw ConfigError(bits + ", both directions of " + dim + ": set " + dim + "+ or " + dim + "-.");
      if (needed && !set)
        throw ConfigError(bits + ", which do not lead to the destination: set " + dim + "+ or " + dim + "- as well.");
      if (!needed && set) throw ConfigError(bits + ", but no hops in " + dim + " are required: leave " + dim + " out.");
    }
    if (bgl::is_dead(t, a) || bgl::is_dead(t, b))
      throw ConfigError(name + "names a dead node (faults.nodes). Leave it out.");
    const RouteClass way = bgl::route_class_of(t, a, b, hints);
    if (way == RouteClass::kNone)
      throw ConfigError(bits +
                        ", which lead packets to nodes where only dead nodes are next. Set other bits, or leave the "
                        "entry out: flitlab then chooses the bits.");
    if (way == RouteClass::kUnsafe) warnings.push_back(bits + ": packets may deadlock between the dead nodes.");
    given.push_back({a, b, hints});
  }
  const auto key = [](const bgl::GivenHints& g) { return std::pair{g.from, g.to}; };
  std::sort(given.begin(), given.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto twice =
      std::adjacent_find(given.begin(), given.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); });
  if (twice != given.end())
    throw ConfigError("routing.hints names the pair of nodes " + std::to_string(topology.router_at(twice->from)) +
                      " and " + std::to_string(topology.router_at(twice->to)) + " twice. Leave one out.");
  return given;
}

}  // namespace flitlab
