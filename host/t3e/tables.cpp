#include "host/t3e/tables.hpp"

#include <algorithm>
#include <bit>

#include "host/config/check.hpp"
#include "host/error.hpp"
#include "host/t3e/vc_balance.hpp"
#include "host/topology/metrics.hpp"

namespace flitlab::t3e {
namespace {

/// SELECT bits of one direction of a ring for a source, one for every destination; nodes as seen by packets of that
/// direction. `half_way(source)`: whether its half-way routes go in this direction, which all even nodes have in
/// common, and all odd ones.
template <class HalfWay>
std::vector<u32> select_bits(u32 ring, u32 dateline, bool search, bool limited, HalfWay half_way) {
  std::vector<u32> select(ring, 0);
  if (!search || !std::has_single_bit(ring) || ring < 4) return select;
  const VcTable& table = machine_table(ring, limited, u32{half_way(0)} | u32{half_way(1)} << 1, dateline);
  for (u32 s = 0; s < ring; ++s)
    for (u32 d = 0; d < ring; ++d) select[s] |= u32{table.bit(s, d)} << d;
  return select;
}

}  // namespace

Shape::Shape(const std::vector<u32>& extents) {
  const auto refuse = [&](const std::string& why) {
    throw ConfigError("topology.shape = " + shown(Value{IntList(extents.begin(), extents.end())}) +
                      " is no T3E: " + why + " X is 2, 4 or 8; Y is 2 or a multiple of 4 up to 32; Z is 1 to 9.");
  };
  if (extents.size() != 3) refuse("it has three dimensions.");
  const u32 x = extents[0], y = extents[1], z = extents[2];
  if (x != 2 && x != 4 && x != 8) refuse("X is " + std::to_string(x) + ".");
  if (y != 2 && (y % 4 || y == 0 || y > 32)) refuse("Y is " + std::to_string(y) + ".");
  if (z < 1 || z > 9) refuse("Z is " + std::to_string(z) + ".");
  if (x * y * z > kMostPes)
    refuse("its " + std::to_string(x * y * z) + " PEs are more than the " + std::to_string(kMostPes) +
           " that routing tables can tell apart.");
  for (u32 d = 0; d < 3; ++d) radix[d] = extents[d];
}

/// Channels, both ways, through the narrowest of the planes that halve the machine across a dimension.
static u64 narrowest_cut(const Shape& shape) {
  u64 narrowest = kNone;
  for (u32 d = 0; d < 3; ++d)
    if (const u32 k = shape.radix[d]; k > 1)
      narrowest = std::min(narrowest, u64{shape.nodes()} / k * 2 * (shape.ring(d) ? 2 : 1));
  return narrowest;
}

Topology make_topology(const Shape& shape) {
  Topology t;
  t.kind = "t3e";
  t.shape = {shape.radix[0], shape.radix[1], shape.radix[2]};
  t.wraps = true;
  t.routers = t.terminals = shape.nodes();
  t.network_ports = kDirections;
  t.ports = kPorts;
  t.dim_shift = {0, 8, 16};
  t.dim_mask = {7, 31, 15};
  t.peers.resize(std::size_t{t.routers} * kPorts);
  t.address.resize(t.routers);
  u32 at[3];
  for (u32 n = 0; n < t.routers; ++n) {
    at[0] = n % shape.radix[0];
    at[1] = n / shape.radix[0] % shape.radix[1];
    at[2] = n / shape.radix[0] / shape.radix[1];
    t.address[n] = pack_address(at[0], at[1], at[2]);
    t.peers[n * kPorts + kNodePort] = {n, 0, 1};
    u32 stride = 1;
    for (u32 d = 0; d < 3; stride *= shape.radix[d++]) {
      const u32 k = shape.radix[d];
      for (const u32 direction : {d, d + 3}) {
        const u32 edge = direction < 3 ? k - 1 : 0;
        if (at[d] == edge && !shape.ring(d)) continue;
        const u32 next = direction < 3 ? (at[d] + 1) % k : (at[d] + k - 1) % k;
        t.peers[n * kPorts + direction] = {n + (next - at[d]) * stride, static_cast<u16>(opposite(direction)), 0};
        ++t.channels;
      }
    }
  }
  t.bisection_channels = narrowest_cut(shape);
  return t;
}

Tag make_tag(u32 address, u32 signs, u32 initial, bool final, bool adapt) {
  return ordinate(address, 0) | (signs & 1) << 3 | ordinate(address, 1) << 4 | (signs >> 1 & 1) << 9 |
         ordinate(address, 2) << 10 | (signs >> 2 & 1) << 14 | initial << 15 | u32{final} << 17 | u32{adapt} << 18;
}

u32 shorter_way(const Shape& shape, u32 dim, u32 from, u32 to, bool plus_half_way) {
  if (!shape.ring(dim)) return to < from;
  const u32 k = shape.radix[dim], ahead = (to + k - from) % k;
  return 2 * ahead == k ? !plus_half_way : 2 * ahead > k;
}

Tables make_tables(const Shape& shape, const Topology& topology, const TableOptions& options) {
  const u32 nodes = topology.routers;
  Tables tables;
  tables.registers.resize(nodes);
  const bool grouped = nodes > kLutRegisters;
  tables.entries = grouped ? nodes / 4 : nodes;
  tables.lut.resize(std::size_t{nodes} * tables.entries);
  if (options.full_select) tables.full_select.resize(std::size_t{nodes} * kDirections);

  // In mode 1 two neighbours in X, and two in Y, share their directions, which leaves no choice half-way: an odd node's
  // neighbour pair half-way round is nearer in +, an even node's in -.
  const auto plus_half_way = [&](u32 dim, u32 from) {
    if (grouped && dim < 2) return from % 2 == 1;
    return !options.balanced || from % 2 == 0;
  };
  // As seen in its direction. Half-way routes start at an even distance from it, which balances best (Table 1).
  const auto dateline = [&](u32 dim) { return grouped && dim < 2 ? shape.radix[dim] - 1 : 0; };
  std::vector<u32> select[kDirections];
  for (u32 direction = 0; direction < kDirections; ++direction) {
    const u32 d = dimension_of(direction), k = shape.radix[d];
    const bool search = options.optimised && shape.ring(d);
    if (direction < 3) {
      select[direction] =
          select_bits(k, dateline(d), search, !options.full_select, [&](u32 s) { return plus_half_way(d, s); });
      continue;
    }
    // The mirror image: what a packet sees as node n of its ring is k - 1 - n.
    const std::vector<u32> seen =
        select_bits(k, dateline(d), search, !options.full_select, [&](u32 s) { return !plus_half_way(d, k - 1 - s); });
    select[direction].assign(k, 0);
    for (u32 s = 0; s < k; ++s)
      for (u32 e = 0; e < k; ++e) select[direction][k - 1 - s] |= (seen[s] >> e & 1) << (k - 1 - e);
  }

  for (u32 n = 0; n < nodes; ++n) {
    Registers& r = tables.registers[n];
    const u32 here = topology.address[n];
    r = Registers{};
    r.pwho = here;
    const u32 x = ordinate(here, 0), y = ordinate(here, 1), z = ordinate(here, 2);
    r.lut_mode = grouped;
    r.lwho = static_cast<u16>(
        grouped ? ((z * (shape.radix[1] / 2) + y / 2) * (shape.radix[0] / 2) + x / 2) * 4 + y % 2 * 2 + x % 2 : n);
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const u32 d = dimension_of(direction), k = shape.radix[d], at = ordinate(here, d);
      const bool here_is = shape.ring(d) && (direction < 3 ? at : k - 1 - at) == dateline(d);
      r.vcsel[direction] = static_cast<u16>((select[direction][at] & 0xFF) | (here_is ? kDateline : 0));
      if (options.full_select) tables.full_select[n * kDirections + direction] = select[direction][at];
      if (topology.peer(n, direction).item == kNone) r.chan[direction] |= kNoAdapt;
    }
  }
  for (u32 n = 0; n < nodes; ++n)
    for (u32 entry = 0; entry < tables.entries; ++entry) {
      u32 to[3], signs = 0;
      if (grouped) {
        const u32 across = shape.radix[0] / 2, up = shape.radix[1] / 2;
        to[0] = entry % across * 2;
        to[1] = entry / across % up * 2;
        to[2] = entry / across / up;
      } else {
        for (u32 d = 0; d < 3; ++d) to[d] = ordinate(topology.address[entry], d);
      }
      for (u32 d = 0; d < 3; ++d) {
        const u32 from = ordinate(topology.address[n], d);
        const u32 k = shape.radix[d];
        u32 aim = to[d];
        // Of a pair the node that is farther from being half-way decides; of one's own pair, the other node.
        if (grouped && d < 2) {
          const bool own = from / 2 == to[d] / 2;
          if (own || 2 * ((aim + k - from) % k) == k) ++aim;
          if (own && aim == from) --aim;
        }
        signs |= shorter_way(shape, d, from, aim, plus_half_way(d, from)) << d;
      }
      tables.lut[std::size_t{n} * tables.entries + entry] =
          make_tag(pack_address(to[0], to[1], to[2]), signs, kNoHop, false, options.adaptive);
    }
  return tables;
}

std::vector<BarrierRegister> make_barrier_tree(const Topology& topology, u32 root) {
  std::vector<BarrierRegister> tree(topology.routers, BarrierRegister{});
  const std::vector<u32> hops = hops_from(topology, root);
  for (u32 n = 0; n < topology.routers; ++n) {
    tree[n].children |= 1u << kNodePort;
    tree[n].parent = kNoParent;
    if (n == root) continue;
    for (u32 direction = 0; direction < kDirections; ++direction) {
      const Peer& peer = topology.peer(n, direction);
      if (peer.item == kNone || hops[peer.item] + 1 != hops[n]) continue;
      tree[n].parent = static_cast<u8>(direction);
      tree[peer.item].children |= static_cast<u8>(1u << peer.port);
      break;
    }
  }
  return tree;
}

u32 latency_formula(const Table& t, u32 hops, u32 turns) {
  const u32 turn = t.link_delay + t.wait, straight = t.short_circuit ? t.link_delay : turn;
  if (!hops) return 0;
  const u32 source = t.inject_delay + t.link_delay, destination = t.wait + t.eject_delay;
  return source + turns * turn + (hops - 1 - turns) * straight + destination;
}

}  // namespace flitlab::t3e
