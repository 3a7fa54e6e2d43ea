#pragma once
/// Routes from tables, for networks without dimension-order routes: shortest routes, routes over an intermediate router
/// (Valiant), the choice between the two (UGAL, PAR), and the choice among several shortest routes (fat trees, Duato's
/// protocol). Classes of virtual channels are layers, a number for each pair of routers, or follow from the ranks of
/// channels (host/routing/ranks.hpp).
#include "kernels/routers/vc/outputs.hpp"

namespace flitlab::vc {

/// Returns whether routes may go over an intermediate router.
template <class T>
FLITLAB_INLINE bool goes_via(const T& t) {
  return t.algorithm == Algorithm::kValiant || t.algorithm == Algorithm::kUgal || t.algorithm == Algorithm::kPar;
}

/// Returns the packet's class of virtual channels on channel `port`, if it came by (in_port, in_vc).
template <class T>
FLITLAB_INLINE u32 class_by_ranks(const T& t, u32 router, u32 port, u32 in_port, u32 in_vc) {
  if (in_port >= t.network_ports) return 0;
  const std::size_t first = std::size_t{router} * t.network_ports;
  return t.class_of_vc[in_vc] + u32{t.rank[first + port] <= t.rank_in[first + in_port]};
}

/// A packet at the front of an input VC, with what its routes depend on. `kRanks`: whether channels may have ranks.
template <class T, class Out, bool kRanks = true>
struct TableRoutes {
  const T& t;
  const Packet& packet;
  const Out& outputs;
  u32 router, in_port, in_vc;

  FLITLAB_INLINE std::size_t entry(u32 target) const { return std::size_t{router} * t.routers + target; }
  FLITLAB_INLINE u64 hash() const { return mix64((u64{packet.src} << 32) | packet.id); }
  /// Another hash at every router: the same one would choose the same port at each level of a fat tree.
  FLITLAB_INLINE u64 hash_here() const { return mix64(hash() + router); }
  FLITLAB_INLINE u32 credits_needed() const { return credits_to_take(t, packet.flits); }

  /// Returns the VCs that the packet may request at a port on its way to `target`.
  FLITLAB_INLINE u16 allowed(u32 port, u32 target) const {
    const u16* masks = t.class_mask[packet.message_class];
    if (kRanks && t.rank) return masks[class_by_ranks(t, router, port, in_port, in_vc)];
    return masks[t.layer[std::size_t{packet.src / t.concentration} * t.routers + target]];
  }
  FLITLAB_INLINE Route route(u32 port, u32 target) const { return {port, allowed(port, target)}; }

  /// Returns the port with a free VC and the most credits out of `ports`, at each of which the packet may take the VCs
  /// `vcs_at(port)` with `needed` credits. Ties go to the port that `first` selects by a hash, then to the lowest one.
  /// Returns kNone if no port has a free VC.
  template <class VcsAt>
  FLITLAB_INLINE u32 best_of(PortSet ports, PortSet first, u32 needed, VcsAt vcs_at) const {
    u32 best = kNone, most = 0;
    for (u32 pass = 0; pass < 2; ++pass)
      for (PortSet set = pass ? ports & ~first : first; set; set &= set - 1) {
        const u32 port = lowest_bit(set), vcs = vcs_at(port);
        if (!outputs.free(port, vcs, needed)) continue;
        const u32 credits = 1 + outputs.credits(port, vcs);
        if (credits > most) {
          most = credits;
          best = port;
        }
      }
    return best;
  }

  /// Returns `ports` without the members before the one that a hash selects.
  static FLITLAB_INLINE PortSet from_hash(PortSet ports, u64 hash) {
    PortSet first = ports;
    for (u64 skip = hash % bit_count64(ports); skip; --skip) first &= first - 1;
    return first;
  }

  /// Returns the port of a table's entry. If several channels lead to the next router, the packet takes the one with a
  /// free VC and the most credits. A hash decides ties, and the channel if no VC is free. The choice is made again in
  /// every cycle.
  FLITLAB_INLINE Route by_entry(u32 target) const {
    const u32 port = t.next_port[entry(target)];
    if (!(port & kAnyParallel)) return route(port, target);
    const PortSet parallel = t.parallel[router * t.network_ports + (port ^ kAnyParallel)],
                  first = from_hash(parallel, hash());
    const u16 vcs = allowed(lowest_bit(parallel), target);
    const u32 best = best_of(parallel, first, credits_needed(), [vcs](u32) { return vcs; });
    return {best == kNone ? lowest_bit(first) : best, vcs};
  }

  /// Returns the flits queued at a port: in the buffers that it leads to, or on the way to them. `mine`: VCs that
  /// the packet may take there.
  FLITLAB_INLINE i32 queued(u32 port, u32 mine) const {
    const u32 vcs = t.congestion == Congestion::kClass ? mine : t.message_mask[packet.message_class];
    return static_cast<i32>(bit_count(vcs) * t.buffer_flits - outputs.credits(port, vcs));
  }
  FLITLAB_INLINE i32 queued_toward(u32 target) const {
    if (router == target) return 0;
    const u32 port = t.next_port[entry(target)];
    if (!(port & kAnyParallel)) return queued(port, allowed(port, target));
    i32 least = 0x7FFFFFFF;
    for (PortSet set = t.parallel[router * t.network_ports + (port ^ kAnyParallel)]; set; set &= set - 1) {
      const i32 flits = queued(lowest_bit(set), allowed(lowest_bit(set), target));
      least = flits < least ? flits : least;
    }
    return least;
  }

  /// Universal globally adaptive load-balanced routing with local information (UGAL-L): returns whether the packet
  /// takes the shortest route from here, and not the one over its intermediate router.
  FLITLAB_INLINE bool prefers_shortest() const {
    const u32 target = packet.dst, via = packet.via;
    if (router == target) return true;
    const i32 hops = t.hops[entry(target)],
              hops_via = t.hops[entry(via)] + t.hops[std::size_t{via} * t.routers + target];
    return queued_toward(target) * hops <= queued_toward(via) * hops_via + t.threshold;
  }

  /// The way up a fat tree by the destination: terminals of a router, and routers below a common ancestor, have
  /// different ways, which are the same from everywhere (Gomez et al., IPDPS 2007). Ranks of channels up are levels.
  FLITLAB_INLINE u32 up_by_destination(PortSet ports) const {
    const u32 terminal = packet.dst * t.concentration + packet.dst_port - t.network_ports;
    const u32 level = t.rank[std::size_t{router} * t.network_ports + lowest_bit(ports)];
    PortSet rest = ports;
    for (u32 skip = terminal / t.tree_stride[level] % bit_count64(ports); skip; --skip) rest &= rest - 1;
    return lowest_bit(rest);
  }

  /// Of two ports that hashes select, returns the one with more credits for all VCs of the packet's message class.
  FLITLAB_INLINE u32 better_of_two(PortSet ports) const {
    const u32 a = lowest_bit(from_hash(ports, hash_here())), b = lowest_bit(from_hash(ports, mix64(hash_here())));
    const u32 vcs = t.message_mask[packet.message_class];
    return outputs.credits(b, vcs) > outputs.credits(a, vcs) ? b : a;
  }

  /// One of the shortest routes. minimal: the destination determines it; adaptive: the one with a free VC and
  /// the most credits, chosen again in every cycle, or the better one of two, chosen once; nearest_common_ancestor: a
  /// random one.
  FLITLAB_INLINE Route of_shortest(u32 target) const {
    const PortSet ports = t.shortest[entry(target)];
    if (t.algorithm == Algorithm::kMinimal)
      return route(ports & (ports - 1) ? up_by_destination(ports) : lowest_bit(ports), target);
    if (t.selection == Selection::kTwoRandom) return route(better_of_two(ports), target);
    const PortSet first = from_hash(ports, hash_here());
    u32 port = lowest_bit(first);
    if (t.algorithm == Algorithm::kAdaptive) {
      const u32 best = best_of(ports, first, credits_needed(), [&](u32 p) { return allowed(p, target); });
      if (best != kNone) port = best;
    }
    return route(port, target);
  }

  /// Duato's protocol: a packet takes any shortest route on the adaptive VCs (class 1), with wormhole flow control only
  /// into an empty buffer. If none is free it takes the escape VC (class 0) on a route that goes up and down a spanning
  /// tree, and stays on such routes to its destination: back on a shortest route it might come here again.
  FLITLAB_INLINE Route with_escape(u32 target) const {
    const u16* masks = t.class_mask[packet.message_class];
    if (in_port >= t.network_ports || !(masks[0] >> in_vc & 1)) {
      const PortSet ports = t.shortest[entry(target)];
      const u32 needed = t.atomic_adaptive ? t.buffer_flits : credits_needed();
      const u32 best = best_of(ports, from_hash(ports, hash_here()), needed, [&](u32) { return u32{masks[1]}; });
      if (best != kNone) return {best, static_cast<u16>(outputs.free(best, masks[1], needed))};
    }
    return {t.next_port[entry(target)] & ~u32{kAnyParallel}, masks[0]};
  }
};

/// Returns where a packet that may go over an intermediate router goes next: there or to its destination.
template <class T, class Out>
FLITLAB_INLINE u32 next_target(const T& t, const Out& outputs, u32 router, Packet& packet, u32 in_port, u32 in_vc) {
  const bool in_group = t.intermediate == Intermediate::kGroup && t.group;
  const bool reached = in_group ? t.group[router] == t.group[packet.via] : router == packet.via;
  if (reached) packet.route_bits = kPastIntermediate | kDecided;
  if (t.algorithm != Algorithm::kValiant && !reached) {
    const u32 source = packet.src / t.concentration;
    // PAR: a packet on the shortest route decides again, once, in each router of its source's group.
    const bool again = t.algorithm == Algorithm::kPar && packet.route_bits & kOnShortest && router != source &&
                       (packet.route_bits & kDecidedAt) != decided_at(packet) && t.group[router] == t.group[source];
    if (again || !(packet.route_bits & kDecided)) {
      const TableRoutes<T, Out> routes{t, packet, outputs, router, in_port, in_vc};
      const bool shortest = routes.prefers_shortest();
      packet.route_bits =
          static_cast<u8>((shortest ? kPastIntermediate | kOnShortest : 0) | kDecided | decided_at(packet));
    }
  }
  return packet.route_bits & kPastIntermediate ? packet.dst : packet.via;
}

/// Returns the route of a packet from its last router to its terminal. A packet that enters its last group at this
/// router uses the next class, if there is one: the class of channels within the group.
template <class T>
FLITLAB_INLINE Route to_terminal(const T& t, u32 router, const Packet& packet, u32 in_port, u32 in_vc) {
  if (t.ejection_vcs == EjectionVcs::kAll) return {packet.dst_port, t.message_mask[packet.message_class]};
  const u16* masks = t.class_mask[packet.message_class];
  if (in_port >= t.network_ports) return {packet.dst_port, masks[0]};
  const u32 before = t.peers[std::size_t{router} * t.ports + in_port].item, last = t.class_of_vc[in_vc];
  const bool rises = t.group[before] != t.group[router] && last + 1 < kMaxVcs && masks[last + 1];
  return {packet.dst_port, masks[last + rises]};
}

/// Returns the route of a packet whose routing algorithm is kTable.
template <class T, class Out>
FLITLAB_INLINE Route layered_route(const T& t, const Out& outputs, u32 router, const Packet& packet) {
  if (router == packet.dst) return {packet.dst_port, t.message_mask[packet.message_class]};
  return TableRoutes<T, Out, false>{t, packet, outputs, router, 0, 0}.by_entry(packet.dst);
}

/// Returns the route of a packet in a network with tables.
template <class T, class Out>
FLITLAB_INLINE Route table_route(const T& t, const Out& outputs, u32 router, Packet& packet, u32 in_port, u32 in_vc) {
  const u32 target = goes_via(t) ? next_target(t, outputs, router, packet, in_port, in_vc) : packet.dst;
  if (router == target) return to_terminal(t, router, packet, in_port, in_vc);
  const TableRoutes<T, Out> routes{t, packet, outputs, router, in_port, in_vc};
  if (t.algorithm == Algorithm::kMinimalAdaptive) return routes.with_escape(target);
  return t.shortest ? routes.of_shortest(target) : routes.by_entry(target);
}

}  // namespace flitlab::vc
