#pragma once
/// Messages stored in a router: their order (S-Connect, Figure 4, step 2.1), and insertion.
#include "kernels/routers/adaptive/state.hpp"

namespace flitlab::adaptive {

/// Returns whether `a` is preferred to `b`, by a) higher priority, which is the packet's message class; b) age since
/// entry into the network; c) fewer channels to choose from; d) lower source, then lower message number. The order of
/// two messages is fixed while both wait at a router.
FLITLAB_HD inline bool preferred(const Packet& a, u32 a_options, const Packet& b, u32 b_options) {
  if (a.message_class != b.message_class) return a.message_class > b.message_class;
  if (a.injected != b.injected) return static_cast<i32>(a.injected - b.injected) < 0;
  const u32 a_count = bit_count(a_options), b_count = bit_count(b_options);
  if (a_count != b_count) return a_count < b_count;
  return a.src != b.src ? a.src < b.src : a.id < b.id;
}

/// Stores a message in the first free position, and inserts this position into `order` at the message's rank.
template <class V, int W>
FLITLAB_INLINE void insert(const V& v, const Item<W>& node, u32 index, RouterControl& control, const Packet& packet) {
  const RouterFields& f = v.t.router_fields;
  if (control.stored == v.t.positions) return raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
  u32 rank = control.stored++;
  const u8 position = node.at(f.order, rank);
  const u32 options = v.t.minimal[std::size_t{index} * v.t.routers + packet.dst];
  node.at(f.pool, position) = packet;
  node.at(f.options, position) = options;
  for (; rank; --rank) {
    const u8 other = node.at(f.order, rank - 1);
    if (!preferred(packet, options, node.at(f.pool, other), node.at(f.options, other))) break;
    node.at(f.order, rank) = other;
  }
  node.at(f.order, rank) = position;
}

}  // namespace flitlab::adaptive
