#pragma once
/// One cycle of an endpoint: its source and its sinks. A word sent in cycle t is on the wire, and read by the router,
/// in cycle t + 1. A message's latency runs from its first word to its acknowledgment on the source's wire. If a
/// message is created in cycle c and sent at once, the latency runs from cycle c + 1.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/metro/sink.hpp"

namespace flitlab::metro {

struct EndpointPhase {
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

  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto& t = v.t;
    const auto terminal = v.terminals[index];
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    const u32 words = 2 * t.links * t.slices, first = (now & t.slot_mask) * words;
    using Words = InboxWords<V::width>;
    const Words in{&terminal.at(t.endpoint_fields.mail, first)};
    create(v, terminal, index, control, now);
    Source& source = terminal.at(t.endpoint_fields.source);
    FLITLAB_ROLLED for (u32 half = 0; half <= t.links; ++half) {
      DeferredSignal::One out;
      const DeferredSignal far{out};
      const u32 entering = half - 1;
      if (half == 0)
        SourceCycle<V, DeferredSignal, Words>{v, far, terminal, in, index, now, control, source}.work();
      else
        SinkCycle<V, DeferredSignal, Words>{
            v, far, terminal, in, index, t.links + entering, now, terminal.at(t.endpoint_fields.sink, entering)}
            .work();
      const u32 link = half == 0 ? source.link : t.links + entering;
      if (out.kind != Kind::kNothing) drive_link(v, FarInbox<V>{v}, terminal, index, link, out.kind, out.content, now);
    }
    in.clear(words);
  }
};

}  // namespace flitlab::metro
