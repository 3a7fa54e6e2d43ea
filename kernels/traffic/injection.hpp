#pragma once
/// Common code of all packet sources: counting a creation, starting a packet on a virtual channel, sending its flits,
/// and counting its delivery.
///
/// The router model provides these functions, found by the namespace of its view:
///   `injection_vcs(v, packet)`            virtual channels on which a packet may enter the network
///   `credits_to_start(v, packet)`         credits that such a VC needs before the packet's head may leave
///   `address_packet(v, index, packet, destination)`  sets dst, dst_port and the routing state
///   `injection_port(v, index)`            the router's port to which a terminal is attached
///   `injection_descriptor(v, index, vc, position)`  packet descriptor `position` of the router's buffer that receives
///                                         the terminal's flits on `vc`
///   `send_to_router(v, index, arrival, now)`, `credit_to_router(v, index, vc, now)`  send a flit or a credit
///   `is_destination(v, index, packet)`    whether a packet's address is that of this terminal
///   `is_misdelivered(v, index, packet)`   whether software intended another terminal; the two may differ if the
///                                         routing tables are wrong
#include "kernels/common/counters.hpp"
#include "kernels/common/events.hpp"
#include "kernels/common/fault.hpp"
#include "kernels/common/inbox.hpp"
#include "kernels/traffic/terminal_state.hpp"

namespace flitlab {

/// Returns whether a packet created in cycle `created` is measured, that is, whether the cycle is in the measurement
/// window.
template <class V>
FLITLAB_INLINE bool measured(const V& v, Cycle created) {
  return created - v.row->window_begin < v.row->window_end - v.row->window_begin;
}

/// Counts a packet that enters the source queue. `destination()` is called in traced runs only; other runs compute it
/// when the packet is sent.
template <class V, class Destination>
FLITLAB_INLINE void count_creation(const V& v, u32 index, u32 id, Cycle created, u32 flits, Destination destination) {
  count(*v.shard, Total::kPacketsCreated);
  count(*v.shard, Total::kFlitsCreated, flits);
  if (measured(v, created)) count(*v.shard, Total::kMeasuredCreated);
  if constexpr (V::traced)
    v.log.write(v.t.routers + index,
                Event{index, id, EventKind::kCreated, 0, 0, 0, 0, head_of(flits), u16(flits), destination()});
}

/// Counts a packet whose tail has arrived. Records a fault if this terminal is not its destination.
template <class V>
FLITLAB_INLINE void deliver(const V& v, u32 index, TerminalControl& control, const Packet& packet, Cycle now) {
  const auto& t = v.t;
  auto& shard = *v.shard;
  ++control.received;
  if (is_misdelivered(v, index, packet)) count(shard, Total::kPacketsMisdelivered);
  if (!is_destination(v, index, packet)) raise_fault(control.fault, kFaultMisrouted, kNoFaultPort);
  const u32 latency = now - packet.created, network_latency = now - packet.injected;
  count(shard, Total::kPacketsDelivered);
  count(shard, Total::kLatencySum, latency);
  count(shard, Total::kNetworkLatencySum, network_latency);
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
    v.log.write(t.routers + index, Event{packet.src, packet.id, EventKind::kDelivered, 0, 0, 0, 0,
                                         tail_of(packet.flits), packet.flits, kNone, latency});
}

/// Starts a packet and returns true if a virtual channel of its class has enough credits. The caller has set the
/// packet's length, class, number and creation cycle; this function sets the other members. It calls `destination()`
/// only for a packet that starts, because a waiting packet would compute its destination in every cycle. `taken`: VCs
/// that it must not use, because they carry other packets of the terminal.
template <class V, int W, class Destination>
FLITLAB_INLINE bool start_packet(const V& v, const Item<W>& terminal, u32 index, PacketInInjection& lane,
                                 Packet& packet, Destination destination, Cycle now, u32 taken = 0) {
  const auto& t = v.t;
  const u32 needed = credits_to_start(v, packet);
  u32 free = 0;
  for (u32 set = injection_vcs(v, packet) & ~taken; set; set &= set - 1)
    if (terminal.at(t.terminal_fields.output, lowest_bit(set)).credits >= needed) free |= 1u << lowest_bit(set);
  if (!free) return false;
  const u32 vc = first_at_or_after(free, lane.pick);
  lane.pick = static_cast<u8>(vc + 1 == t.vcs ? 0 : vc + 1);

  packet.src = index;
  packet.injected = now;
  packet.hops = 0;
  address_packet(v, index, packet, destination());
  InjectionVc& out = terminal.at(t.terminal_fields.output, vc);
  injection_descriptor(v, index, vc, out.tail) = packet;
  out.tail = next_position(out.tail, t.ring);
  lane.vc = static_cast<u8>(vc);
  lane.left = packet.flits;
  count(*v.shard, Total::kPacketsInjected);
  if constexpr (V::traced)
    v.log.write(t.routers + index, Event{packet.src, packet.id, EventKind::kInjected, u8(injection_port(v, index)),
                                         u8(vc), 0, 0, head_of(packet.flits), packet.flits});
  return true;
}

/// Sends the next flit of the packet being injected if there is a credit for it. Returns whether it sent a flit.
/// `mark`: kHeadMark for a head flit.
template <class V, int W>
FLITLAB_INLINE bool send_next_flit(const V& v, const Item<W>& terminal, u32 index, PacketInInjection& lane, u8 mark,
                                   Cycle now) {
  const auto& t = v.t;
  InjectionVc& out = terminal.at(t.terminal_fields.output, lane.vc);
  if (!out.credits) return false;
  --out.credits;
  u8 arrival = static_cast<u8>(mark | (lane.vc + 1));
  if (!--lane.left) arrival |= kTailMark;
  send_to_router(v, index, arrival, now);
  count(*v.shard, Total::kFlitsInjected);
  return true;
}

}  // namespace flitlab
