#pragma once
/// What every source of packets has in common: counting a creation, starting a packet on a virtual channel, sending
/// its flits one by one, and counting it when it has arrived.
#include "kernels/routers/vc/route.hpp"
#include "kernels/routers/vc/switch.hpp"

namespace flitlab::vc {

template <class V>
FLITLAB_INLINE bool measured(const V& v, Cycle created) {
  return created - v.row->window_begin < v.row->window_end - v.row->window_begin;
}

/// A packet enters the source queue.
template <class V>
FLITLAB_INLINE void count_creation(const V& v, u32 index, u32 id, Cycle created, u32 flits) {
  count(*v.shard, Total::kPacketsCreated);
  count(*v.shard, Total::kFlitsCreated, flits);
  if (measured(v, created)) count(*v.shard, Total::kMeasuredCreated);
  if constexpr (V::traced)
    v.log.write(v.t.routers + index, Event{index, id, EventKind::kCreated, 0, 0, 0, 0, 1, u16(flits)});
}

/// A packet's tail has arrived.
template <class V>
FLITLAB_INLINE void deliver(const V& v, u32 index, TerminalControl& control, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  CounterShard& shard = *v.shard;
  ++control.received;
  if (packet.dst != t.address[index / t.concentration] || packet.dst_port != t.network_ports + index % t.concentration)
    raise_fault(control.fault, kFaultMisrouted, kNoFaultPort);
  const u32 latency = now - packet.created, network_latency = now - packet.injected;
  count(shard, Total::kPacketsDelivered);
  count(shard, Total::kLatencySum, latency);
  raise_to(shard, Total::kLastDelivery, now);
  if (measured(v, packet.created)) {
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

/// A packet starts to move if a virtual channel of its class has room. The caller has set its length, class, name and
/// creation; the rest is set here.
template <class V, int W>
FLITLAB_INLINE bool start_packet(const V& v, const Item<W>& terminal, u32 index, InjectionLane& lane, Packet& packet,
                                 u32 destination, Cycle now) {
  const auto& t = v.t;
  const u32 needed = t.flow_control == FlowControl::kWormhole ? 1u : u32{packet.flits};
  u32 free = 0;
  for (u32 set = t.message_mask[packet.message_class]; set; set &= set - 1)
    if (terminal.at(t.terminal_fields.output, lowest_bit(set)).credits >= needed) free |= 1u << lowest_bit(set);
  if (!free) return false;
  const u32 vc = first_at_or_after(free, lane.pick);
  lane.pick = static_cast<u8>(vc + 1 == t.vcs ? 0 : vc + 1);

  const u32 router = index / t.concentration, port = t.network_ports + index % t.concentration;
  packet.dst = t.address[destination / t.concentration];
  packet.dst_port = static_cast<u8>(t.network_ports + destination % t.concentration);
  packet.src = index;
  packet.injected = now;
  packet.hops = 0;
  plan_route(t, v.row->seed, t.address[router], packet);
  OutputVc& out = terminal.at(t.terminal_fields.output, vc);
  v.routers[router].at(t.router_fields.ring, (port * t.vcs + vc) * t.ring + out.tail) = packet;
  out.tail = next_place(out.tail, t.ring);
  lane.vc = static_cast<u8>(vc);
  lane.left = packet.flits;
  count(*v.shard, Total::kPacketsInjected);
  if constexpr (V::traced)
    v.log.write(t.routers + index,
                Event{packet.src, packet.id, EventKind::kInjected, u8(port), u8(vc), 0, 0, 1, packet.flits});
  return true;
}

/// The next flit of a lane's packet goes to the router if there is a credit for it. `mark` is kHeadMark for a head.
template <class V, int W>
FLITLAB_INLINE bool send_from_lane(const V& v, const Item<W>& terminal, u32 index, InjectionLane& lane, u8 mark,
                                   Cycle now) {
  const auto& t = v.t;
  OutputVc& out = terminal.at(t.terminal_fields.output, lane.vc);
  if (!out.credits) return false;
  --out.credits;
  u8 mail = static_cast<u8>(mark | (lane.vc + 1));
  if (!--lane.left) mail |= kTailMark;
  const u32 arrival = (now + t.inject_delay) & t.slot_mask, port = t.network_ports + index % t.concentration;
  post(v.routers[index / t.concentration].at(t.router_fields.flit_mail, arrival * t.port_words + port / 8), port, mail);
  count(*v.shard, Total::kFlitsInjected);
  return true;
}

/// Tells the router that a place of ejection VC `vc` is free.
template <class V>
FLITLAB_INLINE void return_ejection_credit(const V& v, u32 index, u32 vc, Cycle now) {
  const auto& t = v.t;
  const u32 slot = (now + t.credit_delay) & t.slot_mask, port = t.network_ports + index % t.concentration;
  post(v.routers[index / t.concentration].at(t.router_fields.credit_mail, slot * t.port_words + port / 8), port,
       static_cast<u8>(vc + 1));
}

}  // namespace flitlab::vc
