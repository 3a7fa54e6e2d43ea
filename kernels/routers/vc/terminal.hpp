#pragma once
/// One cycle of a terminal: take flits that arrive, create packets, send at most one flit into the router.
#include "kernels/routers/vc/closed_loop.hpp"
#include "kernels/routers/vc/injection.hpp"
#include "kernels/routers/vc/replay.hpp"

namespace flitlab::vc {

/// Open loop: a terminal takes every flit at once, and its place is free again.
template <class V, int W>
FLITLAB_INLINE void receive_at_terminal(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                        u8 mail, Cycle now) {
  const auto& t = v.t;
  const u32 vc = (mail & kVcBits) - 1u;
  count(*v.shard, Total::kFlitsDelivered);
  if (mail & kTailMark) {
    u8& first = terminal.at(t.terminal_fields.first, vc);
    const Packet& packet = terminal.at(t.terminal_fields.ring, vc * t.ring + first);
    deliver(v, index, control, packet, now);
    if (t.mode == TrafficMode::kTrace) note_arrival(v, terminal, packet, now);
    first = next_place(first, t.ring);
  }
  return_ejection_credit(v, index, vc, now);
}

/// Open loop: packets whose creation is due enter the source queue.
template <class V>
FLITLAB_INLINE void create_packets(const V& v, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  while (control.next.at <= now) {
    count_creation(v, index, control.next.index, control.next.at,
                   packet_flits(t.traffic, *v.row, index, control.next.index));
    ++control.created;
    next_creation(t.traffic, *v.row, index, control.next);
  }
}

/// Open loop: the oldest packet of the source queue starts to move if it can.
template <class V, int W>
FLITLAB_INLINE bool start_oldest(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  if (control.sent == control.created) return false;
  const Random4 draws = packet_draws(*v.row, index, control.oldest.index);
  Packet packet;
  packet.flits = static_cast<u16>(packet_flits(t.traffic, draws));
  packet.message_class = 0;
  packet.tag = 0;
  packet.created = control.oldest.at;
  packet.id = control.oldest.index;
  const u32 destination = packet_destination(t.traffic, index, draws);
  if (!start_packet(v, terminal, index, control.lane, packet, destination, now)) return false;
  ++control.sent;
  if (control.sent == control.created)
    control.oldest = control.next;
  else
    next_creation(t.traffic, *v.row, index, control.oldest);
  return true;
}

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
      if (++terminal.at(t.terminal_fields.output, credit - 1u).credits > t.buffer_flits)
        control.fault |= kFaultCreditOverflow;
      credit = 0;
    }
    u8& flit = terminal.at(t.terminal_fields.flit_mail, slot);
    if (t.mode == TrafficMode::kRequestReply) {
      LoopControl& loop = terminal.at(t.terminal_fields.loop);
      if (flit) {
        if (++terminal.at(t.terminal_fields.held, (flit & kVcBits) - 1u).flits > t.buffer_flits)
          control.fault |= kFaultBufferOverflow;
        flit = 0;
      }
      take_flit(v, terminal, index, control, loop, now);
      create_replies(v, terminal, index, loop, now);
      create_requests(v, terminal, index, control, loop, now);
      send_in_turns(v, terminal, index, control, loop, now);
      return;
    }
    if (flit) {
      receive_at_terminal(v, terminal, index, control, flit, now);
      flit = 0;
    }
    if (t.mode == TrafficMode::kTrace)
      create_from_trace(v, terminal, index, control, now);
    else if (control.next.at <= now)
      create_packets(v, index, control, now);

    u8 mark = 0;
    if (!control.lane.left) {
      const bool started = t.mode == TrafficMode::kTrace ? start_from_trace(v, terminal, index, control, now)
                                                         : start_oldest(v, terminal, index, control, now);
      if (!started) return;
      mark = kHeadMark;
    }
    send_from_lane(v, terminal, index, control.lane, mark, now);
  }
};

}  // namespace flitlab::vc
