#pragma once
/// Bulk phase of endpoints, for one CPU thread. Sources and sinks in the same state are collected in lists, without
/// branches, like the ports of routers (routers.hpp).
#include "kernels/common/lists.hpp"
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/endpoint.hpp"
#include "kernels/routers/metro/lanes/inboxes.hpp"

namespace flitlab::metro::lanes {

/// Returns the first cycle after this one in which an endpoint without a connection must run even if no word arrives.
template <class V>
FLITLAB_INLINE Cycle next_wake(const V& v, u32 index, Cycle now) {
  const auto& t = v.t;
  const auto terminal = v.terminals[index];
  const TerminalControl& control = terminal.at(t.terminal_fields.control);
  const Source& source = terminal.at(t.endpoint_fields.source);
  bool connected = source.state != SourceState::kIdle || t.mode == TrafficMode::kTrace;
  for (u32 l = 0; l < t.links; ++l) connected |= terminal.at(t.endpoint_fields.sink, l).state != SinkState::kIdle;
  if (connected || (!source.body && control.sent != control.created)) return now + 1;
  return source.body && source.from < control.next.at ? source.from : control.next.at;
}

/// One cycle of up to kBlock endpoints. In the functions, `member` is the position of an endpoint in `index`, the list
/// of active endpoints.
template <class V>
struct EndpointBatch {
  using SourceStep = SourceCycle<V, Outbox>;
  using SinkStep = SinkCycle<V, Outbox>;

  const V& v;
  const Outbox& outbox;
  Cycle* wake;             ///< Memory::wake
  const Word* inbox_slot;  ///< `[endpoint][link][slice]`: words of this cycle: leaving links, then entering ones
  Cycle now;
  u32 n = 0;              ///< number of active endpoints
  u32 index[kBlock + 1];  ///< numbers of the active endpoints

  FLITLAB_INLINE EndpointBatch(const V& view, const Outbox& words, Cycle* wake_at, const Word* words_in, Cycle cycle)
      : v(view), outbox(words), wake(wake_at), inbox_slot(words_in), now(cycle) {}

  FLITLAB_INLINE Item<1> terminal(u32 member) const { return v.terminals[index[member]]; }
  FLITLAB_INLINE TerminalControl& control(u32 member) const { return terminal(member).at(v.t.terminal_fields.control); }
  FLITLAB_INLINE Source& source(u32 member) const { return terminal(member).at(v.t.endpoint_fields.source); }
  FLITLAB_INLINE Sink& sink(u32 member, u32 link) const { return terminal(member).at(v.t.endpoint_fields.sink, link); }
  FLITLAB_INLINE const Word* in(u32 member) const { return inbox_slot + index[member] * 2 * v.t.links * v.t.slices; }

  FLITLAB_INLINE SourceStep source_step(u32 member) const {
    return {v, outbox, terminal(member), in(member), index[member], now, control(member), source(member)};
  }
  FLITLAB_INLINE SinkStep sink_step(u32 member, u32 link) const {
    return {v, outbox, terminal(member), in(member), index[member], v.t.links + link, now, sink(member, link)};
  }

  ItemList<kBlock> starting, sending, receiving, closing;  ///< sources by state
  BitList<kBlock, kMaxLinks> taking, other_sinks;          ///< sinks by state: endpoints and links
  ItemList<kBlock> unconnected_items;                      ///< endpoints without a connection

  /// Creates the messages of this cycle and fills the lists.
  FLITLAB_INLINE void list() {
    const auto& t = v.t;
    for (u32 i = 0; i < n; ++i) {
      TerminalControl& c = control(i);
      if (c.next.at <= now || t.mode == TrafficMode::kTrace) EndpointPhase::create(v, terminal(i), index[i], c, now);
      const Source& s = source(i);
      const bool idle = s.state == SourceState::kIdle;
      starting.add(i, idle & ((s.body != 0) | (c.sent != c.created)));
      sending.add(i, s.state == SourceState::kSending);
      receiving.add(i, s.state == SourceState::kTurned);
      closing.add(i, s.state == SourceState::kClosing);
      bool unconnected = idle;
      for (u32 l = 0; l < t.links; ++l) {
        const SinkState state = sink(i, l).state;
        const bool takes = state == SinkState::kTaking, waits = state == SinkState::kIdle;
        const bool begins = kind_of(in(i)[(t.links + l) * t.slices]) == Kind::kData;
        taking.add(takes, i, l);
        other_sinks.add(!(takes | (waits & !begins)), i, l);
        unconnected &= waits;
      }
      wake[index[i]] = now + 1;
      unconnected_items.add(i, unconnected);
    }
  }

  /// Runs one cycle of the endpoints `first` to `last - 1`.
  FLITLAB_INLINE void work(u32 first, u32 last) {
    const u32 words = 2 * v.t.links * v.t.slices;
    for (u32 i = first; i < last; ++i) {
      index[n] = i;
      n += (wake[i] <= now) | any_present(inbox_slot + i * words, words);
    }
    list();
    for (u32 member : sending) source_step(member).continue_sending();
    for (u32 member : receiving) source_step(member).continue_reply();
    for (u32 member : closing) {
      SourceStep step = source_step(member);
      if (step.close()) step.end();
    }
    for (u32 member : starting) {
      SourceStep step = source_step(member);
      if (step.start()) step.send_next();
    }
    taking.for_each([&](u32 member, u32 link) __attribute__((always_inline)) {
      SinkStep step = sink_step(member, link);
      if (step.take_next(step.arrived())) step.answer();
    });
    other_sinks.for_each([&](u32 member, u32 link) __attribute__((always_inline)) { sink_step(member, link).work(); });
    // Endpoints with a connection run in the next cycle in any case.
    for (u32 member : unconnected_items) wake[index[member]] = next_wake(v, index[member], now);
  }
};

}  // namespace flitlab::metro::lanes
