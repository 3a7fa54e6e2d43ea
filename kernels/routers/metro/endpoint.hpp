#pragma once
/// One cycle of an endpoint: its source and its sinks. A word sent in cycle t is on the wire, and read by the router,
/// in cycle t + 1. A message's latency runs from its first word to its acknowledgment on the source's wire. If a
/// message is created in cycle c and sent at once, the latency runs from cycle c + 1.
#include "kernels/common/flat_lists.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/sink.hpp"

namespace flitlab::metro {

/// Stands for all sinks of an endpoint whose connection is turned in this cycle. One thread processes them in order,
/// because each may change the serial number that the endpoint has last accepted from a source.
inline constexpr u32 kTurning = kMaxLinks + 1;

/// What the parts of a step know of its endpoints.
template <u32 kMost>
struct EndpointLists {
  /// Halves: 0 is the source, 1 + e is the sink of entering link e. Kinds: sources that send, that read an answer, that
  /// begin; sinks that take words, that answer.
  KindList<kMost, kMaxLinks + 2, 5> halves;
  ItemList<kMost> creating;
  u32 turning[kMost];  ///< `[endpoint]`: halves for which kTurning stands

  FLITLAB_INLINE void clear(const ItemRange<kMost>& all) { halves.clear(all.threads), creating.clear(all.threads); }
};

struct EndpointPhase : PhaseOfLists<EndpointPhase, EndpointLists> {
  static constexpr const char* name = "endpoint";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.terminals;
  }

  /// Creates the messages of this cycle. A processor that stalls creates its next message after the last message is
  /// done.
  template <class V>
  FLITLAB_INLINE static void create(const V& v, const Item<V::width>& terminal, u32 index, TerminalControl& control,
                                    Cycle now) {
    const auto& t = v.t;
    if (t.mode == TrafficMode::kTrace) return create_from_trace(v, terminal, index, control, now);
    if (control.next.at == kNever || control.next.at > now) return;
    if (!t.stalls) return create_packets(v, index, control, now);
    count_creation(v, index, control.next.index, control.next.at,
                   packet_flits(t.traffic, *v.row, index, control.next.index),
                   [&] { return packet_destination(t.traffic, *v.row, index, control.next.index); });
    ++control.created;
    control.oldest = control.next;
    control.next.at = kNever;
  }

  /// One cycle of the endpoints `items` (OneItem, lists.hpp).
  template <class Items, class Lists>
  FLITLAB_INLINE static void step(const Items& items, Lists& lists, Cycle now) {
    const auto& t = items.table();
    for (u32 i : items.all()) {
      const auto& v = items.view(i);
      const Cycle next = v.terminals[items.index(i)].at(t.terminal_fields.control).next.at;
      lists.creating.add(i, t.mode == TrafficMode::kTrace || (next != kNever && next <= now));
    }
    for (u32 i : lists.creating) {
      const auto& v = items.view(i);
      const auto terminal = v.terminals[items.index(i)];
      create(v, terminal, items.index(i), terminal.at(t.terminal_fields.control), now);
    }
    for (u32 i : items.all()) list_halves(items.view(i), items.index(i), lists, i, now);
    lists.halves.for_each([&](u32 i, u32 member) __attribute__((always_inline)) {
      const auto& v = items.view(i);
      FLITLAB_ROLLED for (u32 left = member == kTurning ? lists.turning[i] : 1u << member; left; left &= left - 1)
          run_half(v, items.index(i), lowest_bit(left), now);
    });
    for (u32 i : items.all()) {
      const auto& v = items.view(i);
      arriving(v, v.terminals[items.index(i)], now).clear(2 * t.links * t.slices);
    }
  }

 private:
  template <class V>
  FLITLAB_INLINE static InboxWords<V::width> arriving(const V& v, const Item<V::width>& terminal, Cycle now) {
    const auto& t = v.t;
    return {&terminal.at(t.endpoint_fields.mail, (now & t.slot_mask) * 2 * t.links * t.slices)};
  }

  /// Lists the halves of an endpoint that have work.
  template <class V, class Lists>
  FLITLAB_INLINE static void list_halves(const V& v, u32 index, Lists& lists, u32 i, Cycle now) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    const TerminalControl& control = terminal.at(t.terminal_fields.control);
    const Source& source = terminal.at(t.endpoint_fields.source);
    const auto in = arriving(v, terminal, now);
    const bool starts = source.body ? source.from <= now : control.sent != control.created;
    const bool sends = source.state == SourceState::kSending;
    lists.halves.add(source.state != SourceState::kIdle || starts,
                     source.state == SourceState::kIdle ? 2
                     : sends                            ? 0
                                                        : 1,
                     i, 0);
    u32 turning = 0;
    FLITLAB_ROLLED for (u32 entering = 0; entering < t.links; ++entering) {
      const SinkState state = terminal.at(t.endpoint_fields.sink, entering).state;
      const Kind kind = arrived_at(t, in, t.links + entering).kind;
      const bool turns = state == SinkState::kTaking && kind == Kind::kTurn;
      turning |= u32{turns} << (1 + entering);
      lists.halves.add(!turns && (state != SinkState::kIdle || kind == Kind::kData),
                       state == SinkState::kAnswering ? 4 : 3, i, 1 + entering);
    }
    lists.turning[i] = turning;
    lists.halves.add(turning != 0, 3, i, kTurning);
  }

  /// One cycle of the source (half 0) or of a sink (half 1 + entering link). The link is driven here, so that this code
  /// exists once.
  template <class V>
  FLITLAB_INLINE static void run_half(const V& v, u32 index, u32 half, Cycle now) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    Source& source = terminal.at(t.endpoint_fields.source);
    using Words = InboxWords<V::width>;
    const Words in = arriving(v, terminal, now);
    DeferredSignal::One out;
    const DeferredSignal far{out};
    const u32 entering = half - 1;
    if (half == 0)
      SourceCycle<V, DeferredSignal, Words>{
          v, far, terminal, in, index, now, terminal.at(t.terminal_fields.control), source}
          .work();
    else
      SinkCycle<V, DeferredSignal, Words>{
          v, far, terminal, in, index, t.links + entering, now, terminal.at(t.endpoint_fields.sink, entering)}
          .work();
    const u32 link = half == 0 ? source.link : t.links + entering;
    if (out.kind != Kind::kNothing) drive_link(v, FarInbox<V>{v}, terminal, index, link, out.kind, out.content, now);
  }
};

}  // namespace flitlab::metro
