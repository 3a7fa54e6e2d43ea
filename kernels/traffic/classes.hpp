#pragma once
/// Several classes of packets, in an open loop or from the host. A terminal has a source queue for each class; the
/// classes share its channel to the router flit by flit.
#include <type_traits>

#include "kernels/traffic/class_totals.hpp"
#include "kernels/traffic/injection.hpp"
#include "kernels/traffic/replay.hpp"

namespace flitlab {

/// Whether the sources of a view may have several classes of packets (`traffic.classes`). The tallies of lane kernels
/// on GPUs have no totals for them.
template <class V>
inline constexpr bool kMayHaveClasses =
    requires { V::Table::kMayHaveClasses; } && std::is_same_v<decltype(V::shard), CounterShard*>;

/// Returns the number of packet `index` of a class; numbers of all packets of a terminal differ.
FLITLAB_HD inline u32 packet_id(const TrafficTable& t, u32 number, u32 index) { return index * t.classes + number; }

/// Before cycle 0: sets the first creation of each class.
template <class V, int W>
FLITLAB_HD void start_classes(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control) {
  const TrafficTable& all = v.t.traffic;
  control.next = control.oldest = SourceCursor{kNever, 0, 0, 0};
  for (u32 c = 0; c < all.classes; ++c) {
    const TrafficTable& traffic = traffic_of_class(all, c);
    const SourceRow& row = row_of_class(*v.row, c);
    ClassSource& source = terminal.at(v.t.terminal_fields.source, c);
    source.next = first_creation(traffic, row, index);
    if (never_sends(traffic, index)) source.next.at = kNever;
    source.oldest = source.next;
    if (source.next.at < control.next.at) control.next.at = source.next.at;
  }
}

/// Adds the packets whose creation is due to the source queues of their classes.
template <class V, int W>
FLITLAB_INLINE void create_classes(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                   Cycle now) {
  if (control.next.at > now) return;
  const TrafficTable& all = v.t.traffic;
  control.next.at = kNever;
  for (u32 c = 0; c < all.classes; ++c) {
    const TrafficTable& traffic = traffic_of_class(all, c);
    const SourceRow& row = row_of_class(*v.row, c);
    ClassSource& source = terminal.at(v.t.terminal_fields.source, c);
    while (source.next.at <= now) {
      const u32 flits = packet_flits(traffic, row, index, source.next.index);
      count_creation(v, index, packet_id(all, c, source.next.index), source.next.at, flits,
                     [&] { return packet_destination(traffic, row, index, source.next.index); });
      if (measured(v, source.next.at)) count(*v.shard, ClassTotal::kOfferedFlits, flits, c);
      ++source.created;
      ++control.created;
      next_creation(traffic, row, index, source.next);
    }
    if (source.next.at < control.next.at) control.next.at = source.next.at;
  }
}

/// Adds the packets from the host whose creation is due to the source queues of their classes.
template <class V, int W>
FLITLAB_INLINE void create_classes_from_trace(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                              Cycle now) {
  for (u32 c = 0; c < v.t.traffic.classes; ++c) {
    ClassSource& source = terminal.at(v.t.terminal_fields.source, c);
    const u32 before = control.created;
    const TraceControl& trace = terminal.at(v.t.terminal_fields.trace.control, c);
    u32 position = trace.first + trace.created;
    create_from_trace(v, terminal, index, control, now, c);
    source.created += control.created - before;
    for (u32 i = before; i != control.created; ++i, ++position) {
      const TraceEntry& entry = trace_entry(v, terminal, position, c);
      if (measured(v, entry.cycle)) count(*v.shard, ClassTotal::kOfferedFlits, entry.flits, c);
    }
  }
}

/// Reads the oldest packet of a class without its destination, which takes longer to compute.
template <class V, int W>
FLITLAB_INLINE void read_oldest_of_class(const V& v, const Item<W>& terminal, u32 index, const ClassSource& source,
                                         u32 c, Packet& packet) {
  packet.message_class = static_cast<u8>(c);
  packet.tag = 0;
  if (v.t.mode == TrafficMode::kTrace) {
    const TraceEntry& entry = next_of_trace(v, terminal, c);
    packet.flits = static_cast<u16>(entry.flits);
    packet.created = entry.cycle;
    packet.id = entry.id;
    return;
  }
  const u32 number = source.oldest.index;
  packet.flits =
      static_cast<u16>(packet_flits(traffic_of_class(v.t.traffic, c), row_of_class(*v.row, c), index, number));
  packet.created = source.oldest.at;
  packet.id = packet_id(v.t.traffic, c, number);
}

/// Starts the oldest packet of a class if it can be injected; returns whether it did. `taken`: VCs that carry packets
/// of other classes.
template <class V, int W>
FLITLAB_INLINE bool start_of_class(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, u32 c,
                                   u32 taken, Cycle now) {
  const bool trace = v.t.mode == TrafficMode::kTrace;
  ClassSource& source = terminal.at(v.t.terminal_fields.source, c);
  Packet packet;
  read_oldest_of_class(v, terminal, index, source, c, packet);
  const auto destination = [&] {
    return trace ? next_of_trace(v, terminal, c).destination
                 : packet_destination(traffic_of_class(v.t.traffic, c), row_of_class(*v.row, c), index,
                                      source.oldest.index);
  };
  if (!start_packet(v, terminal, index, source.lane, packet, destination, now, taken)) return false;
  ++source.sent;
  ++control.sent;
  control.lane.left = static_cast<u16>(control.lane.left + packet.flits);
  if (trace)
    remove_of_trace(v, terminal, 0, c);
  else if (source.sent == source.created)
    source.oldest = source.next;
  else
    next_creation(traffic_of_class(v.t.traffic, c), row_of_class(*v.row, c), index, source.oldest);
  return true;
}

/// Sends one flit into the network. Of the classes that can send, the one with the highest priority sends; classes of
/// equal priority take turns.
template <class V, int W>
FLITLAB_INLINE void send_classes(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  const TrafficTable& all = v.t.traffic;
  const auto source = [&](u32 c) -> ClassSource& { return terminal.at(v.t.terminal_fields.source, c); };
  u32 waiting = 0, taken = 0;
  for (u32 c = 0; c < all.classes; ++c) {
    if (source(c).lane.left) taken |= 1u << source(c).lane.vc;
    if (source(c).lane.left || source(c).sent != source(c).created) waiting |= 1u << c;
  }
  while (waiting) {
    u32 highest = 0, first = 0;
    for (u32 set = waiting; set; set &= set - 1) {
      const u32 c = lowest_bit(set), priority = all.priority[c];
      if (priority > highest) highest = priority, first = 0;
      if (priority == highest) first |= 1u << c;
    }
    const u32 c = first_at_or_after(first, control.lane.pick);
    waiting &= ~(1u << c);
    u8 mark = 0;
    if (!source(c).lane.left) {
      if (!start_of_class(v, terminal, index, control, c, taken, now)) continue;
      mark = kHeadMark;
    }
    if (!send_next_flit(v, terminal, index, source(c).lane, mark, now)) continue;
    --control.lane.left;
    control.lane.pick = static_cast<u8>(c + 1 == all.classes ? 0 : c + 1);
    return;
  }
}

/// Counts an arriving flit, of the packet at the front of ejection VC `vc`.
template <class V, int W>
FLITLAB_INLINE void count_flit_of_class(const V& v, const Item<W>& terminal, u32 vc, Cycle now) {
  if (!measured(v, now)) return;
  const TerminalFields& f = v.t.terminal_fields;
  const Packet& packet = terminal.at(f.ring, vc * v.t.ring + terminal.at(f.first, vc));
  count(*v.shard, ClassTotal::kAcceptedFlits, 1, packet.message_class);
}

/// Counts a packet of a class whose tail has arrived.
template <class V>
FLITLAB_INLINE void count_of_class(const V& v, const Packet& packet, Cycle now) {
  CounterShard& shard = *v.shard;
  const u32 c = packet.message_class;
  count(shard, ClassTotal::kDelivered, 1, c);
  if (!measured(v, packet.created)) return;
  count(shard, ClassTotal::kMeasured, 1, c);
  count(shard, ClassTotal::kMeasuredLatency, now - packet.created, c);
  count(shard, ClassTotal::kMeasuredNetworkLatency, now - packet.injected, c);
}

}  // namespace flitlab
