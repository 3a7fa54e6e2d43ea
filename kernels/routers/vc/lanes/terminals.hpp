#pragma once
/// Terminals with lane state (fields of all terminals of a block side by side, one byte per terminal). This code does
/// the open-loop work of kernels/traffic/terminal.hpp for a whole lane block (up to 64 terminals) at once.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/terminal_link.hpp"
#include "kernels/traffic/source_queue.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::vc::lanes {

/// Takes flits that arrive at terminals, returns their credits, and delivers the packets of tail flits.
template <class C, class S, class V>
FLITLAB_INLINE void take_arrivals(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  const auto& t = v.t;
  Block<C, S>& k = s.block[b];
  const FlitsOf<C, S> arrivals = s.terminal_flits(s.eject_flits, s.slot(now), b);
  s.of_terminals(s.eject_credits, s.slot(now + t.credit_delay), b) = arrivals.vcs();
  const auto arrived = C::members(arrivals.any());
  if (!C::any(arrived)) return;
  count(*v.shard, Total::kFlitsDelivered, C::count(arrived));
  C::for_each(C::members(arrivals.tails()), [&](u32 lane) {
    const u32 index = b * C::lanes + lane;
    const u32 vc = lowest_bit(u32{s.terminal_element(s.eject_flits, s.slot(now), index)});
    auto& first = lane_of(k.arriving_first[vc], lane);
    deliver(v, index, s.terminal[index], s.ring[queue_of<C, S>(S::ports_of(t), index, S::ports_of(t), vc) * S::descriptors(t.ring) + first],
            now);
    first = static_cast<typename C::Element>(next_position(first, t.ring));
  });
}

/// Moves a terminal's cursor to the creation of its next packet, with the same result as next_creation().
template <class C, class S, class V>
FLITLAB_INLINE void advance(const V& v, const State<C, S>& s, u32 index, SourceCursor& cursor) {
  const auto& traffic = v.t.traffic;
  if (!C::draws_ahead || traffic.injection != Injection::kBernoulli || v.row->silent)
    return next_creation(traffic, *v.row, index, cursor);
  if constexpr (C::draws_ahead) {
    StoredDraws& stored_draws = s.stored_draws[index];
    ++cursor.index;
    if (!stored_draws.holds(cursor.index)) {
      const u32 oldest = s.terminal[index].oldest.index;  // needed next, unless the queue is long
      stored_draws.template draw<C::row_bytes>(*v.row, rate_of(traffic, *v.row, index), index,
                                           cursor.index - oldest < StoredDraws::kPackets ? oldest : cursor.index);
    }
    cursor.at += stored_draws.gap[cursor.index - stored_draws.first];
  }
}

/// Returns the destination terminal of a packet, with the same result as packet_destination(). If possible, it uses a
/// draw that was made in advance (stored_draws.hpp).
template <class C, class S, class V>
FLITLAB_INLINE u32 destination_of(const V& v, const State<C, S>& s, u32 index, u32 packet) {
  const auto& traffic = v.t.traffic;
  if constexpr (C::draws_ahead) {
    const StoredDraws& stored_draws = s.stored_draws[index];
    if (traffic.pattern == Pattern::kUniform && stored_draws.holds(packet))
      return uniform_destination(traffic, index, stored_draws.target[packet - stored_draws.first]);
  }
  return packet_destination(traffic, *v.row, index, packet);
}

/// Adds the packets whose creation is due to a terminal's source queue, with the same result as
/// flitlab::create_packets(). If possible, it uses draws that were made in advance (stored_draws.hpp).
template <class C, class S, class V>
FLITLAB_INLINE void create_packets(const V& v, const State<C, S>& s, u32 index, Cycle now) {
  const auto& traffic = v.t.traffic;
  TerminalControl& control = s.terminal[index];
  if (traffic.injection == Injection::kAllAtOnce) return flitlab::create_packets(v, index, control, now);
  do {
    count_creation(v, index, control.next.index, control.next.at,
                   packet_flits(traffic, *v.row, index, control.next.index),
                   [&] { return packet_destination(traffic, *v.row, index, control.next.index); });
    ++control.created;
    advance(v, s, index, control.next);
  } while (control.next.at <= now);
}

template <class C, class S, class V>
FLITLAB_INLINE void create(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  Cycle* next = s.next_creation + std::size_t{b} * C::lanes;
  C::for_each(C::at_most(next, now) & C::members(s.block[b].valid), [&](u32 lane) {
    const u32 index = b * C::lanes + lane;
    create_packets(v, s, index, now);
    next[lane] = s.terminal[index].next.at;
    lane_of(s.block[b].queued, lane) = static_cast<typename C::Element>(~0u);
  });
}

/// Starts the oldest packet of a terminal's source queue on virtual channel `vc`.
template <class C, class S, class V>
FLITLAB_INLINE void start_oldest(const V& v, const State<C, S>& s, u32 b, u32 lane, u32 vc, Cycle now) {
  const auto& t = v.t;
  Block<C, S>& k = s.block[b];
  const u32 index = b * C::lanes + lane;
  TerminalControl& control = s.terminal[index];
  auto& tail = lane_of(k.injection_tail[vc], lane);
  const u32 id = control.oldest.index;
  Packet packet;
  packet.flits = static_cast<u16>(packet_flits(t.traffic, *v.row, index, id));
  packet.message_class = 0;
  packet.tag = 0;
  packet.created = control.oldest.at;
  packet.id = id;
  packet.src = index;
  packet.injected = now;
  packet.hops = 0;
  address_packet(v, index, packet, destination_of(v, s, index, id));
  s.ring[queue_of<C, S>(S::ports_of(t), index, S::network_ports_of(t), vc) * S::descriptors(t.ring) + tail] = packet;
  tail = static_cast<typename C::Element>(next_position(tail, t.ring));
  lane_of(k.left_to_send, lane) = static_cast<typename C::Element>(packet.flits);
  ++control.sent;
  if (control.sent == control.created) {
    control.oldest = control.next;
    lane_of(k.queued, lane) = 0;
  } else {
    advance(v, s, index, control.oldest);
  }
}

/// Returns the VCs of `free` on which the oldest packet of each source queue may start: in wormhole flow control all,
/// otherwise the VCs with credits for the whole packet. `returned`: credits that arrive in this cycle.
template <class C, class S, class V>
FLITLAB_INLINE typename C::Value free_to_start(const V& v, const State<C, S>& s, u32 b, typename C::Value free,
                                               typename C::Value returned) {
  const auto& t = v.t;
  if (t.flow_control == FlowControl::kWormhole) return free;
  using B = typename C::Value;
  Block<C, S>& k = s.block[b];
  C::for_each_of_thread(C::members(k.queued & (B)(k.left_to_send == 0)), [&](u32 lane) {
    const u32 index = b * C::lanes + lane;
    const u32 flits = packet_flits(t.traffic, *v.row, index, s.terminal[index].oldest.index);
    for (u32 vc = 0; vc < t.vcs; ++vc)
      if (k.injection_credits.get(lane, vc) + (lane_of(returned, lane) >> vc & 1) < flits)
        lane_of(free, lane) &= static_cast<typename C::Element>(~C::only(vc));
  });
  return free;
}

/// Idle terminals start their oldest packet; then each terminal with a packet and a credit sends a flit.
template <class C, class S, class V>
FLITLAB_INLINE void send(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  const auto& t = v.t;
  using B = typename C::Value;
  Block<C, S>& k = s.block[b];
  const B returned = s.of_terminals(s.inject_credits, s.slot(now), b);
  const B free = k.injection_credits.nonzero_counts() | returned;
  const B may_start = free_to_start(v, s, b, free & static_cast<typename C::Element>(t.message_mask[0]), returned);
  const B starts = k.queued & (B)(k.left_to_send == 0) & nonzero(may_start);
  if (const auto set = C::members(starts); C::any(set)) {
    const B vc = pick(may_start, k.first_send_vc);
    k.send_vc = select(starts, vc, k.send_vc);
    k.first_send_vc = select(starts, above(vc), k.first_send_vc);
    C::for_each(set, [&](u32 lane) { start_oldest(v, s, b, lane, lowest_bit(u32{lane_of(k.send_vc, lane)}), now); });
    count(*v.shard, Total::kPacketsInjected, C::count(set));
  }
  const B sends = nonzero(k.left_to_send) & nonzero(free & k.send_vc);
  k.left_to_send += sends;  // minus 1
  const FlitsOf<C, S> arrivals = FlitsOf<C, S>::of(k.send_vc, starts, (B)(k.left_to_send == 0)) & sends;
  k.injection_credits.change(returned, k.send_vc & sends);
  s.put_terminal_flits(s.inject_flits, s.slot(now + t.inject_delay), b, arrivals);
  count(*v.shard, Total::kFlitsInjected, C::count(sends));
}

/// One cycle of the terminals of a block.
template <class C, class S, class V>
FLITLAB_INLINE void step_terminals(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  take_arrivals(v, s, b, now);
  create(v, s, b, now);
  send(v, s, b, now);
}

}  // namespace flitlab::vc::lanes
