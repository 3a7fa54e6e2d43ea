#pragma once
/// Adaptive routing in HyperX networks and flattened butterflies, where one hop aligns a coordinate with the
/// destination's. A packet may also take a hop to another router of the same dimension (a deroute). It chooses the port
/// with the least weight: flits queued for the port times hops of the rest of the route. The choice is made again in
/// every cycle.
///
/// DAL deroutes at most once in each dimension, and crosses dimensions in any order (Ahn et al., SC 2009, section 4.2).
/// DimWAR crosses dimensions in order and deroutes at most once in each; OmniWAR crosses them in any order and deroutes
/// as often as its virtual channels permit (McDonald et al., SC 2019). Classes of virtual channels: DimWAR needs two,
/// for deroutes and for hops that align. The others need one per hop; the paper on DAL uses an escape channel instead.
#include "kernels/routers/vc/table_routes.hpp"

namespace flitlab::vc {

/// Returns whether an algorithm is one of these.
FLITLAB_INLINE bool deroutes(Algorithm algorithm) {
  return algorithm == Algorithm::kDal || algorithm == Algorithm::kDimWar || algorithm == Algorithm::kOmniWar;
}

/// Bits of Packet::route_bits: DAL, dimension d in which the packet has derouted.
FLITLAB_INLINE u8 derouted_in(u32 dim) { return static_cast<u8>(1u << dim); }
static_assert(kMaxHyperxDims <= 8);

template <class T, class Out>
struct HyperxRoutes {
  TableRoutes<T, Out> routes;
  Packet& packet;

  /// Returns the dimension of a network port. Ranks of channels are dimensions.
  FLITLAB_INLINE u32 dimension_of(u32 port) const {
    return routes.t.rank[std::size_t{routes.router} * routes.t.network_ports + port];
  }
  /// Returns the ports that align a coordinate with the destination's.
  FLITLAB_INLINE PortSet aligning() const { return routes.t.shortest[routes.entry(packet.dst)]; }
  FLITLAB_INLINE u32 hops() const { return routes.t.hops[routes.entry(packet.dst)]; }
  /// Returns all ports in the dimensions of some ports.
  FLITLAB_INLINE PortSet in_dimensions_of(PortSet ports) const {
    PortSet all = 0;
    for (; ports; ports &= ports - 1) all |= routes.t.dim_ports[dimension_of(lowest_bit(ports))];
    return all;
  }

  /// Returns the ports that the packet may take.
  FLITLAB_INLINE PortSet permitted() const {
    const auto& t = routes.t;
    const PortSet aligning = this->aligning();
    const u32 in_dim = routes.in_port < t.network_ports ? dimension_of(routes.in_port) : kNone;
    if (t.algorithm == Algorithm::kDimWar) {
      const u32 dim = dimension_of(lowest_bit(aligning));
      return in_dim == dim ? aligning & t.dim_ports[dim] : t.dim_ports[dim];
    }
    if (t.algorithm == Algorithm::kOmniWar)
      return packet.hops + 1u + hops() <= t.hop_classes ? in_dimensions_of(aligning) : aligning;
    PortSet free = 0;
    for (PortSet set = aligning; set; set &= set - 1)
      if (const u32 dim = dimension_of(lowest_bit(set)); !(packet.route_bits & derouted_in(dim)))
        free |= t.dim_ports[dim];
    return aligning | free;
  }

  /// Returns the VCs that the packet may request at a port.
  FLITLAB_INLINE u16 allowed(u32 port) const {
    const auto& t = routes.t;
    const bool aligns = aligning() >> port & 1;
    return t.class_mask[packet.message_class][t.algorithm == Algorithm::kDimWar ? u32{aligns} : u32{packet.hops}];
  }

  /// Returns the permitted port with the least weight out of ports with a free VC, or out of all if none has one. Ties
  /// go to ports that align a coordinate, then to the lowest port.
  FLITLAB_INLINE Route choose() const {
    const PortSet permitted = this->permitted(), aligning = this->aligning();
    const u32 needed = routes.credits_needed(), hops = this->hops();
    constexpr u32 kNoVc = 1u << 24, kDeroute = 1;
    u32 best = kNone, least = kNone;
    for (PortSet set = permitted; set; set &= set - 1) {
      const u32 port = lowest_bit(set);
      const bool aligns = aligning >> port & 1;
      const u32 mine = allowed(port), queued = static_cast<u32>(routes.queued(port, mine));
      const u32 weight = 2 * queued * (hops + u32{!aligns}) + (aligns ? 0 : kDeroute) +
                         (routes.outputs.free(port, mine, needed) ? 0 : kNoVc);
      if (weight < least) {
        least = weight;
        best = port;
      }
    }
    return {best, allowed(best)};
  }
};

/// Returns the route of a packet in a HyperX network.
template <class T, class Out>
FLITLAB_INLINE Route hyperx_route(const T& t, const Out& outputs, u32 router, Packet& packet, u32 in_port, u32 in_vc) {
  if (router == packet.dst) return {packet.dst_port, t.message_mask[packet.message_class]};
  const HyperxRoutes<T, Out> routes{{t, packet, outputs, router, in_port, in_vc}, packet};
  // The packet derouted in the dimension by which it came if it is not aligned there.
  if (t.algorithm == Algorithm::kDal && in_port < t.network_ports)
    if (const u32 dim = routes.dimension_of(in_port); routes.aligning() & t.dim_ports[dim])
      packet.route_bits |= derouted_in(dim);
  return routes.choose();
}

}  // namespace flitlab::vc
