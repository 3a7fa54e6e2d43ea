#pragma once
/// Dimension-order routes of several packets at a time, in vectors of L bytes on a CPU. The rules are the same as for
/// one packet (dimension_order() in route.hpp).
#include "kernels/common/byte_lanes.hpp"
#include "kernels/routers/vc/route.hpp"

namespace flitlab::vc::lanes {

using namespace flitlab::lanes;

template <int L>
struct SideRoutes {
  using Words = typename VectorOf<L, u32>::Type;
  using Signed = typename VectorOf<L, i32>::Type;  // numbers are small; signed compares need fewer instructions
  static constexpr u32 kLanes = L / 4, kMost = 64, kVectors = kMost / kLanes;

  /// Of each packet: addresses of the router and of the destination, port of the destination, input port and VC.
  Words here[kVectors], target[kVectors], last_port[kVectors], in_port[kVectors], in_vc[kVectors];
  Words hash[kVectors];                     ///< decides ways around a ring of equal length (goes_minus() in route.hpp)
  Words port[kVectors], allowed[kVectors];  ///< the route

  static FLITLAB_INLINE Words is_less(Words a, Words b) { return (Words)((Signed)a < (Signed)b); }

  /// Computes the routes of the first n packets, which are of message class 0. The other lanes may hold anything.
  template <class T>
  FLITLAB_INLINE void compute(const T& t, u32 n) {
    for (u32 i = 0; i * kLanes < n; ++i) {
      const Words differ = here[i] ^ target[i];
      Words from{}, to{}, dim{}, radix{}, minus_half_way{};
      for (u32 d = t.dims; d-- > 0;) {
        const u32 shift = t.dim_shift[d], mask = t.dim_mask[d];
        const Words differs = nonzero(differ & mask << shift);
        from = select(differs, here[i] >> shift & mask, from);
        to = select(differs, target[i] >> shift & mask, to);
        dim = select(differs, Words{} + d, dim);
        if (t.wraps) {
          radix = select(differs, Words{} + t.dim_radix[d], radix);
          minus_half_way = select(differs, 0 - (hash[i] >> d & 1), minus_half_way);
        }
      }
      Words minus = is_less(to, from);
      allowed[i] = Words{} + t.class_mask[0][0];
      if (t.wraps) {
        const Words below = minus, twice = 2 * (to - from + (radix & below));
        minus = is_less(radix, twice);
        minus |= (Words)(twice == radix) & minus_half_way;
        allowed[i] = after_datelines(t, i, from, to, dim, radix, minus, (minus & is_less(from, to)) | (~minus & below));
      }
      const Words is_here = (Words)(differ == 0);
      port[i] = select(is_here, last_port[i], t.one_port_per_dim ? dim : 2 * dim + (minus & 1));
      allowed[i] = select(is_here, Words{} + t.message_mask[0], allowed[i]);
    }
  }

 private:
  /// Returns the VCs that may be requested in a torus. `crosses`: the packet has yet to cross the wrap-around channel.
  template <class T>
  FLITLAB_INLINE Words after_datelines(const T& t, u32 i, Words from, Words to, Words dim, Words radix, Words minus,
                                       Words crosses) const {
    const Words low = Words{} + t.class_mask[0][0], high = Words{} + t.class_mask[0][1];
    if (t.vc_assignment == VcAssignment::kAny) return Words{} + t.message_mask[0];
    if (t.vc_assignment == VcAssignment::kDateline) return select(crosses, low, high);
    const Words straight = is_less(in_port[i], Words{} + t.network_ports) & (Words)(in_port[i] / 2 == dim);
    const Words was_high = straight & nonzero(high >> in_vc[i] & 1);
    if (t.vc_assignment == VcAssignment::kByCrossing || t.vc_assignment == VcAssignment::kTwoDatelines) {
      const Words keeps = straight & nonzero((low | high) >> in_vc[i] & 1);
      Words enters_high = crosses;
      if (t.vc_assignment == VcAssignment::kTwoDatelines) {
        const Words middle = (radix + 1) / 2;  // first coordinate behind it
        enters_high |= nonzero(hash[i] >> (31 - dim) & 1) & ~(is_less(from, middle) ^ is_less(to, middle));
      }
      return select(select(keeps, was_high, enters_high), high, low);
    }
    const Words just_crossed = straight & (Words)(from == (minus & (radix - 1)));
    return select(crosses, low, high | (low & ~(was_high | just_crossed)));
  }
};

}  // namespace flitlab::vc::lanes
