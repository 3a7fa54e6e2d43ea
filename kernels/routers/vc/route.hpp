#pragma once
/// Route computation: chooses an output port and the virtual channels allowed there, from router, packet and input VC.
/// Here: routes in meshes, tori, rings and hypercubes; turns.hpp has the turn models of meshes, and table_routes.hpp
/// the routes of other networks. Dally & Towles chapters 8 to 11 (routing) and 14 (deadlock avoidance by datelines and
/// escape channels).
#include "kernels/routers/vc/hyperx_routes.hpp"
#include "kernels/routers/vc/turns.hpp"

namespace flitlab::vc {

/// Returns whether the packet travels in the - direction. Half-way around an even ring both directions are minimal; a
/// bit of a hash of (source, packet number) decides, so that ties split evenly and each packet keeps its direction.
template <class T>
FLITLAB_INLINE bool goes_minus(const T& t, const Packet& packet, u32 dim, u32 from, u32 to) {
  const bool below = to < from;
  if (!t.wraps) return below;
  // Without branches, because they would be unpredictable.
  const u32 radix = t.dim_radix[dim];
  const u32 plus = to - from + (radix & (0 - u32{below}));
  const bool tie_break = (mix64((u64{packet.src} << 32) | packet.id) >> dim) & 1;
  return (2 * plus > radix) | ((2 * plus == radix) & tie_break);
}

template <class T>
FLITLAB_INLINE u32 direction_port(const T& t, u32 dim, bool minus) {
  return t.one_port_per_dim ? dim : 2 * dim + u32{minus};
}

/// Returns the dateline class of a hop: 0 if the packet has yet to cross the wrap-around channel of this dimension
/// (that hop included), otherwise 1.
FLITLAB_INLINE u32 dateline_class(bool minus, u32 from, u32 to) {
  return 1 - ((u32{minus} & u32{to > from}) | (u32{!minus} & u32{to < from}));  // no branch, as above
}

/// Returns whether a way that does not cross the wrap-around channel crosses the middle of the ring.
template <class T>
FLITLAB_INLINE bool crosses_middle(const T& t, u32 dim, u32 from, u32 to) {
  const u32 behind = (t.dim_radix[dim] + 1) / 2;  // the first coordinate behind the middle
  return (from < behind) != (to < behind);
}
/// Returns the class of virtual channels that a packet draws for a dimension: another bit of the hash.
FLITLAB_INLINE u32 draws_class_1(const Packet& packet, u32 dim) {
  return static_cast<u32>(mix64((u64{packet.src} << 32) | packet.id)) >> (31 - dim) & 1;
}

/// Returns one hop in dimension order toward `target`; undefined if `target` is `here`. `first_class`: the first of the
/// routing classes that this part of the route may use.
template <class T>
FLITLAB_INLINE Route dimension_order(const T& t, const Packet& packet, u32 here, u32 target, bool reverse,
                                     u32 first_class, u32 in_port, u32 in_vc) {
  const u32 differ = here ^ target;
  const u32 dim = t.dim_of_bit[reverse ? log2_floor(differ | 1) : lowest_bit(differ | 1u << 31)];
  const u32 from = coordinate(t, here, dim), to = coordinate(t, target, dim);
  const bool minus = goes_minus(t, packet, dim, from, to);
  const u16* masks = t.class_mask[packet.message_class];
  Route route{direction_port(t, dim, minus), masks[first_class]};
  if (t.wraps) {
    const u32 crossed = dateline_class(minus, from, to);
    route.allowed = masks[first_class + crossed];
    if (t.vc_assignment == VcAssignment::kAny) {
      route.allowed = t.message_mask[packet.message_class];
    } else if (t.vc_assignment == VcAssignment::kByCrossing || t.vc_assignment == VcAssignment::kTwoDatelines) {
      // The packet chooses its class when it enters the ring, and keeps it: a minimal path over the wrap-around channel
      // never crosses the middle of the ring. After Valiant's intermediate router the packet chooses again, even if it
      // continues in the same dimension.
      const bool straight = in_port < t.network_ports && in_port / 2 == dim &&
                            (((masks[first_class] | masks[first_class + 1]) >> in_vc) & 1);
      u32 chosen = 1 - crossed;
      if (t.vc_assignment == VcAssignment::kTwoDatelines && crossed && !crosses_middle(t, dim, from, to))
        chosen = draws_class_1(packet, dim);
      route.allowed = masks[first_class + (straight ? (masks[first_class + 1] >> in_vc) & 1 : chosen)];
    } else if (t.vc_assignment == VcAssignment::kBalanced && crossed) {
      // A packet that never crosses the wrap-around channel may use either class, but must not return from class 1 to
      // 0. A packet that has just crossed it came on class 0 to the edge of the ring (`from`), and continues in class
      // 1.
      const bool straight = in_port < t.network_ports && in_port / 2 == dim;
      const bool was_high = straight && ((masks[first_class + 1] >> in_vc) & 1);
      const bool just_crossed = straight && (minus ? from == t.dim_radix[dim] - 1 : from == 0);
      if (!was_high && !just_crossed) route.allowed |= masks[first_class];
    }
  }
  return route;
}

/// Minimal adaptive routing with escape channels (Duato): chooses the productive port with a free adaptive VC and the
/// most credits; ties go to the lowest dimension. If no adaptive VC is free, it chooses the escape VC in dimension
/// order. The choice is made again in every cycle.
template <class T, class Out>
FLITLAB_INLINE Route minimal_adaptive(const T& t, const Packet& packet, const Out& outputs, u32 here, u32 in_port,
                                      u32 in_vc) {
  const u16* masks = t.class_mask[packet.message_class];
  const u32 adaptive = masks[t.wraps ? 2 : 1];
  const u32 needed = t.atomic_adaptive ? t.buffer_flits : credits_to_take(t, packet.flits);
  Route best;
  u32 most = 0;
  for (u32 differ = here ^ packet.dst; differ;) {
    const u32 dim = t.dim_of_bit[lowest_bit(differ)];
    differ &= ~(t.dim_mask[dim] << t.dim_shift[dim]);
    const u32 from = coordinate(t, here, dim), to = coordinate(t, packet.dst, dim);
    const u32 port = direction_port(t, dim, goes_minus(t, packet, dim, from, to));
    const u32 free = outputs.free(port, adaptive, needed);
    if (!free) continue;
    const u32 credits = 1 + outputs.credits(port, adaptive);
    if (credits > most) {
      most = credits;
      best = Route{port, static_cast<u16>(free)};
    }
  }
  if (best.port != kNone) return best;
  return dimension_order(t, packet, here, packet.dst, false, 0, in_port, in_vc);
}

/// Minimal adaptive routing with its options: packets may take only the port of their lowest dimension, prefer adaptive
/// VCs there or not, and may have to stay on escape VCs.
template <class T, class Out>
FLITLAB_INLINE Route minimal_adaptive_with_options(const T& t, const Packet& packet, const Out& outputs, u32 here,
                                                   u32 in_port, u32 in_vc) {
  if (t.selection == Selection::kMostCredits && !t.stay_on_escape)
    return minimal_adaptive(t, packet, outputs, here, in_port, in_vc);
  const u32 adaptive = t.class_mask[packet.message_class][t.wraps ? 2 : 1];
  const Route escape = dimension_order(t, packet, here, packet.dst, false, 0, in_port, in_vc);
  if (t.stay_on_escape && in_port < t.network_ports && !((adaptive >> in_vc) & 1)) return escape;
  if (t.selection == Selection::kMostCredits) return minimal_adaptive(t, packet, outputs, here, in_port, in_vc);
  const u32 needed = t.atomic_adaptive ? t.buffer_flits : credits_to_take(t, packet.flits);
  u32 free = outputs.free(escape.port, adaptive, needed);
  if (t.selection == Selection::kFirstOrEscape)
    free |= outputs.free(escape.port, escape.allowed, credits_to_take(t, packet.flits));
  return free ? Route{escape.port, static_cast<u16>(free)} : escape;
}

/// Returns whether an algorithm needs more registers of a GPU than some of its kernels have: the turn models, and
/// routes from tables other than a port and a layer for each pair of routers.
template <class T>
FLITLAB_INLINE bool has_long_routes(const T& t) {
  return (t.by_tables && t.algorithm != Algorithm::kTable) || forbids_turns(t.algorithm);
}

/// Returns the route of the packet at the front of input VC (in_port, in_vc) of a router. `kLongRoutes`: whether
/// has_long_routes() may be true; `kOptions`: whether minimal adaptive routing may have options other
/// than the default ones.
template <bool kLongRoutes = true, bool kOptions = true, class T, class Out>
FLITLAB_INLINE Route compute_route(const T& t, const Out& outputs, u32 router_index, Packet& packet, u32 in_port,
                                   u32 in_vc) {
  if constexpr (!T::kDimensionOrder)
    if (t.by_tables)
      return !kLongRoutes            ? layered_route(t, outputs, router_index, packet)
             : deroutes(t.algorithm) ? hyperx_route(t, outputs, router_index, packet, in_port, in_vc)
                                     : table_route(t, outputs, router_index, packet, in_port, in_vc);
  const u32 here = t.address[router_index];
  u32 target = packet.dst;
  u32 first_class = 0;
  if (t.algorithm == Algorithm::kValiant || t.algorithm == Algorithm::kRomm) {
    if (here == packet.via) packet.route_bits |= kPastIntermediate;
    if (packet.route_bits & kPastIntermediate)
      first_class = t.wraps ? 2 : 1;
    else
      target = packet.via;
  }
  const Route out{packet.dst_port, t.message_mask[packet.message_class]};
  if constexpr (T::kDimensionOrder) {  // computes both routes: a branch would be unpredictable
    const Route on = dimension_order(t, packet, here, target, false, first_class, in_port, in_vc);
    const u32 here_mask = 0 - u32{here == target};
    return Route{(out.port & here_mask) | (on.port & ~here_mask),
                 static_cast<u16>((out.allowed & here_mask) | (on.allowed & ~here_mask))};
  }
  if (here == target) return out;
  if constexpr (kLongRoutes)
    if (forbids_turns(t.algorithm)) return with_permitted_turns(t, packet, outputs, here);
  switch (t.algorithm) {
    case Algorithm::kMinimalAdaptive:
      if constexpr (kOptions) return minimal_adaptive_with_options(t, packet, outputs, here, in_port, in_vc);
      return minimal_adaptive(t, packet, outputs, here, in_port, in_vc);
    case Algorithm::kO1Turn: {
      const bool reverse = packet.route_bits & kReverseOrder;
      return dimension_order(t, packet, here, target, reverse, reverse ? 1 : 0, in_port, in_vc);
    }
    default: return dimension_order(t, packet, here, target, false, first_class, in_port, in_vc);
  }
}

/// Chooses, once and at the source, the intermediate router or the dimension order.
template <class T>
FLITLAB_INLINE void plan_route(const T& t, u64 seed, u32 source_address, Packet& packet) {
  packet.route_bits = 0;
  packet.via = 0;
  if (!goes_via(t) && t.algorithm != Algorithm::kRomm && t.algorithm != Algorithm::kO1Turn) return;
  const Random4 r = philox(seed, flitlab::stream::kRouting, packet.src, packet.id);
  if (t.algorithm == Algorithm::kO1Turn) {
    if (r.word[0] & 1) packet.route_bits = kReverseOrder;
  } else if (goes_via(t)) {
    packet.via = t.address[below(r.word[0], t.terminal_routers)];
  } else {
    for (u32 dim = 0; dim < t.dims; ++dim) {  // ROMM: uniform inside the minimal box
      const u32 a = coordinate(t, source_address, dim), b = coordinate(t, packet.dst, dim);
      const u32 low = a < b ? a : b, high = a < b ? b : a;
      // Dimensions d, d + 4, ... share a random word; hashing the word with the dimension gives each of them 32 fresh
      // bits.
      const u32 draw = static_cast<u32>(mix64((u64{r.word[dim & 3]} << 32) | dim));
      packet.via |= (low + below(draw, high - low + 1)) << t.dim_shift[dim];
    }
  }
}

}  // namespace flitlab::vc
