#pragma once
/// Hint bits that software sets so that packets avoid dead nodes (paper, "Torus network"). A packet may visit any node
/// of the box that its hint bits span between source and destination. If a dead node is in the box, the packet is
/// deterministic if no dead node is on the route in dimension order. Otherwise the packet is dynamic: links into dead
/// nodes never have tokens, so the packet goes round dead nodes as long as it has another hint bit.
///
/// Where a dead node blocks the ordered route, a dynamic packet has no escape channel. It waits for a dynamic VC that
/// leads out of a layer (nodes with one equal coordinate) that contains the dead node. Outside the layer the ordered
/// route is clear, unless another dead node blocks it. `Table::exits` orders the layers with dead nodes so that packets
/// leave them in one order and never wait in a cycle.
#include "kernels/routers/bgl/route.hpp"

namespace flitlab::bgl {

/// How packets with given hint bits reach their destination, from best to worst.
enum class RouteClass : u8 {
  kAny,      ///< in any order of hops
  kOrdered,  ///< only in the order of the escape channels
  kDynamic,  ///< round dead nodes, without deadlock
  kUnsafe,   ///< round dead nodes, with possible deadlock
  kNone,     ///< not at all, or not always
};

/// Returns the hops in `direction` from one address to the coordinate that another address has in that dimension.
template <class T>
FLITLAB_HD inline u32 hops_to(const T& t, u32 from, u32 to, u32 direction) {
  const u32 dim = direction / 2, a = coordinate(t, from, dim), b = coordinate(t, to, dim);
  const u32 up = b >= a ? b - a : b + t.radix[dim] - a;
  return direction % 2 && up ? t.radix[dim] - up : up;
}

/// Returns an address with one coordinate replaced.
template <class T>
FLITLAB_HD inline u32 with_coordinate(const T& t, u32 address, u32 dim, u32 coordinate) {
  return (address & ~(t.mask[dim] << t.shift[dim])) | coordinate << t.shift[dim];
}

template <class T>
FLITLAB_HD inline u32 next_address(const T& t, u32 address, u32 direction) {
  return with_coordinate(t, address, direction / 2, next_coordinate(t, address, direction));
}

template <class T>
FLITLAB_HD inline bool is_dead(const T& t, u32 address) {
  for (u32 i = 0; i < t.dead_count; ++i)
    if (t.dead[i] == address) return true;
  return false;
}

/// Returns the set of dead nodes in the box that hint bits span between two addresses.
template <class T>
FLITLAB_HD inline u32 dead_between(const T& t, u32 from, u32 to, u32 hints) {
  u32 inside = 0;
  for (u32 i = 0; i < t.dead_count; ++i) {
    bool in = true;
    for (u32 d = 0; d < t.dims; ++d) {
      const u32 bits = hints >> 2 * d & 3, direction = 2 * d + (bits == 2);
      in = in && hops_to(t, from, t.dead[i], direction) <= (bits ? hops_to(t, from, to, direction) : 0);
    }
    inside |= u32{in} << i;
  }
  return inside;
}

template <class T>
FLITLAB_HD inline bool is_clear_in_order(const T& t, u32 from, u32 to, u32 hints) {
  while (hints) {
    const u32 direction = escape_direction(t.order, hints), dim = direction / 2;
    const u32 corner = with_coordinate(t, from, dim, coordinate(t, to, dim));
    if (dead_between(t, from, corner, 1u << direction)) return false;
    from = corner;
    hints &= ~(1u << direction);
  }
  return true;
}

/// Returns whether node `at` is alive and a packet may visit it. The result may be true by mistake: only the straight
/// line from the source, if `at` lies on it, is tested for dead nodes.
template <class T>
FLITLAB_HD inline bool is_open(const T& t, u32 from, u32 at, u32 hints) {
  for (u32 left = hints; left; left &= left - 1)
    if (!hops_to(t, from, at, lowest_bit(left))) hints &= ~(left & (~left + 1));
  return !is_dead(t, at) && (hints & (hints - 1) || !dead_between(t, from, at, hints));
}

/// Returns whether a packet may visit node `at`, like is_open(), but also tests whether some last hop into the node is
/// possible.
template <class T>
FLITLAB_HD inline bool is_entered(const T& t, u32 from, u32 at, u32 hints) {
  if (at == from || !is_open(t, from, at, hints)) return at == from;
  for (u32 left = hints; left; left &= left - 1) {
    const u32 direction = lowest_bit(left);
    if (hops_to(t, from, at, direction) && is_open(t, from, next_address(t, at, direction ^ 1), hints)) return true;
  }
  return false;
}

/// Returns whether a packet may reach a node next to `dead` from which every direction that the packet may still take
/// leads into a dead node.
template <class T>
FLITLAB_HD inline bool has_trap(const T& t, u32 from, u32 to, u32 hints, u32 dead) {
  for (u32 left = hints; left; left &= left - 1) {
    const u32 direction = lowest_bit(left), before = next_address(t, dead, direction ^ 1);
    if (!hops_to(t, from, dead, direction) || !is_entered(t, from, before, hints)) continue;
    bool out = false;
    for (u32 others = hints; others; others &= others - 1) {
      const u32 other = lowest_bit(others);
      out |= hops_to(t, before, to, other) && !is_dead(t, next_address(t, before, other));
    }
    if (!out) return true;
  }
  return false;
}

/// Returns whether packets whose ordered route dead node `i` blocks can still take one of the exits of that node. The
/// packet is blocked in the last dimension in which it may move towards the dead node after all hops in earlier
/// dimensions. Hops in later dimensions lead out of the dead node's layers.
template <class T>
FLITLAB_HD inline bool has_exit(const T& t, u32 from, u32 to, u32 hints, u32 i) {
  bool blocks = false;
  u32 out = 0;
  for (u32 left = hints; left;) {
    const u32 direction = escape_direction(t.order, left);
    left &= ~(1u << direction);
    if (hops_to(t, from, t.dead[i], direction)) {
      blocks = true;
      out = 0;
      for (u32 later = left; later; later &= later - 1)
        if (hops_to(t, t.dead[i], to, lowest_bit(later))) out |= 1u << lowest_bit(later);
    }
    if (hops_to(t, t.dead[i], to, direction)) break;
  }
  return !blocks || out & t.exits[i];
}

template <class T>
FLITLAB_HD FLITLAB_ONE_COPY inline RouteClass route_class_of(const T& t, u32 from, u32 to, u32 hints) {
  const u32 inside = dead_between(t, from, to, hints);
  if (!inside) return RouteClass::kAny;
  if (is_clear_in_order(t, from, to, hints)) return RouteClass::kOrdered;
  if (!t.dynamic_vcs) return RouteClass::kNone;
  RouteClass way = RouteClass::kDynamic;
  for (u32 left = inside; left; left &= left - 1) {
    const u32 i = lowest_bit(left);
    if (has_trap(t, from, to, hints, t.dead[i])) return RouteClass::kNone;
    if (!has_exit(t, from, to, hints, i)) way = RouteClass::kUnsafe;
  }
  return way;
}

struct SoftwareHints {
  u32 hints;
  RouteClass way;
};

/// Returns the best hint bits between two live addresses. Routes round dead nodes are the last resort. Among the
/// others, the fewest hops count first, because a detour loads more links; at equal hops, routes with any order of hops
/// come before routes in escape order. `draw` decides ties.
template <class T>
FLITLAB_HD inline SoftwareHints best_hints(const T& t, u32 from, u32 to, u32 draw) {
  u32 needed = 0, best = kNone, count = 0;
  u64 equals = 0;  // a byte for each candidate: hint bits, then RouteClass
  for (u32 d = 0; d < t.dims; ++d) needed |= u32{coordinate(t, from, d) != coordinate(t, to, d)} << d;
  for (u32 minus = 0; minus < 8; ++minus) {
    if (minus & ~needed) continue;
    u32 hints = 0, hops = 0;
    for (u32 left = needed; left; left &= left - 1) {
      const u32 d = lowest_bit(left), direction = 2 * d + (minus >> d & 1);
      hints |= 1u << direction;
      hops += hops_to(t, from, to, direction);
    }
    const RouteClass way = route_class_of(t, from, to, hints);
    if (way == RouteClass::kNone) continue;
    const u32 cost =
        (way > RouteClass::kOrdered ? static_cast<u32>(way) << 16 : 0) + 2 * hops + (way == RouteClass::kOrdered);
    if (cost > best) continue;
    if (cost < best) best = cost, count = 0, equals = 0;
    equals |= u64{static_cast<u32>(way) << 6 | hints} << 8 * count++;
  }
  if (!count) return {0, RouteClass::kNone};
  const u32 one = static_cast<u32>(equals >> 8 * below(draw, count)) & 0xFF;
  return {one & 0x3F, static_cast<RouteClass>(one >> 6)};
}

/// Returns the hint bits that the configuration sets for a pair; 0 if it sets none.
template <class T>
FLITLAB_HD inline u32 given_hints(const T& t, u32 from, u32 to) {
  u32 low = 0, high = t.given_count;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    const GivenHints& g = t.given[middle];
    if (g.from == from && g.to == to) return g.hints;
    if (g.from < from || (g.from == from && g.to < to))
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

/// Returns the route word that software makes of `route`, whose hint bits hardware has set, for packets between two
/// addresses. Packets that go round dead nodes become dynamic and of normal priority, because high-priority packets
/// take dimension order.
template <class T>
FLITLAB_HD FLITLAB_ONE_COPY inline u32 software_route(const T& t, u32 from, u32 to, u32 route, u32 draw) {
  const u32 given = given_hints(t, from, to);
  SoftwareHints chosen{given ? given : route & kHints, RouteClass::kAny};
  chosen.way = route_class_of(t, from, to, chosen.hints);
  if (!given && chosen.way != RouteClass::kAny) chosen = best_hints(t, from, to, draw);
  route = (route & ~u32{kHints}) | chosen.hints;
  if (chosen.way == RouteClass::kOrdered) route &= ~u32{kDynamic};
  if (chosen.way > RouteClass::kOrdered) route = (route & ~u32{kHighPriority}) | kDynamic;
  return route;
}

}  // namespace flitlab::bgl
