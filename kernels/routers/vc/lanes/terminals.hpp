#pragma once
/// Terminals with lane state (fields of a block's terminals side by side). This code does the open-loop work of
/// kernels/traffic/terminal.hpp for up to 64 terminals at once: the i-th terminals of the routers of a lane block.
/// Closed loops (closed_loop.hpp) use parts of it.
#include "kernels/routers/vc/lanes/state.hpp"
#include "kernels/routers/vc/terminal_link.hpp"
#include "kernels/traffic/source_queue.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::vc::lanes {

template <class C, class S, class V>
struct LaneTerminals {
  using B = typename C::Value;
  using E = typename C::Element;
  const V& v;
  const State<C, S>& s;
  u32 b, i;
  Cycle now;
  Terminals<C, S>& k;
  u32 row;  ///< in the arrays of terminals

  FLITLAB_INLINE LaneTerminals(const V& view, const State<C, S>& state, u32 block, u32 terminal, Cycle cycle)
      : v(view),
        s(state),
        b(block),
        i(terminal),
        now(cycle),
        k(state.terminals(block, terminal)),
        row(state.row_of(block, terminal)) {}

  FLITLAB_INLINE u32 place(u32 lane) const { return row * C::lanes + lane; }
  FLITLAB_INLINE u32 index(u32 lane) const { return s.terminal_of(b, i, lane); }
  /// Returns the packet queue at port `port` + i of the router.
  FLITLAB_INLINE Packet* queue(u32 lane, u32 port, u32 vc) const {
    return &s.ring[queue_of<C, S>(v.t, b * C::lanes + lane, port + i, vc) * S::descriptors(v.t.ring)];
  }

  /// Takes flits that arrive at terminals, returns their credits, and delivers the packets of tail flits.
  FLITLAB_INLINE void take_arrivals() const {
    const auto& t = v.t;
    const FlitsOf<C, S> arrivals = s.terminal_flits(s.eject_flits, s.slot(now), row);
    s.of_terminals(s.eject_credits, s.slot(now + t.credit_delay), row) = arrivals.vcs();
    const auto arrived = C::members(arrivals.any());
    if (!C::any(arrived)) return;
    count(*v.shard, Total::kFlitsDelivered, C::count(arrived));
    C::for_each(C::members(arrivals.tails()), [&](u32 lane) {
      const u32 vc = lowest_bit(u32{s.terminal_element(s.eject_flits, s.slot(now), place(lane))});
      E& first = lane_of(k.arriving_first[vc], lane);
      deliver(v, index(lane), s.terminal[place(lane)], queue(lane, S::ports_of(t), vc)[first], now);
      first = static_cast<E>(next_position(first, t.ring));
    });
  }

  /// Moves a terminal's cursor to the creation of its next packet, with the same result as next_creation(). `oldest`:
  /// number of the packet that is sent next; its draws are stored, unless the queue is long.
  FLITLAB_INLINE void advance(u32 lane, SourceCursor& cursor, u32 oldest) const {
    const auto& traffic = v.t.traffic;
    if (!C::draws_ahead || traffic.injection != Injection::kBernoulli || v.row->silent)
      return next_creation(traffic, *v.row, index(lane), cursor);
    if constexpr (C::draws_ahead) {
      StoredDraws& stored_draws = s.stored_draws[place(lane)];
      ++cursor.index;
      if (!stored_draws.holds(cursor.index)) {
        stored_draws.template draw<C::row_bytes>(*v.row, rate_of(traffic, *v.row, index(lane)), index(lane),
                                                 cursor.index - oldest < StoredDraws::kPackets ? oldest : cursor.index);
      }
      cursor.at += stored_draws.gap[cursor.index - stored_draws.first];
    }
  }

  /// Returns the destination terminal of a packet, with the same result as packet_destination(). If possible, it uses a
  /// draw that was made in advance (stored_draws.hpp).
  FLITLAB_INLINE u32 destination_of(u32 lane, u32 packet) const {
    const auto& traffic = v.t.traffic;
    if constexpr (C::draws_ahead) {
      const StoredDraws& stored_draws = s.stored_draws[place(lane)];
      if (traffic.pattern == Pattern::kUniform && stored_draws.holds(packet))
        return uniform_destination(traffic, index(lane), stored_draws.target[packet - stored_draws.first]);
    }
    return packet_destination(traffic, *v.row, index(lane), packet);
  }

  /// Adds the packets whose creation is due to a terminal's source queue, with the same result as
  /// flitlab::create_packets(). If possible, it uses draws that were made in advance (stored_draws.hpp).
  FLITLAB_INLINE void create_packets(u32 lane) const {
    const auto& traffic = v.t.traffic;
    TerminalControl& control = s.terminal[place(lane)];
    if (traffic.injection == Injection::kAllAtOnce) return flitlab::create_packets(v, index(lane), control, now);
    do {
      count_creation(v, index(lane), control.next.index, control.next.at,
                     packet_flits(traffic, *v.row, index(lane), control.next.index),
                     [&] { return packet_destination(traffic, *v.row, index(lane), control.next.index); });
      ++control.created;
      advance(lane, control.next, control.oldest.index);
    } while (control.next.at <= now);
  }

  FLITLAB_INLINE void create() const {
    Cycle* next = s.next_creation + std::size_t{row} * C::lanes;
    C::for_each(C::at_most(next, now) & C::members(k.valid), [&](u32 lane) {
      create_packets(lane);
      next[lane] = s.terminal[place(lane)].next.at;
      lane_of(k.queued, lane) = static_cast<E>(~0u);
    });
  }

  /// Starts a packet on virtual channel `vc`. The caller has set the packet's length, class, tag, number and creation
  /// cycle.
  FLITLAB_INLINE void start_packet(u32 lane, u32 vc, Packet& packet, u32 destination) const {
    E& tail = lane_of(k.injection_tail[vc], lane);
    packet.src = index(lane);
    packet.injected = now;
    packet.hops = 0;
    address_packet(v, index(lane), packet, destination);
    queue(lane, S::network_ports_of(v.t), vc)[tail] = packet;
    tail = static_cast<E>(next_position(tail, v.t.ring));
  }

  /// Starts the oldest packet of a terminal's source queue on virtual channel `vc`.
  FLITLAB_INLINE void start_oldest(u32 lane, u32 vc) const {
    TerminalControl& control = s.terminal[place(lane)];
    const u32 id = control.oldest.index;
    Packet packet;
    packet.flits = static_cast<u16>(packet_flits(v.t.traffic, *v.row, index(lane), id));
    packet.message_class = 0;
    packet.tag = 0;
    packet.created = control.oldest.at;
    packet.id = id;
    start_packet(lane, vc, packet, destination_of(lane, id));
    lane_of(k.left_to_send, lane) = static_cast<E>(packet.flits);
    ++control.sent;
    if (control.sent == control.created) {
      control.oldest = control.next;
      lane_of(k.queued, lane) = 0;
    } else {
      advance(lane, control.oldest, control.oldest.index);
    }
  }

  /// Returns the VCs of `free` on which the oldest packets of the queues in `waiting` may start: in wormhole flow
  /// control all, otherwise the VCs with credits for the whole packet, or with all credits. `returned`: credits that
  /// arrive in this cycle. `flits_of(lane)`: length of the oldest packet.
  template <class Flits>
  FLITLAB_INLINE B free_to_start(B free, B returned, B waiting, Flits&& flits_of) const {
    const auto& t = v.t;
    if (takes_without_credits(t)) return free;
    C::for_each_of_thread(C::members(waiting), [&](u32 lane) {
      const u32 needed = credits_to_take(t, flits_of(lane));
      for (u32 vc = 0; vc < t.vcs; ++vc)
        if (k.injection_credits.get(lane, vc) + (lane_of(returned, lane) >> vc & 1) < needed)
          lane_of(free, lane) &= static_cast<E>(~C::only(vc));
    });
    return free;
  }

  /// Idle terminals start their oldest packet; then each terminal with a packet and a credit sends a flit.
  FLITLAB_INLINE void send() const {
    const auto& t = v.t;
    const B returned = s.of_terminals(s.inject_credits, s.slot(now), row);
    const B free = k.injection_credits.nonzero_counts() | returned;
    const B waiting = k.queued & (B)(k.left_to_send == 0);
    const B may_start = free_to_start(free & static_cast<E>(t.message_mask[0]), returned, waiting, [&](u32 lane) {
      return packet_flits(t.traffic, *v.row, index(lane), s.terminal[place(lane)].oldest.index);
    });
    const B starts = waiting & nonzero(may_start);
    if (const auto set = C::members(starts); C::any(set)) {
      const B vc = pick(may_start, k.first_send_vc);
      k.send_vc = select(starts, vc, k.send_vc);
      k.first_send_vc = select(starts, above(vc), k.first_send_vc);
      C::for_each(set, [&](u32 lane) { start_oldest(lane, lowest_bit(u32{lane_of(k.send_vc, lane)})); });
      count(*v.shard, Total::kPacketsInjected, C::count(set));
    }
    const B sends = nonzero(k.left_to_send) & nonzero(free & k.send_vc);
    k.left_to_send += sends;  // minus 1
    const FlitsOf<C, S> arrivals = FlitsOf<C, S>::of(k.send_vc, starts, (B)(k.left_to_send == 0)) & sends;
    k.injection_credits.change(returned, k.send_vc & sends);
    s.put_terminal_flits(s.inject_flits, s.slot(now + t.inject_delay), row, arrivals);
    count(*v.shard, Total::kFlitsInjected, C::count(sends));
  }
};

}  // namespace flitlab::vc::lanes
