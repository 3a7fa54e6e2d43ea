#pragma once
/// Terminals: creation of messages, injection into the router's buffers, and delivery.
#include "kernels/routers/adaptive/pool.hpp"
#include "kernels/routers/adaptive/totals.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::adaptive {

/// Functions that every router model provides for the delivery of packets (kernels/traffic/injection.hpp).
template <class V>
FLITLAB_INLINE bool is_destination(const V& v, u32 index, const Packet& packet) {
  return packet.dst * v.t.concentration + packet.dst_port == index;
}
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;
}

template <class V>
FLITLAB_INLINE u8 priority_of(const V& v, u32 index, u32 id) {
  const auto& t = v.t;
  if (t.priorities == 1) return 0;
  return static_cast<u8>(pick_weighted(t.priority_below, t.priorities, packet_draws(*v.row, index, id).word[3]));
}

template <class V, int W>
FLITLAB_INLINE void create(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  if (v.t.mode == TrafficMode::kTrace)
    create_from_trace(v, terminal, index, control, now);
  else if (control.next.at <= now)
    create_packets(v, index, control, now);
}

/// Removes and returns the oldest message of a source queue, which must not be empty.
template <class V, int W>
FLITLAB_INLINE Packet take_oldest(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  const QueuedPacket oldest = oldest_packet(v, terminal, index, control);
  const u32 destination = oldest_destination(v, terminal, index, control);
  remove_oldest(v, terminal, index, control);
  Packet packet{};
  packet.id = oldest.id;
  packet.created = oldest.created;
  packet.src = index;
  packet.dst = destination / t.concentration;
  packet.dst_port = static_cast<u8>(destination % t.concentration);
  packet.injected = now;
  packet.flits = 1;
  packet.message_class = priority_of(v, index, packet.id);
  packet.route_bits = static_cast<u8>(t.channels + index % t.concentration);
  count(*v.shard, Total::kPacketsInjected);
  count(*v.shard, Total::kFlitsInjected);
  if constexpr (V::traced) {
    v.log.write(t.routers + index, Event{index, packet.id, EventKind::kInjected, packet.route_bits, 0, 0, 0, 3, 1});
    v.log.write(index / t.concentration,
                Event{index, packet.id, EventKind::kArrived, packet.route_bits, 0, 0, 0, 3, 1});
  }
  return packet;
}

/// Delivers a message to its terminal, where it arrives at the end of the cycle.
template <class V>
FLITLAB_INLINE void eject(const V& v, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  const u32 index = packet.dst * t.concentration + packet.dst_port;
  const auto terminal = v.terminals[index];
  CounterShard& shard = *v.shard;
  deliver(v, index, terminal.at(t.terminal_fields.control), packet, now + 1);
  count(shard, Total::kFlitsDelivered);
  count(shard, Total::kFlitMoves);
  count(shard, Count::kDelivered, 1, packet.message_class);
  if (measured(v, packet.created)) {
    count(shard, Count::kMeasured, 1, packet.message_class);
    count(shard, Count::kMeasuredLatency, now + 1 - packet.created, packet.message_class);
  }
  if (t.mode == TrafficMode::kTrace) record_arrival(v, terminal, index, packet, now + 1);
  if constexpr (V::traced)
    v.log.write(packet.dst, Event{packet.src, packet.id, EventKind::kSwitchGranted, packet.route_bits, 0,
                                  u8(t.channels + packet.dst_port), 0, 3, 1});
}

}  // namespace flitlab::adaptive
