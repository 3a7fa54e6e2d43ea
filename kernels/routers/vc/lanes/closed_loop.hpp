#pragma once
/// Terminals with lane state in request-reply traffic: the work of kernels/traffic/closed_loop.hpp for up to 64
/// terminals at once. Flits are consumed and sent for all terminals by operations on sets. Starts and ends of packets
/// are rare, so the scalar rules process them one by one; their records (LoopControl, transactions, queued replies)
/// stay in the scalar state's memory.
#include "kernels/routers/vc/lanes/terminals.hpp"

namespace flitlab::vc::lanes {

template <class C, class S, class V>
struct LaneLoops {
  using B = typename C::Value;
  using E = typename C::Element;
  const LaneTerminals<C, S, V> common;
  const V& v;
  const State<C, S>& s;
  Cycle now;
  Terminals<C, S>& k;  ///< the packet being injected is a request
  Loops<C, S>& l;
  u32 row;

  FLITLAB_INLINE LaneLoops(const V& view, const State<C, S>& state, u32 block, u32 terminal, Cycle cycle)
      : common(view, state, block, terminal, cycle),
        v(view),
        s(state),
        now(cycle),
        k(common.k),
        l(state.loops[state.row_of(block, terminal)]),
        row(common.row) {}

  FLITLAB_INLINE auto terminal(u32 lane) const { return v.terminals[common.index(lane)]; }
  FLITLAB_INLINE TerminalControl& control(u32 lane) const { return s.terminal[common.place(lane)]; }
  FLITLAB_INLINE LoopControl& loop(u32 lane) const { return terminal(lane).at(v.t.terminal_fields.loop); }
  FLITLAB_INLINE const Packet& front(u32 lane, u32 vc) const {
    return common.queue(lane, S::ports_of(v.t), vc)[lane_of(k.arriving_first[vc], lane)];
  }
  static FLITLAB_INLINE E all_if(bool condition) { return condition ? static_cast<E>(~E{0}) : E{0}; }

  // Update sets and cycles that follow from the records of a terminal.
  FLITLAB_INLINE void note_full(u32 lane) const { lane_of(l.full, lane) = all_if(!accepts_request(v, loop(lane))); }
  FLITLAB_INLINE void note_replies(u32 lane) const {
    const LoopControl& loop = this->loop(lane);
    lane_of(l.queued, lane) = all_if(loop.created);
    s.next_reply[common.place(lane)] = next_reply(v, terminal(lane), loop);
  }
  FLITLAB_INLINE void note_requests(u32 lane) const {
    lane_of(k.queued, lane) = all_if(control(lane).sent != control(lane).created);
    s.next_creation[common.place(lane)] = next_request(v, control(lane), loop(lane));
  }
  FLITLAB_INLINE void note_front(u32 lane, u32 vc) const {
    C::put_bits(lane_of(l.requests, lane), C::only(vc), is_reply(front(lane, vc)) ? E{0} : C::only(vc));
  }

  /// Returns the VCs whose front packets are requests. With several message classes requests have VCs of their own.
  FLITLAB_INLINE B requests() const {
    return v.t.message_classes == 1 ? B{l.requests} : B{} | static_cast<E>(v.t.message_mask[0]);
  }

  /// consume_flit() for all terminals.
  FLITLAB_INLINE void take_arrivals() const {
    const FlitsOf<C, S> flits = s.terminal_flits(s.eject_flits, s.slot(now), row);
    const B arrived = flits.vcs(), before = l.held.nonzero_counts(), begun = l.left.nonzero_counts();
    if (v.t.message_classes == 1)
      C::for_each(C::members(flits.heads() & nonzero(arrived & ~before)), [&](u32 lane) {
        note_front(lane, lowest_bit(u32{s.terminal_element(s.eject_flits, s.slot(now), common.place(lane))}));
      });
    const B vc = pick((before | arrived) & (begun | ~(requests() & l.full)), l.first_take);
    const u32 credits = s.slot(now + v.t.credit_delay);
    s.of_terminals(s.eject_credits, credits, row) = vc;
    l.held.change(arrived, vc);
    l.first_take = select(nonzero(vc), above(vc), l.first_take);
    count(*v.shard, Total::kFlitsDelivered, C::count(nonzero(vc)));
    const auto vc_of = [&](u32 lane) {
      return lowest_bit(u32{s.terminal_element(s.eject_credits, credits, common.place(lane))});
    };
    C::for_each(C::members(vc & ~begun), [&](u32 lane) {
      const Packet& packet = front(lane, vc_of(lane));
      l.left.set(lane, vc_of(lane), packet.flits);
      if (is_reply(packet)) return;
      ++loop(lane).promised;
      note_full(lane);
    });
    const B ends = l.left.ones(vc);
    l.left.subtract(vc);
    C::for_each(C::members(ends), [&](u32 lane) {
      const u32 vc = vc_of(lane);
      E& first = lane_of(k.arriving_first[vc], lane);
      receive_packet(v, terminal(lane), common.index(lane), control(lane), loop(lane), front(lane, vc), now);
      first = static_cast<E>(next_position(first, v.t.ring));
      note_requests(lane);
      note_replies(lane);
      if (v.t.message_classes == 1) note_front(lane, vc);
    });
  }

  /// Creates the replies whose delay is over and the requests that are due.
  FLITLAB_INLINE void create() const {
    const std::size_t first = std::size_t{row} * C::lanes;
    C::for_each(C::at_most(s.next_reply + first, now) & C::members(k.valid), [&](u32 lane) {
      create_replies(v, terminal(lane), common.index(lane), loop(lane), now);
      note_replies(lane);
    });
    C::for_each(C::at_most(s.next_creation + first, now) & C::members(k.valid), [&](u32 lane) {
      create_requests(v, terminal(lane), common.index(lane), control(lane), loop(lane), now,
                      [&](SourceCursor& next) { common.advance(lane, next, control(lane).sent); });
      note_requests(lane);
    });
  }

  FLITLAB_INLINE void start_request(u32 lane) const {
    TerminalControl& control = this->control(lane);
    Packet packet = oldest_request(v, terminal(lane), common.index(lane), control);
    common.start_packet(lane, lowest_bit(u32{lane_of(k.send_vc, lane)}), packet,
                        common.destination_of(lane, packet.id));
    lane_of(k.left_to_send, lane) = static_cast<E>(packet.flits);
    ++control.sent;
    note_requests(lane);
  }
  FLITLAB_INLINE void start_reply(u32 lane) const {
    LoopControl& loop = this->loop(lane);
    Packet packet = oldest_reply(v, terminal(lane), common.index(lane), loop);
    const u32 to = terminal(lane).at(v.t.terminal_fields.reply, loop.reply_first).to;
    common.start_packet(lane, lowest_bit(u32{lane_of(l.send_vc, lane)}), packet, to);
    lane_of(l.left_to_send, lane) = static_cast<E>(packet.flits);
    remove_oldest_reply(v, loop);
    note_replies(lane);
    note_full(lane);
  }

  /// send_in_turns() for all terminals.
  FLITLAB_INLINE void send() const {
    const auto& t = v.t;
    const B returned = s.of_terminals(s.inject_credits, s.slot(now), row);
    const B free = k.injection_credits.nonzero_counts() | returned;
    const B requesting = nonzero(k.left_to_send), replying = nonzero(l.left_to_send);
    // With one message class requests and replies use the same VCs, and flits of two packets must not mix in one VC.
    const B apart = t.message_classes == 1 ? ~(requesting | replying) : ~B{};
    const B new_requests = k.queued & ~requesting & apart, new_replies = l.queued & ~replying & apart;
    const B request_vcs = common.free_to_start(
        free & static_cast<E>(t.message_mask[0]), returned, new_requests,
        [&](u32 lane) { return packet_flits(t.traffic, *v.row, common.index(lane), control(lane).sent); });
    const B reply_vcs =
        common.free_to_start(free & static_cast<E>(t.message_mask[t.message_classes - 1]), returned, new_replies,
                             [&](u32 lane) { return reply_flits(v, common.index(lane), loop(lane).replies_sent); });
    const B may_request = (requesting & nonzero(free & k.send_vc)) | (new_requests & nonzero(request_vcs));
    const B may_reply = (replying & nonzero(free & l.send_vc)) | (new_replies & nonzero(reply_vcs));
    const B requests = may_request & (l.replied | ~may_reply), replies = may_reply & ~requests;
    l.replied = (l.replied & ~requests) | replies;

    const B first_requests = requests & new_requests, first_replies = replies & new_replies;
    start(first_requests, request_vcs, k.send_vc, k.first_send_vc, [&](u32 lane) { start_request(lane); });
    start(first_replies, reply_vcs, l.send_vc, l.first_send_vc, [&](u32 lane) { start_reply(lane); });
    k.left_to_send += requests;  // minus 1
    l.left_to_send += replies;
    const B vc = (k.send_vc & requests) | (l.send_vc & replies), sends = requests | replies;
    const B last = (requests & (B)(k.left_to_send == 0)) | (replies & (B)(l.left_to_send == 0));
    k.injection_credits.change(returned, vc);
    s.put_terminal_flits(s.inject_flits, s.slot(now + t.inject_delay), row,
                         FlitsOf<C, S>::of(vc, first_requests | first_replies, last));
    count(*v.shard, Total::kFlitsInjected, C::count(sends));
  }

  /// Starts packets of the terminals in `starts`, each on one of the VCs in `vcs`.
  template <class Start>
  FLITLAB_INLINE void start(B starts, B vcs, typename C::Row& send_vc, typename C::Row& first_send_vc,
                            Start&& start) const {
    const auto set = C::members(starts);
    if (!C::any(set)) return;
    const B vc = pick(vcs, first_send_vc);
    send_vc = select(starts, vc, send_vc);
    first_send_vc = select(starts, above(vc), first_send_vc);
    C::for_each(set, start);
    count(*v.shard, Total::kPacketsInjected, C::count(set));
  }
};

/// One cycle of the terminals of a block that have lane state.
template <class C, class S, class V>
FLITLAB_INLINE void step_terminals(const V& v, const State<C, S>& s, u32 b, Cycle now) {
  const auto step = [](const auto& terminals) {
    terminals.take_arrivals();
    terminals.create();
    terminals.send();
  };
  for (u32 i = 0; i < S::concentration_of(v.t); ++i) {
    if constexpr (!std::is_base_of_v<OpenVcTable, typename V::Table>)
      if (v.t.mode == TrafficMode::kRequestReply) {
        step(LaneLoops<C, S, V>(v, s, b, i, now));
        continue;
      }
    step(LaneTerminals<C, S, V>(v, s, b, i, now));
  }
}

}  // namespace flitlab::vc::lanes
