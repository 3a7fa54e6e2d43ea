#pragma once
/// Narrow channels: channels whose width is less than 1 flit/cycle. A flit occupies a channel of width a/b for b/a
/// cycles. The channel accepts a flit in each cycle in which the flits before it end. So for 1/3, it accepts a flit in
/// every third cycle; for 2/3, in two of three.
#include "kernels/routers/vc/state.hpp"

namespace flitlab::vc {

/// Returns whether a channel of a router is occupied.
template <class T, int W>
FLITLAB_INLINE bool occupies_channels(const T& t, const Item<W>& router) {
  u32 any = 0;
  for (u32 port = 0; port < t.network_ports; ++port) any |= router.at(t.router_fields.port, port).occupied;
  return any != 0;
}

/// Adds a flit that the channel of an output port accepts.
template <class T>
FLITLAB_INLINE void occupy(const T& t, u32 index, u32 port, PortState& out) {
  if (port < t.network_ports) out.occupied = static_cast<u8>(out.occupied + channel_of(t, index, port).cycles);
}

/// Returns whether the channel of an output port accepts no flit in this cycle.
template <class T, int W>
FLITLAB_INLINE bool is_occupied(const T& t, const Item<W>& router, u32 index, u32 port) {
  return port < t.network_ports && router.at(t.router_fields.port, port).occupied >= channel_of(t, index, port).flits;
}

/// Ends a cycle of a router's channels. Outputs with queues are closed only while these are full (speedup.hpp).
template <class T, int W>
FLITLAB_INLINE void advance_channels(const T& t, const Item<W>& router, RouterControl& control, u32 index) {
  for (u32 w = 0; w < t.set_words; ++w) word_of(t, router, control, w << t.set_shift).closed = 0;
  for (u32 port = 0; port < t.network_ports; ++port) {
    PortState& out = router.at(t.router_fields.port, port);
    const u32 flits = channel_of(t, index, port).flits;
    out.occupied = static_cast<u8>(out.occupied > flits ? out.occupied - flits : 0);
    if (!t.queue_flits) word_of(t, router, control, port).closed |= u32{out.occupied >= flits} << port_bit(t, port);
  }
}

/// Returns whether outputs can be closed: because their channels are narrow, because packets hold connections, or
/// because queues are full.
template <class T>
FLITLAB_INLINE bool may_close(const T& t) {
  return t.narrow || t.hold_switch || t.queue_flits;
}

/// Returns whether an output accepts no flit in this cycle: its channel is occupied, or, during switch allocation, its
/// queue is full or a packet holds it.
template <class T, int W>
FLITLAB_INLINE bool is_closed(const T& t, const Item<W>& router, RouterControl& control, u32 port) {
  return may_close(t) && (word_of(t, router, control, port).closed >> port_bit(t, port) & 1);
}

/// Returns the members of a set of virtual channels of an input port whose packets do not leave through a closed
/// output.
template <class T, int W>
FLITLAB_INLINE u32 toward_open(const T& t, const Item<W>& router, RouterControl& control, u32 port, u32 set) {
  for (u32 rest = may_close(t) ? set : 0; rest; rest &= rest - 1) {
    const u32 vc = lowest_bit(rest);
    if (is_closed(t, router, control, router.at(t.router_fields.input, port * t.vcs + vc).out_port)) set &= ~(1u << vc);
  }
  return set;
}

}  // namespace flitlab::vc
