#pragma once
/// Terminals beside lanes of routers: what kernels/traffic/terminal.hpp does in an open loop, for L of them at once.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/terminal_link.hpp"
#include "kernels/traffic/source_queue.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::vc::lanes {

/// The lanes of a block whose next packet is due.
template <int L>
FLITLAB_INLINE u64 creations_due(const Cycle* next, Cycle now) {
  u64 due = 0;
#if defined(__AVX512F__)
  for (int i = 0; i < L / 16; ++i)
    due |= u64{_mm512_cmple_epu32_mask(_mm512_load_si512(next + 16 * i), _mm512_set1_epi32(static_cast<int>(now)))}
           << (16 * i);
#elif defined(__AVX2__)
  for (int i = 0; i < L / 8; ++i) {
    const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(next + 8 * i));
    const __m256i least = _mm256_min_epu32(at, _mm256_set1_epi32(static_cast<int>(now)));
    due |= u64{static_cast<u8>(_mm256_movemask_ps((__m256)_mm256_cmpeq_epi32(at, least)))} << (8 * i);
  }
#else
  for (int i = 0; i < L; ++i) due |= u64{next[i] <= now} << i;
#endif
  return due;
}

/// Flits that arrive at terminals: their places are free again, and packets whose tails they are have been delivered.
template <int L, class S, class V>
FLITLAB_INLINE void take_arrivals(const V& v, const State<L, S>& s, u32 b, Cycle now) {
  const auto& t = v.t;
  Block<L, S>& k = s.block[b];
  const FlitsOf<L, S> mail = s.terminal_flits(s.eject_mail, now & t.slot_mask, b);
  s.of_terminals(s.eject_credits, (now + t.credit_delay) & t.slot_mask, b) = mail.vcs();
  const u64 arrived = members(mail.any());
  if (!arrived) return;
  count(*v.shard, Total::kFlitsDelivered, bit_count64(arrived));
  for_each_lane(members(mail.tails()), [&](u32 lane) {
    const u32 index = b * L + lane, vc = mail.vc(lane);
    u8& first = lane_of(k.arriving_first[vc], lane);
    deliver(v, index, s.terminal[index], s.ring[queue_of<L, S>(index, S::ports, vc) * S::places(t.ring) + first], now);
    first = next_place(first, t.ring);
  });
}

/// Moves a cursor of a terminal to the creation of its next packet, as next_creation().
template <int L, class S, class V>
FLITLAB_INLINE void advance(const V& v, const State<L, S>& s, u32 index, SourceCursor& cursor) {
  const auto& traffic = v.t.traffic;
  if (traffic.injection != Injection::kBernoulli || v.row->silent) return next_creation(traffic, *v.row, index, cursor);
  Ahead& ahead = s.ahead[index];
  ++cursor.index;
  if (!ahead.knows(cursor.index)) {
    const u32 oldest = s.terminal[index].oldest.index;  // it is asked for next, unless the queue is long
    ahead.template draw<L>(*v.row, index, cursor.index - oldest < Ahead::kPackets ? oldest : cursor.index);
  }
  cursor.at += ahead.gap[cursor.index - ahead.first];
}

/// As packet_destination().
template <int L, class S, class V>
FLITLAB_INLINE u32 destination_of(const V& v, const State<L, S>& s, u32 index, u32 packet) {
  const auto& traffic = v.t.traffic;
  const Ahead& ahead = s.ahead[index];
  if (traffic.pattern == Pattern::kUniform && ahead.knows(packet))
    return uniform_destination(traffic, index, ahead.target[packet - ahead.first]);
  return packet_destination(traffic, *v.row, index, packet);
}

/// As create_packets().
template <int L, class S, class V>
FLITLAB_INLINE void create_packets(const V& v, const State<L, S>& s, u32 index, Cycle now) {
  const auto& traffic = v.t.traffic;
  TerminalControl& control = s.terminal[index];
  if (traffic.injection == Injection::kAllAtOnce) return flitlab::create_packets(v, index, control, now);
  do {
    count_creation(v, index, control.next.index, control.next.at,
                   packet_flits(traffic, *v.row, index, control.next.index));
    ++control.created;
    advance(v, s, index, control.next);
  } while (control.next.at <= now);
}

template <int L, class S, class V>
FLITLAB_INLINE void create(const V& v, const State<L, S>& s, u32 b, Cycle now) {
  Cycle* next = s.next_creation + std::size_t{b} * L;
  for_each_lane(creations_due<L>(next, now) & members(s.block[b].valid), [&](u32 lane) {
    const u32 index = b * L + lane;
    create_packets(v, s, index, now);
    next[lane] = s.terminal[index].next.at;
    lane_of(s.block[b].queued, lane) = 0xFF;
  });
}

/// The oldest packet of a terminal's queue starts on a virtual channel (a set of one).
template <int L, class S, class V>
FLITLAB_INLINE void start_oldest(const V& v, const State<L, S>& s, u32 b, u32 lane, u32 vc, Cycle now) {
  const auto& t = v.t;
  Block<L, S>& k = s.block[b];
  const u32 index = b * L + lane;
  TerminalControl& control = s.terminal[index];
  u8& tail = lane_of(k.injection_tail[vc], lane);
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
  s.ring[queue_of<L, S>(index, S::network_ports, vc) * S::places(t.ring) + tail] = packet;
  tail = next_place(tail, t.ring);
  lane_of(k.left_to_send, lane) = static_cast<u8>(packet.flits);
  ++control.sent;
  if (control.sent == control.created) {
    control.oldest = control.next;
    lane_of(k.queued, lane) = 0;
  } else {
    advance(v, s, index, control.oldest);
  }
}

/// Of VCs with credits, those that the oldest packet of each queue may start on: in a wormhole all, else those with
/// room for all of it.
template <int L, class S, class V>
FLITLAB_INLINE Bytes<L> free_to_start(const V& v, const State<L, S>& s, u32 b, Bytes<L> free, Bytes<L> returned) {
  const auto& t = v.t;
  if (t.flow_control == FlowControl::kWormhole) return free;
  Block<L, S>& k = s.block[b];
  for_each_lane(members(k.queued & (Bytes<L>)(k.left_to_send == 0)), [&](u32 lane) {
    const u32 index = b * L + lane;
    const u32 flits = packet_flits(t.traffic, *v.row, index, s.terminal[index].oldest.index);
    for (u32 vc = 0; vc < t.vcs; ++vc)
      if (k.injection_credits.get(lane, vc) + (lane_of(returned, lane) >> vc & 1) < flits)
        lane_of(free, lane) &= static_cast<u8>(~only(vc));
  });
  return free;
}

/// Packets start where nothing is being sent, and every terminal that can sends a flit.
template <int L, class S, class V>
FLITLAB_INLINE void send(const V& v, const State<L, S>& s, u32 b, Cycle now) {
  const auto& t = v.t;
  Block<L, S>& k = s.block[b];
  const Bytes<L> returned = s.of_terminals(s.inject_credits, now & t.slot_mask, b);
  const Bytes<L> free = k.injection_credits.some() | returned;
  const Bytes<L> may_start = free_to_start(v, s, b, free & static_cast<u8>(t.message_mask[0]), returned);
  const Bytes<L> starts = k.queued & (Bytes<L>)(k.left_to_send == 0) & nonzero(may_start);
  if (const u64 set = members(starts)) {
    const Bytes<L> vc = pick(may_start, k.first_send_vc);
    k.send_vc = select(starts, vc, k.send_vc);
    k.first_send_vc = select(starts, above(vc), k.first_send_vc);
    for_each_lane(set, [&](u32 lane) { start_oldest(v, s, b, lane, lowest_bit(u32{lane_of(vc, lane)}), now); });
    count(*v.shard, Total::kPacketsInjected, bit_count64(set));
  }
  const Bytes<L> sends = nonzero(k.left_to_send) & nonzero(free & k.send_vc);
  k.left_to_send += sends;  // minus 1
  const FlitsOf<L, S> mail = FlitsOf<L, S>::of(k.send_vc, starts, (Bytes<L>)(k.left_to_send == 0)) & sends;
  k.injection_credits.change(returned, k.send_vc & sends);
  s.put_terminal_flits(s.inject_mail, (now + t.inject_delay) & t.slot_mask, b, mail);
  count(*v.shard, Total::kFlitsInjected, count_members(sends));
}

/// A cycle of the terminals of a block.
template <int L, class S, class V>
FLITLAB_INLINE void step_terminals(const V& v, const State<L, S>& s, u32 b, Cycle now) {
  take_arrivals(v, s, b, now);
  create(v, s, b, now);
  send(v, s, b, now);
}

}  // namespace flitlab::vc::lanes
