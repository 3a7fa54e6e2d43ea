#pragma once
/// One cycle of a terminal: take flits that arrive, create packets, send at most one flit into the router.
#include "kernels/routers/vc/route.hpp"
#include "kernels/routers/vc/switch.hpp"

namespace flitlab::vc {

/// A packet's tail has arrived.
template <class V>
FLITLAB_INLINE void deliver(const V& v, u32 index, TerminalControl& control, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  CounterShard& shard = *v.shard;
  ++control.received;
  if (packet.dst != t.address[index / t.concentration] ||
      packet.dst_port != t.network_ports + index % t.concentration)
    control.fault |= kFaultMisrouted;
  const u32 latency = now - packet.created, network_latency = now - packet.injected;
  count(shard, Total::kPacketsDelivered);
  count(shard, Total::kLatencySum, latency);
  raise_to(shard, Total::kLastDelivery, now);
  if (packet.created - v.row->window_begin < v.row->window_end - v.row->window_begin) {
    count(shard, Total::kMeasuredDelivered);
    count(shard, Total::kMeasuredLatencySum, latency);
    count(shard, Total::kMeasuredNetworkLatencySum, network_latency);
    count(shard, Total::kMeasuredHops, packet.hops);
    count(shard.latency[histogram_bin(latency)]);
    count(shard.network_latency[histogram_bin(network_latency)]);
    raise_to(shard, Total::kLatencyMax, latency);
    raise_to(shard, Total::kNetworkLatencyMax, network_latency);
  }
  if constexpr (V::traced)
    v.log.write(t.routers + index, Event{packet.src, packet.id, EventKind::kDelivered, 0, 0, 0, 0, 2, packet.flits});
}

template <class V, int W>
FLITLAB_INLINE void receive_at_terminal(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                           u8 mail, Cycle now) {
  const auto& t = v.t;
  const u32 vc = (mail & kVcBits) - 1u;
  count(*v.shard, Total::kFlitsDelivered);
  if (mail & kTailMark) {
    u8& first = terminal.at(t.terminal_fields.first, vc);
    deliver(v, index, control, terminal.at(t.terminal_fields.ring, vc * t.ring + first), now);
    first = next_place(first, t.ring);
  }
  // A terminal takes every flit at once; its place is free again.
  const u32 slot = (now + t.credit_delay) & t.slot_mask, port = t.network_ports + index % t.concentration;
  post(v.routers[index / t.concentration].at(t.router_fields.credit_mail, slot * t.port_words + port / 8), port,
       static_cast<u8>(vc + 1));
}

/// Packets whose creation is due enter the source queue.
template <class V>
FLITLAB_INLINE void create_packets(const V& v, u32 index, TerminalControl& control, Cycle now) {
  const auto& t = v.t;
  while (control.next.at <= now) {
    const u32 flits = has_fixed_length(t.traffic)
                          ? t.traffic.length_flits[0]
                          : packet_flits(t.traffic, packet_draws(*v.row, index, control.next.index));
    count(*v.shard, Total::kPacketsCreated);
    count(*v.shard, Total::kFlitsCreated, flits);
    if (control.next.at - v.row->window_begin < v.row->window_end - v.row->window_begin)
      count(*v.shard, Total::kMeasuredCreated);
    if constexpr (V::traced)
      v.log.write(t.routers + index, Event{index, control.next.index, EventKind::kCreated, 0, 0, 0, 0, 1, u16(flits)});
    ++control.created;
    next_creation(t.traffic, *v.row, index, control.next);
  }
}

/// The oldest queued packet starts to move if a virtual channel of its class has room.
template <class V, int W>
FLITLAB_INLINE bool start_packet(const V& v, const Item<W>& terminal, u32 index, TerminalControl& control,
                                    Cycle now) {
  const auto& t = v.t;
  const Random4 draws = packet_draws(*v.row, index, control.oldest.index);
  Packet packet;
  packet.flits = static_cast<u16>(packet_flits(t.traffic, draws));
  packet.message_class = 0;
  const u32 needed = t.flow_control == FlowControl::kWormhole ? 1u : u32{packet.flits};
  u32 free = 0;
  for (u32 set = t.message_mask[packet.message_class]; set; set &= set - 1)
    if (terminal.at(t.terminal_fields.output, lowest_bit(set)).credits >= needed) free |= 1u << lowest_bit(set);
  if (!free) return false;
  const u32 vc = first_at_or_after(free, control.pick);
  control.pick = static_cast<u8>(vc + 1 == t.vcs ? 0 : vc + 1);

  const u32 router = index / t.concentration, port = t.network_ports + index % t.concentration;
  const u32 destination = packet_destination(t.traffic, index, draws);
  packet.dst = t.address[destination / t.concentration];
  packet.dst_port = static_cast<u16>(t.network_ports + destination % t.concentration);
  packet.src = index;
  packet.created = control.oldest.at;
  packet.injected = now;
  packet.id = control.oldest.index;
  packet.hops = 0;
  plan_route(t, v.row->seed, t.address[router], packet);
  OutputVc& out = terminal.at(t.terminal_fields.output, vc);
  v.routers[router].at(t.router_fields.ring, (port * t.vcs + vc) * t.ring + out.tail) = packet;
  out.tail = next_place(out.tail, t.ring);
  control.vc = static_cast<u8>(vc);
  control.left = packet.flits;
  ++control.sent;
  if (control.sent == control.created)
    control.oldest = control.next;
  else
    next_creation(t.traffic, *v.row, index, control.oldest);
  count(*v.shard, Total::kPacketsInjected);
  if constexpr (V::traced)
    v.log.write(t.routers + index, Event{packet.src, packet.id, EventKind::kInjected, u8(port), u8(vc), 0, 0, 1,
                                         packet.flits});
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
    if (flit) {
      receive_at_terminal(v, terminal, index, control, flit, now);
      flit = 0;
    }
    if (control.next.at <= now) create_packets(v, index, control, now);

    u8 mail = 0;
    if (!control.left) {
      if (control.sent == control.created || !start_packet(v, terminal, index, control, now)) return;
      mail = kHeadMark;
    }
    OutputVc& out = terminal.at(t.terminal_fields.output, control.vc);
    if (!out.credits) return;
    --out.credits;
    mail |= static_cast<u8>(control.vc + 1);
    if (!--control.left) mail |= kTailMark;
    const u32 arrival = (now + t.inject_delay) & t.slot_mask, port = t.network_ports + index % t.concentration;
    post(v.routers[index / t.concentration].at(t.router_fields.flit_mail, arrival * t.port_words + port / 8), port,
         mail);
    count(*v.shard, Total::kFlitsInjected);
  }
};

}  // namespace flitlab::vc
