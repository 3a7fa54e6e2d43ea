#pragma once
/// The terminal of a router: injection of packets flit by flit, ejection, and reassembly of packets whose flits arrive
/// in any order.
#include "kernels/routers/bless/state.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::bless {

/// Functions that every router model provides for deliver() (kernels/traffic/injection.hpp).
template <class V>
FLITLAB_INLINE bool is_destination(const V& v, u32 index, const Packet& packet) {
  return packet.dst == v.t.address[index];
}
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;
}

template <class V>
FLITLAB_INLINE Event flit_event(const V&, const Flit& flit, EventKind kind, u32 in, u32 out) {
  return {flit.src, flit.id, kind, static_cast<u8>(in), 0, static_cast<u8>(out), 0, 3, flit.flits};
}

/// Returns whether the terminal may create packets in this cycle.
template <class V>
FLITLAB_INLINE bool creates(const V& v, const TerminalControl& control, Cycle now) {
  return (v.t.mode == TrafficMode::kTrace) | (control.next.at <= now);
}
template <class V, int W>
FLITLAB_INLINE void create(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  if (v.t.mode == TrafficMode::kTrace)
    create_from_trace(v, terminal, index, control, now);
  else
    create_packets(v, index, control, now);
}

/// Takes the oldest packet out of the source queue, which must not be empty, and makes its first flit the next to send.
template <class V, int W>
FLITLAB_INLINE void begin_packet(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  const QueuedPacket oldest = oldest_packet(v, terminal, index, control);
  const u32 destination = oldest_destination(v, terminal, index, control);
  remove_oldest(v, terminal, index, control);
  Flit first{};
  first.dst = t.address[destination];
  first.src = index;
  first.created = oldest.created;
  first.injected = now;
  first.id = oldest.id;
  first.flits = static_cast<u16>(oldest.flits);
  terminal.at(t.interface_fields.sending) = first;
  control.lane.left = first.flits;
  count(*v.shard, Total::kPacketsInjected);
  if constexpr (V::traced) v.log.write(t.routers + index, flit_event(v, first, EventKind::kInjected, t.channels, 0));
}

/// Returns the next flit of the packet that the terminal is sending, and advances to the one after it.
template <class V, int W>
FLITLAB_INLINE Flit take_flit(const V& v, const Item<W>& terminal, TerminalControl& control) {
  Flit& sending = terminal.at(v.t.interface_fields.sending);
  const Flit flit = sending;
  ++sending.via;
  --control.lane.left;
  return flit;
}

/// Returns the index of the flit's packet among the terminal's `open` incomplete packets, or `open` if it is a new one.
template <class V, int W>
FLITLAB_INLINE u32 index_of(const V& v, const Item<W>& terminal, const Flit& flit, u32 open) {
  u32 position = 0;
  for (; position < open; ++position) {
    const Partial& partial = terminal.at(v.t.interface_fields.partial, position);
    if (partial.src == flit.src && partial.id == flit.id) break;
  }
  return position;
}

/// Ejects a flit, which reaches the terminal `delay` cycles later. Returns false, and ejects nothing, if the flit
/// starts another packet and all reassembly buffers are taken.
template <class V, int W>
FLITLAB_INLINE bool eject(const V& v, const Item<W>& terminal, u32 index, const Flit& flit, Cycle now) {
  const auto& t = v.t;
  bool whole = flit.flits == 1;
  if (!whole) {
    u32& open = terminal.at(t.interface_fields.reassembly).open;
    const u32 position = index_of(v, terminal, flit, open);
    if (position == t.reassembly_buffers) {
      count(*v.shard, Count::kRefused);
      return false;
    }
    Partial& partial = terminal.at(t.interface_fields.partial, position);
    if (position == open) {
      partial = {flit.src, flit.id, flit.flits, 0};
      raise_to(*v.shard, Count::kOpenMost, ++open);
    }
    --partial.left;
    partial.last_here |= is_last(flit);
    whole = !partial.left;
    if (whole) partial = terminal.at(t.interface_fields.partial, --open);
  }
  count(*v.shard, Total::kFlitsDelivered);
  count(*v.shard, Total::kFlitMoves);
  if (!whole) return true;
  deliver(v, index, terminal.at(t.terminal_fields.control), flit, now + t.delay);
  if (t.mode == TrafficMode::kTrace) record_arrival(v, terminal, index, flit, now + t.delay);
  return true;
}

}  // namespace flitlab::bless
