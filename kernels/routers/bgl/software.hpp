#pragma once
/// A node's software, one terminal: it creates packets, puts them into injection FIFOs, and takes arrived packets out
/// of the reception FIFOs. Defines the functions that deliver() needs from each model (kernels/traffic/injection.hpp).
#include "kernels/routers/bgl/broadcast.hpp"
#include "kernels/routers/bgl/totals.hpp"
#include "kernels/traffic/program.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::bgl {

template <class V>
FLITLAB_INLINE bool is_destination(const V& v, u32 index, const Packet& packet) {
  return packet.dst == v.t.address[index];
}
template <class V>
FLITLAB_INLINE bool is_misdelivered(const V&, u32, const Packet&) {
  return false;
}

/// Returns the packet at a cursor of the terminal's packet sequence.
template <class V>
FLITLAB_INLINE Packet packet_of(const V& v, u32 index, const SourceCursor& cursor) {
  const auto& t = v.t;
  const u32 destination = packet_destination(t.traffic, *v.row, index, cursor.index);
  Packet packet{};
  packet.dst = t.address[destination];
  packet.src = index;
  packet.created = cursor.at;
  packet.id = cursor.index;
  packet.flits = static_cast<u16>(packet_flits(t.traffic, *v.row, index, cursor.index));
  set_route(packet, first_route(v, index, cursor.index, destination, packet.flits));
  return packet;
}

/// Sets `packet` to the oldest created packet of a trace. Returns false if there is no such packet.
template <class V, int W>
FLITLAB_INLINE bool oldest_of_trace(const V& v, const Item<W>& terminal, u32 index, Packet& packet) {
  const auto& t = v.t;
  const TraceControl& trace = terminal.at(t.terminal_fields.trace.control);
  if (!trace.created) return false;
  const TraceEntry& entry = terminal.at(t.terminal_fields.trace.entry, trace.first);
  packet = Packet{};
  packet.dst = t.address[entry.destination];
  packet.src = index;
  packet.created = entry.cycle;
  packet.id = entry.id;
  packet.flits = static_cast<u16>(entry.flits);
  set_route(packet, first_route(v, index, entry.id, entry.destination, entry.flits));
  return true;
}

/// Puts the oldest created packets into FIFOs with room, as fast as pacing and processors allow.
template <class V, int W>
FLITLAB_INLINE void put_oldest(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                               SoftwareControl& software, Cycle now) {
  const auto& t = v.t;
  for (u32 used = 0; control.sent != control.created;) {
    const bool trace = t.mode == TrafficMode::kTrace;
    // Tests for room first, because that is cheaper than computing the packet.
    if (!trace && !t.priority_threshold && !used) {
      const u32 flits = packet_flits(t.traffic, *v.row, index, control.oldest.index);
      if (!fifos_with_room(v, terminal, false, flits)) return;
    }
    if (!is_due(software.next_put, now)) {
      wake_software(v, index, software.next_put);
      return;
    }
    Packet packet;
    if (trace) {
      if (!oldest_of_trace(v, terminal, index, packet)) return;
    } else {
      packet = packet_of(v, index, control.oldest);
    }
    const u32 set = fifos_with_room(v, terminal, route_of(packet) & kHighPriority, packet.flits) & ~used;
    if (!set) {  // a FIFO accepts at most one packet per cycle
      if (used) wake_software(v, index, now + 1);
      return;
    }
    const u32 fifo = next_fifo(t, software, set);
    put(v, terminal, index, fifo, packet, now);
    used |= 1u << fifo;
    software.next_put = now + t.put_interval * packet.flits;
    remove_oldest(v, terminal, index, control);
  }
}

/// Fills infinite injection FIFOs, as in the paper's simulator: from its creation on, packet n is in FIFO n modulo the
/// number of FIFOs. The node sees only as much of each FIFO as a real FIFO holds.
template <class V, int W>
FLITLAB_INLINE void fill_infinite(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  bool more = false;
  for (u32 f = 0; f < t.fifos; ++f) {
    InjectionFifo& fifo = terminal.at(t.software_fields.injection, f);
    if (fifo.cursor.index >= control.created) continue;
    const Packet packet = packet_of(v, index, fifo.cursor);
    if (fifo.room < packet.flits) continue;
    put(v, terminal, index, f, packet, now);
    ++control.sent;
    for (u32 i = 0; i < t.fifos; ++i) next_creation(t.traffic, *v.row, index, fifo.cursor);
    more |= fifo.cursor.index < control.created && fifo.room;
  }
  if (more) wake_software(v, index, now + 1);
}

/// Puts a program's packets into FIFOs with room, as fast as pacing and processors allow. The id of a packet is the
/// slot of its message at the receiver.
template <class V, int W>
FLITLAB_INLINE void put_program_packets(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                        SoftwareControl& software, Cycle now) {
  const auto& t = v.t;
  ProgramPacket next;
  for (u32 used = 0; next_program_packet(v, terminal, index, now, next);) {
    if (!is_due(software.next_put, now)) {
      wake_software(v, index, software.next_put);
      return;
    }
    const u32 set = fifos_with_room(v, terminal, false, next.flits) & ~used;
    if (!set) {
      if (used) wake_software(v, index, now + 1);
      return;
    }
    const u32 fifo = next_fifo(t, software, set);
    Packet packet{};
    packet.dst = t.address[next.destination];
    packet.src = index;
    packet.created = now;
    packet.id = next.slot;
    packet.flits = static_cast<u16>(next.flits);
    set_route(packet, first_route(v, index, control.created, next.destination, next.flits));
    count_creation(v, index, next.slot, now, next.flits, [&] { return next.destination; });
    ++control.created;
    ++control.sent;
    put(v, terminal, index, fifo, packet, now);
    used |= 1u << fifo;
    software.next_put = now + t.put_interval * next.flits;
    program_packet_taken(v, terminal, index, now);
  }
}

/// One cycle of a program: runs its calls, puts its packets, and schedules its next wake-up.
template <class V, int W>
FLITLAB_INLINE void continue_program(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                     SoftwareControl& software, Cycle now) {
  if (program_wakes(v, terminal, index, now) <= now) run_program(v, terminal, index, now);
  put_program_packets(v, terminal, index, control, software, now);
  // The next call may have waited for packets that were put just now.
  const Cycle wakes = program_wakes(v, terminal, index, now);
  if (wakes == kNever) return;
  const Cycle at = wakes > now ? wakes : now + 1;
  if (is_due(software.alarm, now) || at < software.alarm) set_alarm(v, software, index, at, now);
}

/// Moves the round-robin pointer of the normal-priority reception FIFOs to the FIFO after `fifo`.
constexpr u32 kHighFifos = 1u << 6 | 1u << 13;
FLITLAB_INLINE void advance_turn(SoftwareControl& software, u32 fifo) {
  if (!(kHighFifos >> fifo & 1)) software.take = static_cast<u8>(fifo + 1 == kReceptionFifos ? 0 : fifo + 1);
}

/// Takes the oldest packet out of a reception FIFO, unless the packet has to be forwarded and cannot be forwarded yet.
template <class V, int W>
FLITLAB_INLINE void take(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                         SoftwareControl& software, u32 fifo, u32& used, Cycle now) {
  const auto& t = v.t;
  ReceptionFifo& state = terminal.at(t.software_fields.reception, fifo);
  const Packet& packet = terminal.at(t.reception_fields.ring, fifo * t.reception_ring + state.first);
  if (t.mode == TrafficMode::kBroadcast && !forward(v, terminal, index, control, software, packet, used, now))
    return;  // the packet stays in the FIFO
  advance_turn(software, fifo);
  state.first = static_cast<u8>(state.first + 1u == t.reception_ring ? 0 : state.first + 1);
  if (!--state.packets)
    software.arrived = static_cast<u16>(software.arrived & ~(1u << fifo));
  else
    wake_software(v, index, now + 1);
  v.nodes[index].at(t.node_fields.from_software, (now + 1) & t.software_mask).taken |= u64{packet.flits} << 4 * fifo;
  note(software_actions_at(v, index, now + 1), index);
  if (route_of(packet) & kHints) {
    count(*v.shard, Count::kCopies);
  } else {
    count(*v.shard, Total::kFlitsDelivered, packet.flits);
    deliver(v, index, control, packet, now);
    if (t.mode == TrafficMode::kTrace) record_arrival(v, terminal, index, packet, now);
    if (t.mode == TrafficMode::kProgram) program_packet_arrived(v, terminal, index, packet.id);
  }
  software.next_take = now + t.take_interval;
}

/// Takes packets out of reception FIFOs: high-priority FIFOs first, the others in round-robin order, and at most one
/// packet of each FIFO per cycle. If software takes time, processors start to take the packets.
template <class V, int W>
FLITLAB_INLINE void take_arrived(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                 SoftwareControl& software, u32& used, Cycle now) {
  const auto& t = v.t;
  u32 left = software.arrived & reception_fifos_of_idle(v, terminal);
  while (left) {
    if (!is_due(software.next_take, now)) {
      wake_software(v, index, software.next_take);
      return;
    }
    const u32 fifo = left & kHighFifos ? lowest_bit(left & kHighFifos) : first_at_or_after(left, software.take);
    left &= ~(1u << fifo);
    if (!t.processors) {
      take(v, terminal, index, control, software, fifo, used, now);
      continue;
    }
    const ReceptionFifo& state = terminal.at(t.software_fields.reception, fifo);
    const Packet& packet = terminal.at(t.reception_fields.ring, fifo * t.reception_ring + state.first);
    if (t.mode == TrafficMode::kBroadcast && !can_forward(v, terminal, index, packet)) continue;
    begin(v, terminal, index, processor_of_reception(t, fifo), kTakes, fifo, packet.flits, now);
    left &= reception_fifos_of_idle(v, terminal);
  }
}

/// Ends the tasks of processors whose time is over.
template <class V, int W>
FLITLAB_INLINE void end_tasks(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                              SoftwareControl& software, u32& used, Cycle now) {
  for (u32 p = 0; p < v.t.processors; ++p) {
    Processor& processor = processor_at(v, terminal, p);
    if (processor.task == kIdle || !is_due(processor.until, now)) continue;
    const bool puts = processor.task == kPuts;
    processor.task = kIdle;
    if (puts)
      end_put(v, terminal, index, processor.fifo, processor.packet, now);
    else
      take(v, terminal, index, control, software, processor.fifo, used, now);
  }
}

/// One cycle of a broadcast: puts the next packets of the root's colours, and schedules the next attempt.
template <class V, int W>
FLITLAB_INLINE void continue_broadcast(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                       SoftwareControl& software, u32 used, Cycle now) {
  const auto& t = v.t;
  if (index == t.fill_root) {
    if (!control.created)
      for (u32 id = 0; id < colours(t) * t.fill_packets; ++id, ++control.created)
        count_creation(v, index, id, now, kFullPacket, [&] { return end_of_leg(t, index, id % colours(t), 0); });
    send_colours(v, terminal, index, control, software, used, now);
  }
  // Without room, the node wakes software when space becomes free.
  if ((software.arrived || control.sent != control.created) && (used || !is_due(software.next_put, now)))
    wake_software(v, index, is_due(software.next_put, now + 1) ? now + 1 : software.next_put);
}

struct SoftwarePhase {
  static constexpr const char* name = "software";
  static constexpr bool listed = true;

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }

  /// Returns whether software has work. With traces the result is always true, because the host writes packets into the
  /// state without a calendar note.
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    return v.t.mode == TrafficMode::kTrace || noted_software(v, index / 64, now) >> index % 64 & 1;
  }

  template <class V>
  FLITLAB_INLINE static u64 due_set(const V& v, u32 group, Cycle now) {
    if (v.t.mode != TrafficMode::kTrace) return noted_software(v, group, now);
    const u32 left = v.t.terminals - 64 * group;
    return left < 64 ? (u64{1} << left) - 1 : ~u64{0};
  }

  template <class V>
  FLITLAB_INLINE static void prefetch(const V& v, u32 index) {
#if !defined(__CUDA_ARCH__)
    const std::byte* hot = v.terminals[index].block;
    for (u32 line = 0; line < v.t.reception_fields.ring.offset; line += 64) __builtin_prefetch(hot + line, 1);
    __builtin_prefetch(&v.nodes[index].at(v.t.node_fields.from_software), 1);
#endif
  }

  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    take_note(notes_at(v, t.calendar_fields.software, index, now), index);
    take_note(node_notes_at(v, index, now), index);
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    SoftwareControl& software = terminal.at(t.software_fields.control);
    u32& space = terminal.at(t.software_fields.space_mail, now & 1);
    for (; space; space &= ~(0xFu << (lowest_bit(space) & ~3u))) {
      const u32 f = lowest_bit(space) / 4;
      InjectionFifo& fifo = terminal.at(t.software_fields.injection, f);
      fifo.room = static_cast<u8>(fifo.room + (space >> 4 * f & 0xF));
    }
    u64& arrivals = terminal.at(t.software_fields.arrival_mail, now & 1);
    for (; arrivals; arrivals &= ~(u64{0xF} << (lowest_bit(arrivals) & ~3u))) {
      const u32 f = lowest_bit(arrivals) / 4;
      ReceptionFifo& fifo = terminal.at(t.software_fields.reception, f);
      fifo.packets = static_cast<u8>(fifo.packets + (arrivals >> 4 * f & 0xF));
      software.arrived |= static_cast<u16>(1u << f);
    }
    u32 used = 0;  // injection FIFOs that received a packet in this cycle
    if (t.processors) end_tasks(v, terminal, index, control, software, used, now);
    take_arrived(v, terminal, index, control, software, used, now);
    if (t.mode == TrafficMode::kBroadcast) {
      continue_broadcast(v, terminal, index, control, software, used, now);
      return;
    }
    if (t.mode == TrafficMode::kProgram) {
      continue_program(v, terminal, index, control, software, now);
      return;
    }
    if (t.mode == TrafficMode::kTrace) {
      create_from_trace(v, terminal, index, control, now);
    } else {
      if (control.next.at <= now) create_packets(v, index, control, now);
      if (software.alarm == now) set_alarm(v, software, index, control.next.at, now);
    }
    if (control.sent == control.created) return;
    if (t.infinite_fifos)
      fill_infinite(v, terminal, index, control, now);
    else
      put_oldest(v, terminal, index, control, software, now);
  }

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }
};

}  // namespace flitlab::bgl
