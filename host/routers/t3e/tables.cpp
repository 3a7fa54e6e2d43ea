#include "host/routers/t3e/tables.hpp"

#include <algorithm>
#include <bit>

#include "host/routers/t3e/vc_balance.hpp"

namespace flitlab::t3e {
namespace {

/// Returns the SELECT bits of one direction of a ring: for each source a word with one bit per destination. Nodes are
/// numbered in the direction of travel. `half_way(source)`: whether routes half-way round the ring from this source
/// take this direction. It depends only on whether the source is even.
template <class HalfWay>
std::vector<u32> select_bits(u32 ring, u32 dateline, bool search, const TableOptions& options, HalfWay half_way) {
  std::vector<u32> select(ring, 0);
  if (!search || !std::has_single_bit(ring) || ring < 4) return select;
  const VcTable& table =
      machine_table(ring, !options.full_select, u32{half_way(0)} | u32{half_way(1)} << 1, dateline, options.seed);
  for (u32 s = 0; s < ring; ++s)
    for (u32 d = 0; d < ring; ++d) select[s] |= u32{table.bit(s, d)} << d;
  return select;
}

/// Returns whether a node is the dateline of a direction. The dateline is the first node in the direction of travel, or
/// the last one if `last` is set. In +Z it is also the last node if that node is in a partial plane: packets may make
/// an initial hop from the last node to the first, which must then not be the dateline (manual, Dateline Physical
/// Node).
bool is_dateline(const Shape& shape, u32 node, u32 direction, bool last) {
  if (shape.neighbour(node, direction) == kNone || shape.neighbour(node, opposite(direction)) == kNone) return false;
  const std::vector<u32> line = shape.line(node, dimension_of(direction));
  if (direction == 2) last = last || shape.in_partial_plane(line.back());
  return node == (last == (direction < 3) ? line.back() : line.front());
}

}  // namespace

u32 shorter_sign(const Shape& shape, u32 dim, u32 from, u32 to, bool plus_half_way) {
  if (!shape.ring(dim)) return to < from;
  const u32 k = shape.radix(dim), ahead = (to + k - from) % k;
  return 2 * ahead == k ? !plus_half_way : 2 * ahead > k;
}

Tables make_tables(const Shape& shape, const TableOptions& options) {
  const u32 nodes = shape.nodes();
  Tables tables;
  tables.registers.resize(nodes);
  const bool grouped = options.lut_mode != 0;
  std::vector<u32> target;  // [entry] address of the PE, or of the group of four PEs, that the entry serves
  for (u32 n = 0; n < nodes; ++n) {
    const u32 entry = grouped ? options.logical[n] >> 2 : options.logical[n];
    if (entry >= target.size()) target.resize(entry + 1, kNone);
    target[entry] = grouped ? shape.address(n) & ~pack_address(1, 1, 0) : shape.address(n);
  }
  tables.entries = static_cast<u32>(target.size());
  tables.lut.resize(std::size_t{nodes} * tables.entries);
  if (options.full_select) tables.full_select.resize(std::size_t{nodes} * kDirections);

  // In modes 1 and 2 an entry serves two neighbours in X, and two in Y, with one sign for each dimension. This sign
  // decides the direction of half-way routes: if the source is odd, the other node of the destination's pair is nearer
  // in +; if the source is even, it is nearer in -.
  const auto plus_half_way = [&](u32 dim, u32 from) {
    if (grouped && dim < 2 && (options.balanced || shape.radix(dim) > 2)) return from % 2 == 1;
    return !options.balanced || from % 2 == 0;
  };
  // Position of the dateline in the direction of travel. Half-way routes start at an even distance from the dateline,
  // which gives the best balance (Table 1).
  const auto dateline = [&](u32 dim) { return grouped && dim < 2 ? shape.radix(dim) - 1 : 0; };
  std::vector<u32> select[kDirections];
  for (u32 direction = 0; direction < kDirections; ++direction) {
    const u32 d = dimension_of(direction), k = shape.radix(d);
    const bool search = options.optimised && shape.ring(d);
    if (direction < 3) {
      select[direction] = select_bits(k, dateline(d), search, options, [&](u32 s) { return plus_half_way(d, s); });
      continue;
    }
    // The mirror image of the + direction: a packet in the - direction meets node n of its ring as node k - 1 - n.
    const std::vector<u32> seen =
        select_bits(k, dateline(d), search, options, [&](u32 s) { return !plus_half_way(d, k - 1 - s); });
    select[direction].assign(k, 0);
    for (u32 s = 0; s < k; ++s)
      for (u32 e = 0; e < k; ++e) select[direction][k - 1 - s] |= (seen[s] >> e & 1) << (k - 1 - e);
  }

  for (u32 n = 0; n < nodes; ++n) {
    Registers& r = tables.registers[n];
    r = Registers{};
    r.pwho = shape.address(n);
    r.lut_mode = static_cast<u8>(options.lut_mode);
    r.lwho = static_cast<u16>(options.logical[n]);
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const u32 d = dimension_of(direction), at = shape.at(n, d);
      // The search assumes a complete ring with the dateline at its end.
      const bool searched = shape.full() || (d != 2 && shape.line(n, d).size() == shape.radix(d));
      const u32 bits = searched ? select[direction][at] : 0;
      r.vcsel[direction] =
          static_cast<u16>((bits & 0xFF) | (is_dateline(shape, n, direction, dateline(d) != 0) ? kDateline : 0));
      if (options.full_select) tables.full_select[n * kDirections + direction] = bits;
      const bool broken = options.broken[n] >> direction & 1;
      if (broken) r.chan[direction] |= kIgnoreNormal | kIgnoreSpecial;
      if (broken || shape.neighbour(n, direction) == kNone) r.chan[direction] |= kNoAdapt;
    }
  }
  for (u32 n = 0; n < nodes; ++n)
    for (u32 entry = 0; entry < tables.entries; ++entry) {
      if (target[entry] == kNone) continue;
      u32 signs = 0;
      for (u32 d = 0; d < 3; ++d) {
        const u32 from = shape.at(n, d), k = shape.radix(d);
        u32 aim = ordinate(target[entry], d);
        // Of the destination's pair of nodes, the node that is farther from half-way round the ring decides the sign.
        // If the source is in the pair, the other node decides.
        if (grouped && d < 2) {
          const bool own = from / 2 == aim / 2;
          if (own || 2 * ((aim + k - from) % k) == k) ++aim;
          if (own && aim == from) --aim;
        }
        signs |= shorter_sign(shape, d, from, aim, plus_half_way(d, from)) << d;
      }
      tables.lut[std::size_t{n} * tables.entries + entry] =
          make_tag(target[entry], signs, kNoHop, false, options.adaptive);
    }
  return tables;
}

std::vector<BarrierRegister> make_barrier_tree(const Shape& shape, const std::vector<u8>& broken,
                                               const std::vector<u32>& members, u32 root) {
  const u32 nodes = shape.nodes();
  BarrierRegister outside{};
  outside.parent = kNoParent;
  std::vector<BarrierRegister> tree(nodes, outside);
  std::vector<u32> hops(nodes, kNone), reached{root};  // nodes reached so far, nearest first
  hops[root] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const u32 next = shape.neighbour(reached[i], direction);
      if (next == kNone || (broken[reached[i]] >> direction & 1) || hops[next] != kNone) continue;
      hops[next] = hops[reached[i]] + 1;
      reached.push_back(next);
    }
  for (u32 member : members) tree[member].children |= 1u << kNodePort;
  // Removes branches of the tree that lead to no member.
  for (auto node = reached.rbegin(); node != reached.rend(); ++node) {
    BarrierRegister& r = tree[*node];
    if (!r.children || *node == root) continue;
    for (u32 direction = 0; direction < kDirections && r.parent == kNoParent; ++direction) {
      const u32 up = shape.neighbour(*node, direction);
      if (up == kNone || (broken[*node] >> direction & 1) || hops[up] + 1 != hops[*node]) continue;
      r.parent = static_cast<u8>(direction);
      tree[up].children |= static_cast<u8>(1u << opposite(direction));
    }
  }
  return tree;
}

u32 latency_formula(const Table& t, u32 hops, u32 dims) {
  const u32 turns = dims - 1;
  const u32 turn = t.link_delay + t.wait, straight = t.short_circuit ? t.link_delay : turn;
  const u32 source = t.inject_delay + t.link_delay, destination = t.wait + t.eject_delay;
  if (!hops) return t.inject_delay + t.eject_delay;
  return source + turns * turn + (hops - 1 - turns) * straight + destination;
}

}  // namespace flitlab::t3e
