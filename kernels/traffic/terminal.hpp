#pragma once
/// One cycle of a terminal: receive flits, create packets, send at most one flit to the router.
#include "kernels/engines/phases.hpp"
#include "kernels/traffic/classes.hpp"
#include "kernels/traffic/closed_loop.hpp"
#include "kernels/traffic/injection.hpp"
#include "kernels/traffic/replay.hpp"
#include "kernels/traffic/source_queue.hpp"

namespace flitlab {

/// Adds an arriving credit to a virtual channel of the injection channel.
template <class V, int W>
FLITLAB_INLINE void receive_injection_credit(const V& v, const Item<W>& terminal, TerminalControl& control,
                                             u32 arrival) {
  if (++terminal.at(v.t.terminal_fields.output, arrival - 1u).credits > v.t.buffer_flits)
    raise_fault(control.fault, kFaultCreditOverflow, kNoFaultPort);
}

/// Open loop: delivers the packet whose tail has arrived.
template <class V, int W>
FLITLAB_INLINE void take_packet(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, u32 arrival,
                                Cycle now) {
  const auto& t = v.t;
  const u32 vc = (arrival & kVcBits) - 1u;
  u8& first = terminal.at(t.terminal_fields.first, vc);
  const Packet& packet = terminal.at(t.terminal_fields.ring, vc * t.ring + first);
  deliver(v, index, control, packet, now);
  if (t.mode == TrafficMode::kTrace)
    record_arrival(v, terminal, index, packet, now, terminal.at(t.terminal_fields.trace.head, vc));
  if constexpr (kMayHaveClasses<V>)
    if (t.traffic.classes > 1) count_of_class(v, packet, now);
  first = next_position(first, t.ring);
}

/// Adds all packets of a batch, which have the same length, to the source queue at once: an all-to-all of 32768 nodes
/// creates 1e9 packets in its first cycle.
template <class V>
FLITLAB_INLINE void create_batch(const V& v, u32 index, TerminalControl& control) {
  const auto& traffic = v.t.traffic;
  const u32 n = batch_size(traffic, index) - control.next.index;
  count(*v.shard, Total::kPacketsCreated, n);
  count(*v.shard, Total::kFlitsCreated, u64{n} * traffic.packets.flits[0]);
  if (measured(v, control.next.at)) count(*v.shard, Total::kMeasuredCreated, n);
  control.created += n;
  control.next.index += n;
  control.next.at = kNever;
}

/// Open loop: adds the packets whose creation is due to the source queue.
template <class V>
FLITLAB_INLINE void create_packets(const V& v, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  if constexpr (!V::traced) {
    const bool one_length = t.traffic.length_law != LengthLaw::kGeometric && t.traffic.packets.count == 1;
    if (t.traffic.injection == Injection::kAllAtOnce && one_length && control.next.at <= now)
      return create_batch(v, index, control);
  }
  while (control.next.at <= now) {
    count_creation(v, index, control.next.index, control.next.at,
                   packet_flits(t.traffic, *v.row, index, control.next.index),
                   [&] { return packet_destination(t.traffic, *v.row, index, control.next.index); });
    ++control.created;
    next_creation(t.traffic, *v.row, index, control.next);
  }
}

/// Starts the oldest packet of the source queue if it can be injected; returns whether it did.
template <class V, int W>
FLITLAB_INLINE bool start_oldest(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  if (control.sent == control.created) return false;
  const QueuedPacket oldest = oldest_packet(v, terminal, index, control);
  Packet packet;
  packet.flits = static_cast<u16>(oldest.flits);
  packet.message_class = 0;
  packet.tag = 0;
  packet.created = oldest.created;
  packet.id = oldest.id;
  const auto destination = [&] { return oldest_destination(v, terminal, index, control); };
  if (!start_packet(v, terminal, index, control.lane, packet, destination, now)) return false;
  remove_oldest(v, terminal, index, control);
  return true;
}

/// Before cycle 0: sets full credits and the first creation.
struct StartTerminal {
  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }
  template <class V>
  FLITLAB_HD static void run(const V& v, u32 index, Cycle) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    control.next = first_creation(t.traffic, *v.row, index);
    if (never_sends(t.traffic, index)) control.next.at = kNever;
    control.oldest = control.next;
    if constexpr (kMayHaveClasses<V>)
      if (t.mode == TrafficMode::kClasses) start_classes(v, terminal, index, control);
    for (u32 vc = 0; vc < t.vcs; ++vc)
      terminal.at(t.terminal_fields.output, vc).credits = static_cast<u16>(t.buffer_flits);
    if (t.mode == TrafficMode::kRequestReply)
      for (u32 i = 0; i < t.traffic.window; ++i) terminal.at(t.terminal_fields.transaction, i).id = kNone;
  }
};

struct TerminalPhase {
  static constexpr const char* name = "terminal";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    const u32 slot = now & t.slot_mask;
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    u8& credit = terminal.at(t.terminal_fields.credit_mail, slot);
    if (credit) {
      receive_injection_credit(v, terminal, control, credit);
      credit = 0;
    }
    u8& flit = terminal.at(t.terminal_fields.flit_mail, slot);
    if (t.mode == TrafficMode::kRequestReply) {
      LoopControl& loop = terminal.at(t.terminal_fields.loop);
      if (flit) {
        if (++terminal.at(t.terminal_fields.held, (flit & kVcBits) - 1u).flits > t.buffer_flits)
          raise_fault(control.fault, kFaultBufferOverflow, kNoFaultPort);
        flit = 0;
      }
      consume_flit(v, terminal, index, control, loop, now);
      create_replies(v, terminal, index, loop, now);
      create_requests(v, terminal, index, control, loop, now);
      send_in_turns(v, terminal, index, control, loop, now);
      return;
    }
    if (flit) {
      count(*v.shard, Total::kFlitsDelivered);
      credit_to_router(v, index, (flit & kVcBits) - 1u, now);  // the flit is consumed at once, so its slot is free
      if constexpr (kMayHaveClasses<V>)
        if (t.traffic.classes > 1) count_flit_of_class(v, terminal, (flit & kVcBits) - 1u, now);
      if (t.mode == TrafficMode::kTrace && (flit & kHeadMark))
        terminal.at(t.terminal_fields.trace.head, (flit & kVcBits) - 1u) = now;
      if (flit & kTailMark) take_packet(v, terminal, index, control, flit, now);
      flit = 0;
    }
    if constexpr (kMayHaveClasses<V>)
      if (t.traffic.classes > 1) {
        if (t.mode == TrafficMode::kTrace)
          create_classes_from_trace(v, terminal, index, control, now);
        else
          create_classes(v, terminal, index, control, now);
        if (control.lane.left || control.sent != control.created) send_classes(v, terminal, index, control, now);
        return;
      }
    if (t.mode == TrafficMode::kTrace)
      create_from_trace(v, terminal, index, control, now);
    else if (control.next.at <= now)
      create_packets(v, index, control, now);

    u8 mark = 0;
    if (!control.lane.left) {
      if (!start_oldest(v, terminal, index, control, now)) return;
      mark = kHeadMark;
    }
    send_next_flit(v, terminal, index, control.lane, mark, now);
  }

  /// Returns whether a terminal has work: flits or credits in its inboxes, or a packet to create or send. In traffic
  /// modes other than the open loop it always returns true.
  template <class V>
    requires(!V::traced && (V::Table::kSmall || V::width != 1))
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    if (t.mode != TrafficMode::kOpen) return true;
    const auto terminal = v.terminals[index];
    const u32 slot = now & t.slot_mask;
    const TerminalControl& control = terminal.at(t.terminal_fields.control);
    const u32 arrival =
        terminal.at(t.terminal_fields.credit_mail, slot) | terminal.at(t.terminal_fields.flit_mail, slot);
    return (arrival | control.lane.left | (control.sent ^ control.created) | u32{control.next.at <= now}) != 0;
  }

  static constexpr u32 batch = kMostBulkItems;

  /// Runs up to `batch` terminals. In an open loop each step is a separate loop over all these terminals, because
  /// a processor mispredicts the end of a short loop.
  template <class V>
    requires(V::Table::kSmall && !V::traced && V::width == 1)
  FLITLAB_INLINE static void work_in_bulk(const V& v, const u32* list, u32 n, Cycle now) {
    const auto& t = v.t;
    if (t.mode != TrafficMode::kOpen) {
      for (u32 i = 0; i < n; ++i) run(v, list[i], now);
      return;
    }
    const u32 slot = now & t.slot_mask;
    const auto control = [&](u32 index) -> TerminalControl& {
      return v.terminals[index].at(t.terminal_fields.control);
    };
    struct Arrival {
      u32 index, byte;
    };
    Arrival credits[kMostBulkItems + 1], flits[kMostBulkItems + 1], tails[kMostBulkItems + 1];
    u32 creating[kMostBulkItems + 1], starting[kMostBulkItems + 1], sending[kMostBulkItems + 1];
    u32 credit_count = 0, flit_count = 0, tail_count = 0, create_count = 0, start_count = 0, send_count = 0;
    for (u32 i = 0; i < n; ++i) {
      const auto terminal = v.terminals[list[i]];
      u8& credit = terminal.at(t.terminal_fields.credit_mail, slot);
      u8& flit = terminal.at(t.terminal_fields.flit_mail, slot);
      credits[credit_count] = {list[i], credit};
      credit_count += credit != 0;
      flits[flit_count] = {list[i], flit};
      flit_count += flit != 0;
      creating[create_count] = list[i];
      create_count += control(list[i]).next.at <= now;
      credit = 0;
      flit = 0;
    }
    for (u32 i = 0; i < credit_count; ++i)
      receive_injection_credit(v, v.terminals[credits[i].index], control(credits[i].index), credits[i].byte);
    for (u32 i = 0; i < flit_count; ++i) {
      credit_to_router(v, flits[i].index, (flits[i].byte & kVcBits) - 1u, now);
      tails[tail_count] = flits[i];
      tail_count += (flits[i].byte & kTailMark) != 0;
    }
    count(*v.shard, Total::kFlitsDelivered, flit_count);
    for (u32 i = 0; i < tail_count; ++i)
      take_packet(v, v.terminals[tails[i].index], tails[i].index, control(tails[i].index), tails[i].byte, now);
    for (u32 i = 0; i < create_count; ++i) create_packets(v, creating[i], control(creating[i]), now);
    for (u32 i = 0; i < n; ++i) {
      const TerminalControl& c = control(list[i]);
      const bool busy = c.lane.left != 0;
      sending[send_count] = list[i];
      send_count += busy;
      starting[start_count] = list[i];
      start_count += !busy & (c.sent != c.created);
    }
    for (u32 i = 0; i < send_count; ++i)
      send_next_flit(v, v.terminals[sending[i]], sending[i], control(sending[i]).lane, 0, now);
    for (u32 i = 0; i < start_count; ++i) {
      const u32 index = starting[i];
      if (start_oldest(v, v.terminals[index], index, control(index), now))
        send_next_flit(v, v.terminals[index], index, control(index).lane, kHeadMark, now);
    }
  }
};

}  // namespace flitlab
