#pragma once
/// The terminal of a router: its packets enter the network flit by flit, and the flits that come for it, in any order,
/// are put together to packets again.
#include "kernels/routers/bless/state.hpp"
#include "kernels/routers/bless/totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::bless {

/// What delivery asks of a model (kernels/traffic/injection.hpp).
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

template <class V, int W>
FLITLAB_INLINE void create(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  if (v.t.mode == TrafficMode::kTrace)
    create_from_trace(v, terminal, index, control, now);
  else if (control.next.at <= now)
    create_packets(v, index, control, now);
}

FLITLAB_INLINE bool has_flit(const TerminalControl& control) {
  return control.lane.left || control.sent != control.created;
}

/// The oldest packet of a source queue, which must not be empty, starts to move.
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

/// The next flit of the packet that a terminal is sending.
template <class V, int W>
FLITLAB_INLINE Flit take_flit(const V& v, const Item<W>& terminal, TerminalControl& control) {
  Flit& sending = terminal.at(v.t.interface_fields.sending);
  const Flit flit = sending;
  ++sending.via;
  --control.lane.left;
  return flit;
}

/// Place of the packet of a flit; the number of places in use if it has none.
template <class V, int W>
FLITLAB_INLINE u32 place_of(const V& v, const Item<W>& terminal, const Flit& flit, u32 open) {
  u32 place = 0;
  for (; place < open; ++place) {
    const Partial& partial = terminal.at(v.t.interface_fields.partial, place);
    if (partial.src == flit.src && partial.id == flit.id) break;
  }
  return place;
}

/// A flit leaves for its terminal, where it is `delay` cycles later. False if its packet finds no place there.
template <class V, int W>
FLITLAB_INLINE bool eject(const V& v, const Item<W>& terminal, u32 index, const Flit& flit, Cycle now) {
  const auto& t = v.t;
  bool whole = flit.flits == 1;
  if (!whole) {
    u32& open = terminal.at(t.interface_fields.reassembly).open;
    const u32 place = place_of(v, terminal, flit, open);
    if (place == t.places) {
      count(*v.shard, Count::kRefused);
      return false;
    }
    Partial& partial = terminal.at(t.interface_fields.partial, place);
    if (place == open) {
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
  if (t.mode == TrafficMode::kTrace) note_arrival(v, terminal, flit, now + t.delay);
  return true;
}

}  // namespace flitlab::bless
