#include "host/topology/families.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "host/topology/galois.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/streams.hpp"

namespace flitlab {
namespace {

Links plain(const char* kind, u32 routers) { return {.kind = kind, .routers = routers, .with_terminals = routers}; }

Links ranked(const char* kind, u32 routers) {
  Links links = plain(kind, routers);
  links.has_ranks = true;
  return links;
}

/// Returns a text for each router.
template <class Text>
std::vector<std::string> places(u32 routers, Text text) {
  std::vector<std::string> list;
  for (u32 r = 0; r < routers; ++r) list.push_back(text(r));
  return list;
}

/// Returns the coordinates of each router in a grid, as text.
std::vector<std::string> coordinates(u32 routers, const std::vector<u32>& shape) {
  return places(routers, [&](u32 r) {
    std::string text;
    for (u32 radix : shape) text += (text.empty() ? "" : ",") + std::to_string(r % radix), r /= radix;
    return text;
  });
}

/// Returns the group that global channel k of a group leads to, and the channel's number there.
std::pair<u32, u32> other_end(const GroupSizes& s, u32 group, u32 k) {
  const u32 others = s.groups - 1, offset = k % others, first = k - offset;
  switch (s.arrangement) {
    case Arrangement::kAbsolute: {
      const u32 to = offset < group ? offset : offset + 1;
      return {to, first + (group < to ? group : group - 1)};
    }
    case Arrangement::kRelative: return {(group + offset + 1) % s.groups, first + others - 1 - offset};
    case Arrangement::kPalmTree: return {(group + s.groups - offset - 1) % s.groups, first + others - 1 - offset};
    case Arrangement::kCirculant: {
      const u32 distance = offset / 2 + 1;
      return {(group + (offset % 2 ? s.groups - distance : distance)) % s.groups, first + (offset ^ 1)};
    }
  }
  return {};
}

/// Calls join(group, router of the group, other group, its router) for every global link.
template <class Join>
void for_each_global(const GroupSizes& s, Join join) {
  for (u32 group = 0; group < s.groups; ++group)
    for (u32 k = 0; k < s.routers * s.global; ++k) {
      const auto [to, back] = other_end(s, group, k);
      if (group < to) join(group, k / s.global, to, back / s.global);
    }
}

/// Replaces a random link x - y by the links a - x and b - y, for two ports of routers a and b that cannot be joined to
/// each other (Singla et al., section 3).
void exchange(u32 a, u32 b, const Random4& random, std::vector<std::set<u32>>& joined) {
  const u32 x = below(random.word[2], static_cast<u32>(joined.size()));
  if (joined[x].empty()) return;
  const u32 y = *std::next(joined[x].begin(), below(random.word[3], static_cast<u32>(joined[x].size())));
  if (a == x || a == y || b == x || b == y || joined[a].count(x) || joined[b].count(y)) return;
  joined[x].erase(y), joined[y].erase(x);
  joined[a].insert(x), joined[x].insert(a);
  joined[b].insert(y), joined[y].insert(b);
}

/// Adds links until every router has `degree` links to different routers.
void draw_links(u32 routers, u32 degree, u64 seed, u32 attempt, std::vector<std::set<u32>>& joined) {
  joined.assign(routers, {});
  std::vector<u32> free;  // a router for each port without a link
  for (u32 r = 0; r < routers; ++r) free.insert(free.end(), degree, r);
  for (u32 draw = 0, failures = 0; !free.empty(); ++draw) {
    const Random4 random = philox(seed, stream::kTopology, attempt, draw);
    const u32 n = static_cast<u32>(free.size()), i = below(random.word[0], n), j = below(random.word[1], n);
    const u32 a = free[i], b = free[j];
    if (i == j) continue;
    if (a != b && !joined[a].count(b)) {
      joined[a].insert(b);
      joined[b].insert(a);
    } else {
      const std::size_t before = joined[a].size();
      if (++failures > 20 * degree) exchange(a, b, random, joined);
      if (joined[a].size() == before) continue;
    }
    failures = 0;
    free.erase(free.begin() + std::max(i, j));
    free.erase(free.begin() + std::min(i, j));
  }
}

/// Returns whether the global channels of a group lead to all other groups equally often.
bool fits(const GroupSizes& s) {
  const bool circulant = s.arrangement == Arrangement::kCirculant;
  return s.groups > 1 && s.routers * s.global % (s.groups - 1) == 0 &&
         (!circulant || (s.groups % 2 && s.global % 2 == 0));
}

/// Returns the numbers of groups that fit and are next to the given one: "9", "5 or 9". There is one: 2, or 3 for the
/// circulant arrangement with an even number of global channels.
std::string nearest_groups(const GroupSizes& s) {
  GroupSizes below = s, above = s;
  while (below.groups > 1 && !fits(below)) --below.groups;
  while (above.groups <= s.routers * s.global && !fits(above)) ++above.groups;
  std::string text = below.groups > 1 ? std::to_string(below.groups) : "";
  if (fits(above) && above.groups != below.groups) text += (text.empty() ? "" : " or ") + std::to_string(above.groups);
  return text;
}

bool is_connected(const std::vector<std::set<u32>>& joined) {
  const u32 routers = static_cast<u32>(joined.size());
  Parts parts(routers);
  u32 count = routers;
  for (u32 r = 0; r < routers; ++r)
    for (u32 next : joined[r]) count -= parts.join(r, next);
  return count == 1;
}

}  // namespace

Links full_mesh(u32 routers) {
  Links links = ranked("full_mesh", routers);
  for (u32 a = 0; a < routers; ++a)
    for (u32 b = a + 1; b < routers; ++b) links.join(a, b);
  return links;
}

Links hyperx(const std::vector<u32>& shape, u32 copies) {
  u32 routers = 1;
  for (u32 radix : shape) routers *= radix;
  Links links = ranked("hyperx", routers);
  links.place = coordinates(routers, shape);
  u32 stride = 1;
  for (u16 d = 0; d < shape.size(); stride *= shape[d++])
    for (u32 a = 0; a < routers; ++a)
      for (u32 x = a / stride % shape[d] + 1; x < shape[d]; ++x)
        for (u32 copy = 0; copy < copies; ++copy) links.join(a, a + (x - a / stride % shape[d]) * stride, d, d);
  return links;
}

std::string misfit(const GroupSizes& s) {
  if (fits(s)) return "";
  const bool circulant = s.arrangement == Arrangement::kCirculant;
  std::string text = "a group has " + std::to_string(s.routers * s.global) +
                     " global channels, which must lead to each of the " + std::to_string(s.groups - 1) +
                     " other groups equally often";
  if (circulant) text += "; the circulant arrangement also needs an odd number of groups and even global_channels";
  if (!circulant || s.global % 2 == 0)
    return text + ". The next number of groups that fits is " + nearest_groups(s) + ".";
  GroupSizes even = s;
  even.global = s.global > 1 ? s.global - 1 : 2;
  return text + ". Use topology.global_channels = " + std::to_string(even.global) +
         " with topology.groups = " + nearest_groups(even) + ", or another arrangement.";
}

Links dragonfly(const GroupSizes& s) {
  Links links = ranked("dragonfly", s.groups * s.routers);
  for (u32 r = 0; r < links.routers; ++r) links.group.push_back(static_cast<u16>(r / s.routers));
  links.place = places(links.routers, [&](u32 r) { return "group " + std::to_string(links.group[r]); });
  for (u32 r = 0; r < links.routers; ++r)
    for (u32 other = r + 1; other / s.routers == r / s.routers; ++other) links.join(r, other, 0, 0);
  for_each_global(s, [&](u32 a, u32 i, u32 b, u32 j) { links.join(a * s.routers + i, b * s.routers + j, 1, 1); });
  return links;
}

Links megafly(const GroupSizes& s) {
  const u32 leaves = s.groups * s.routers;
  Links links = ranked("megafly", 2 * leaves);
  links.with_terminals = leaves;
  for (u32 r = 0; r < links.routers; ++r) links.group.push_back(static_cast<u16>(r / s.routers % s.groups));
  links.place = places(links.routers, [&](u32 r) {
    return (r < leaves ? "leaf, group " : "spine, group ") + std::to_string(links.group[r]);
  });
  for (u32 leaf = 0; leaf < leaves; ++leaf)
    for (u32 i = 0; i < s.routers; ++i) links.join(leaf, leaves + leaf / s.routers * s.routers + i, 0, 2);
  for_each_global(
      s, [&](u32 a, u32 i, u32 b, u32 j) { links.join(leaves + a * s.routers + i, leaves + b * s.routers + j, 1, 1); });
  return links;
}

Links slim_fly(u32 q) {
  const GaloisField f(q);
  // Differences that join routers of the same subgroup: X for the first subgraph, X' for the second (the paper's
  // section II.B.1; for q = 4w - 1 and 4w from Hafner, 2004).
  std::vector<u32> first, second;
  const u32 half = (q - 1) / 2;
  if (q % 4 != 3) {
    for (u32 i = 0; i < q - 1; i += 2) first.push_back(f.power(i)), second.push_back(f.power(i + 1));
  } else {
    const u32 w = (q + 1) / 4;  // even powers below 2w and odd powers from 2w - 1 on, and their negatives
    for (u32 i = 0; i + 1 < 2 * w; i += 2) first.push_back(f.power(i)), first.push_back(f.power(i + half));
    for (u32 i = 1; i + 1 <= 2 * w; i += 2) second.push_back(f.power(i)), second.push_back(f.power(i + half));
  }
  Links links = ranked("slim_fly", 2 * q * q);
  links.place = places(links.routers, [q](u32 r) {
    return std::to_string(r % q) + "," + std::to_string(r / q % q) + "," + std::to_string(r / q / q);
  });
  const auto router = [q](u32 side, u32 x, u32 y) { return (side * q + x) * q + y; };
  for (u32 side = 0; side < 2; ++side)
    for (u32 x = 0; x < q; ++x)
      for (u32 y = 0; y < q; ++y) {
        std::set<u32> ends;
        for (u32 difference : side ? second : first) ends.insert(f.add(y, difference));
        for (u32 end : ends)
          if (y < end) links.join(router(side, x, y), router(side, x, end));
      }
  for (u32 x = 0; x < q; ++x)
    for (u32 m = 0; m < q; ++m)
      for (u32 c = 0; c < q; ++c) links.join(router(0, x, f.add(f.multiply(m, x), c)), router(1, m, c));
  return links;
}

Links polarfly(u32 q) {
  const GaloisField f(q);
  std::vector<std::array<u32, 3>> points;  // the first coordinate that is not 0 is 1
  for (u32 x = 0; x < q; ++x)
    for (u32 y = 0; y < q; ++y) points.push_back({1, x, y});
  for (u32 y = 0; y < q; ++y) points.push_back({0, 1, y});
  points.push_back({0, 0, 1});
  Links links = ranked("polarfly", static_cast<u32>(points.size()));
  for (u32 a = 0; a < points.size(); ++a)
    for (u32 b = a + 1; b < points.size(); ++b) {
      u32 product = 0;
      for (u32 i = 0; i < 3; ++i) product = f.add(product, f.multiply(points[a][i], points[b][i]));
      if (!product) links.join(a, b);
    }
  return links;
}

Links polarstar(u32 q, u32 supernode) {
  const Links structure = polarfly(q);
  const GaloisField f(supernode);
  std::set<u32> squares;
  for (u32 i = 0; i < supernode - 1; i += 2) squares.insert(f.power(i));
  Links links = plain("polarstar", structure.routers * supernode);
  links.place = places(links.routers, [&](u32 r) { return "supernode " + std::to_string(r / supernode); });
  for (u32 r = 0; r < links.routers; ++r) {
    const u32 first = r / supernode * supernode;
    for (u32 x = r - first + 1; x < supernode; ++x)
      if (squares.count(f.add(x, f.negative(r - first)))) links.join(r, first + x);
  }
  for (const Link& link : structure.links)
    for (u32 x = 0; x < supernode; ++x)
      links.join(link.a * supernode + x, link.b * supernode + f.multiply(f.power(1), x));
  return links;
}

Links cmesh(const std::vector<u32>& shape, u32 express) {
  u32 routers = 1;
  for (u32 radix : shape) routers *= radix;
  Links links = ranked("cmesh", routers);
  links.place = coordinates(routers, shape);
  // Ranks rise along a row in either direction, and from dimension to dimension.
  u32 stride = 1, rank = 0;
  for (u32 radix : shape) {
    for (u32 a = 0; a < routers; ++a) {
      const u32 x = a / stride % radix;
      const auto join_next = [&](u32 distance) {
        if (x + distance < radix)
          links.join(a, a + distance * stride, static_cast<u16>(rank + x),
                     static_cast<u16>(rank + radix - 1 - (x + distance)));
      };
      join_next(1);
      if (x % express == 0) join_next(express);
    }
    stride *= radix;
    rank += radix;
  }
  return links;
}

Links jellyfish(u32 routers, u32 degree, u64 seed) {
  Links links = plain("jellyfish", routers);
  std::vector<std::set<u32>> joined;
  for (u32 attempt = 0;; ++attempt) {
    draw_links(routers, degree, seed, attempt, joined);
    if (is_connected(joined)) break;
  }
  for (u32 a = 0; a < routers; ++a)
    for (u32 b : joined[a])
      if (a < b) links.join(a, b);
  return links;
}

Links fat_tree(const std::vector<u32>& children, const std::vector<u32>& parents) {
  const u32 levels = static_cast<u32>(children.size());
  // A router of level i is named by digits: for j < i the parent it belongs to, below parents[j]; for j >= i the
  // subtree, below children[j]. Its links up change digit i from a child's number to a parent's.
  std::vector<u32> count(levels + 1), first(levels + 1, 0);
  for (u32 level = 0; level <= levels; ++level) {
    count[level] = 1;
    for (u32 j = 0; j < levels; ++j) count[level] *= j < level ? parents[j] : children[j];
    if (level) first[level] = first[level - 1] + count[level - 1];
  }
  Links links = ranked("fat_tree", first[levels] + count[levels]);
  links.with_terminals = count[0];
  links.place = places(links.routers, [&](u32 r) {
    u32 level = levels;
    while (r < first[level]) --level;
    return "level " + std::to_string(level);
  });
  u32 stride = 1;  // of digit `level`: the product of the radices of the digits before it
  for (u32 level = 0; level < levels; stride *= parents[level++])
    for (u32 i = 0; i < count[level]; ++i) {
      const u32 low = i % stride, high = i / stride / children[level];
      for (u32 parent = 0; parent < parents[level]; ++parent)
        links.join(first[level] + i, first[level + 1] + low + (parent + high * parents[level]) * stride,
                   static_cast<u16>(level), static_cast<u16>(2 * levels - 1 - level));
    }
  return links;
}

}  // namespace flitlab
