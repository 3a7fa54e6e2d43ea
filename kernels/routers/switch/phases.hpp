#pragma once
/// One cycle of the switch. In order: outputs whose message has ended deliver it and begin the next one that they hold;
/// messages are created; heads of input FIFOs move to outputs that have room, who has waited longest first.
///
/// The channel to an input brings a flit a cycle. With its head there in cycle a, a message of L flits can be switched
/// in cycle a (buffer_pool) or, stored as a whole, a + L (crossbar). One that gets an idle output in cycle m is
/// delivered in cycle m + L, in which the output is free again. S-Connect, 2, Figure 1.
///
/// A move takes no time, so in a cycle with one the terminals' queues, inputs and outputs are one state: the switch is
/// one item, and its phase alone touches the terminals.
#include "kernels/common/bits.hpp"
#include "kernels/routers/switch/streams.hpp"
#include "kernels/routers/switch/terminal_link.hpp"
#include "kernels/traffic/replay.hpp"
#include "kernels/traffic/terminal.hpp"

namespace flitlab::sw {

template <class V, int W>
struct SwitchCycle {
  const V& v;
  Item<W> node;
  Cycle now;

  FLITLAB_INLINE Output& output(u32 o) const { return node.at(v.t.fields.output, o); }
  FLITLAB_INLINE Input& input(u32 i) const { return node.at(v.t.fields.input, i); }
  FLITLAB_INLINE Packet& message(u32 o, u32 place) const {
    return node.at(v.t.fields.ring, o * v.t.output_buffers + place);
  }
  FLITLAB_INLINE TerminalControl& terminal(u32 i) const { return v.terminals[i].at(v.t.terminal_fields.control); }

  /// The message in service has ended.
  FLITLAB_INLINE void complete(u32 o) const {
    Output& out = output(o);
    const Packet& packet = message(o, out.first);
    count(*v.shard, Total::kFlitsDelivered, packet.flits);
    deliver(v, o, terminal(o), packet, now);
    if (v.t.mode == TrafficMode::kTrace) note_arrival(v, v.terminals[o], packet, now);
    out.first = next_place(out.first, v.t.output_buffers);
    if (--out.held) out.done = now + message(o, out.first).flits;
  }

  FLITLAB_INLINE void create(u32 i) const {
    TerminalControl& control = terminal(i);
    if (v.t.mode == TrafficMode::kTrace)
      create_from_trace(v, v.terminals[i], i, control, now);
    else if (control.next.at <= now)
      create_packets(v, i, control, now);
  }

  /// The oldest message of a terminal becomes the head of its input's FIFO.
  FLITLAB_INLINE void load(u32 i) const {
    const auto& t = v.t;
    const TerminalControl& control = terminal(i);
    Input& in = input(i);
    if (control.sent == control.created) return;
    const QueuedPacket oldest = oldest_packet(v, v.terminals[i], i, control);
    in.id = oldest.id;
    in.created = oldest.created;
    in.flits = oldest.flits;
    in.output = oldest_destination(v, v.terminals[i], i, control);
    const Cycle arrival = in.created < in.free ? in.free : in.created;
    in.free = arrival + in.flits;
    const Cycle ready = t.stored ? in.free : arrival;
    if (in.since < ready) in.since = ready;
    output(in.output).wanted |= u64{1} << i;
    if constexpr (V::traced)
      v.log.write(0, Event{i, in.id, EventKind::kArrived, u8(i), 0, 0, 0, 1, static_cast<u16>(in.flits)});
  }

  /// The head of an input gets its output.
  FLITLAB_INLINE void move(u32 i) const {
    const auto& t = v.t;
    Input& in = input(i);
    const u32 o = in.output;
    Output& out = output(o);
    Packet packet{};
    packet.dst = o;
    packet.src = i;
    packet.created = in.created;
    packet.injected = now;
    packet.id = in.id;
    packet.flits = static_cast<u16>(in.flits);
    message(o, (out.first + out.held) % t.output_buffers) = packet;
    if (!out.held++) out.done = now + in.flits;
    out.wanted &= ~(u64{1} << i);
    Control& control = node.at(t.fields.control);
    ++control.moves;
    control.waited += now - in.since;
    count(*v.shard, Total::kPacketsInjected);
    count(*v.shard, Total::kFlitsInjected, in.flits);
    count(*v.shard, Total::kFlitMoves, in.flits);
    if constexpr (V::traced) {
      v.log.write(t.routers + i, Event{i, in.id, EventKind::kInjected, u8(i), 0, 0, 0, 1, packet.flits});
      v.log.write(0, Event{i, in.id, EventKind::kSwitchGranted, u8(i), 0, u8(o), 0, 3, packet.flits});
    }
    in.since = t.release_by_tail ? now + in.flits : now + 1;
    in.output = kNone;
    remove_oldest(v, v.terminals[i], i, terminal(i));
    load(i);
  }

  FLITLAB_INLINE u32 draw(u32 i) const { return philox(v.row->seed, sw::stream::kTie, i, now).word[0]; }

  /// Who has waited longest for an output; of several that came in the same cycle, any. kNone: nobody waits.
  FLITLAB_INLINE u32 longest_waiting(u32 o) const {
    u32 best = kNone;
    for (u64 set = output(o).wanted; set; set &= set - 1) {
      const u32 i = lowest_bit(set);
      const Cycle since = input(i).since;
      if (since > now) continue;
      if (best == kNone || since < input(best).since || (since == input(best).since && draw(i) < draw(best))) best = i;
    }
    return best;
  }

  /// First cycle in which something can happen after this one; 0: it is not known.
  FLITLAB_INLINE Cycle next_event() const {
    if (v.t.mode == TrafficMode::kTrace) return 0;  // in every cycle: the host may bring more lines
    Cycle next = kNever;
    const auto at = [&](Cycle cycle) {
      if (cycle < next) next = cycle;
    };
    for (u32 i = 0; i < v.t.terminals; ++i) {
      at(terminal(i).next.at);
      if (output(i).held) at(output(i).done);
      if (input(i).output != kNone && input(i).since > now) at(input(i).since);
    }
    return next;
  }

  FLITLAB_INLINE void work() const {
    const auto& t = v.t;
    for (u32 o = 0; o < t.terminals; ++o)
      if (output(o).held && output(o).done == now) complete(o);
    for (u32 i = 0; i < t.terminals; ++i) {
      create(i);
      if (input(i).output == kNone) load(i);
    }
    for (u32 o = 0; o < t.terminals; ++o)
      while (output(o).held < t.output_buffers) {
        const u32 i = longest_waiting(o);
        if (i == kNone) break;
        move(i);
      }
    node.at(t.fields.control).next = next_event();
  }
};

struct SwitchPhase {
  static constexpr const char* name = "switch";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_INLINE static bool due(const V& v, u32 index, Cycle now) {
    return v.routers[index].at(v.t.fields.control).next <= now;
  }
  template <class V>
  FLITLAB_INLINE static void work(const V& v, u32 index, Cycle now) {
    SwitchCycle<V, V::width>{v, v.routers[index], now}.work();
  }
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    if (due(v, index, now)) work(v, index, now);
  }
};

}  // namespace flitlab::sw
