#pragma once
/// The messages in a router: the order among them (S-Connect, Figure 4, step 2.1), and how one more takes its place.
#include "kernels/routers/adaptive/state.hpp"

namespace flitlab::adaptive {

/// Whether `a` is preferred to `b`: a) the higher priority, which is the packet's message class; b) the older one,
/// counted from its entry into the network; c) the one with fewer channels to choose from; d) the lower source, and
/// of one source the lower number. Nothing of that changes while both wait at a router.
FLITLAB_HD inline bool preferred(const Packet& a, u32 a_options, const Packet& b, u32 b_options) {
  if (a.message_class != b.message_class) return a.message_class > b.message_class;
  if (a.injected != b.injected) return static_cast<i32>(a.injected - b.injected) < 0;
  const u32 a_count = bit_count(a_options), b_count = bit_count(b_options);
  if (a_count != b_count) return a_count < b_count;
  return a.src != b.src ? a.src < b.src : a.id < b.id;
}

/// A message takes the first free place, and its rank among the others.
template <class V, int W>
FLITLAB_INLINE void insert(const V& v, const Item<W>& node, u32 index, RouterControl& control, const Packet& packet) {
  const RouterFields& f = v.t.router_fields;
  if (control.stored == v.t.places) return raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
  u32 rank = control.stored++;
  const u8 place = node.at(f.order, rank);
  const u32 options = v.t.minimal[std::size_t{index} * v.t.routers + packet.dst];
  node.at(f.pool, place) = packet;
  node.at(f.options, place) = options;
  for (; rank; --rank) {
    const u8 other = node.at(f.order, rank - 1);
    if (!preferred(packet, options, node.at(f.pool, other), node.at(f.options, other))) break;
    node.at(f.order, rank) = other;
  }
  node.at(f.order, rank) = place;
}

}  // namespace flitlab::adaptive
