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

  /// The ports, each a bit, for which `is(port)` holds. No branch: which ones they are cannot be foreseen.
  template <class Is>
  FLITLAB_INLINE u64 ports_where(Is&& is) const {
    u64 set = 0;
    for (u32 port = 0; port < v.t.terminals; ++port) set |= static_cast<u64>(is(port)) << port;
    return set;
  }
  template <class Visit>
  FLITLAB_INLINE static void for_each_port(u64 set, Visit&& visit) {
    for (; set; set &= set - 1) visit(lowest_bit(set));
  }

  /// Returns the inputs whose queues may have grown.
  FLITLAB_INLINE u64 create_all() const {
    if (v.t.mode == TrafficMode::kTrace) {
      for (u32 i = 0; i < v.t.terminals; ++i) create_from_trace(v, v.terminals[i], i, terminal(i), now);
      return ~u64{0} >> (64 - v.t.terminals);
    }
    const u64 creating = ports_where([&](u32 i) { return terminal(i).next.at <= now; });
    for_each_port(creating, [&](u32 i) { create_packets(v, i, terminal(i), now); });
    return creating;
  }

  FLITLAB_INLINE bool has_message(u32 i) const { return terminal(i).sent != terminal(i).created; }

  /// The oldest message of a terminal, which has one, becomes the head of its input's FIFO.
  FLITLAB_INLINE void load(u32 i) const {
    const auto& t = v.t;
    const TerminalControl& control = terminal(i);
    Input& in = input(i);
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
      v.log.write(0,
                  Event{i, in.id, EventKind::kArrived, u8(i), 0, 0, 0, head_of(in.flits), static_cast<u16>(in.flits)});
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
      v.log.write(t.routers + i,
                  Event{i, in.id, EventKind::kInjected, u8(i), 0, 0, 0, head_of(packet.flits), packet.flits});
      v.log.write(0, Event{i, in.id, EventKind::kSwitchGranted, u8(i), 0, u8(o), 0, 3, packet.flits});
    }
    in.since = t.release_by_tail ? now + in.flits : now + 1;
    in.output = kNone;
  }

  /// The message behind one that has moved becomes the head. It moves in a later cycle.
  FLITLAB_INLINE void follow(u32 i) const {
    remove_oldest(v, v.terminals[i], i, terminal(i));
    if (has_message(i)) load(i);
  }

  FLITLAB_INLINE u32 draw(u32 i) const { return philox(v.row->seed, sw::stream::kTie, i, now).word[0]; }

  /// Who of a set that is not empty has waited longest; of several that came in the same cycle, any.
  FLITLAB_INLINE u32 longest_waiting(u64 set) const {
    if (!(set & (set - 1))) return lowest_bit(set);
    Cycle first = kNever;
    for_each_port(set, [&](u32 i) { first = input(i).since < first ? input(i).since : first; });
    u64 equals = 0;
    for_each_port(set, [&](u32 i) { equals |= u64{input(i).since == first} << i; });
    u32 best = lowest_bit(equals);
    if (!(equals & (equals - 1))) return best;
    u32 least = draw(best);
    for_each_port(equals & (equals - 1), [&](u32 i) {
      const u32 drawn = draw(i);
      if (drawn < least) best = i, least = drawn;
    });
    return best;
  }

  /// Outputs with room take in what waits for them.
  FLITLAB_INLINE void move_all() const {
    const auto& t = v.t;
    u64 waiting = 0, ready = 0, moved = 0;
    const u64 open = ports_where([&](u32 o) {
      const bool is = (output(o).wanted != 0) & (output(o).held < t.output_buffers);
      waiting |= output(o).wanted & (0 - u64{is});
      return is;
    });
    for_each_port(waiting, [&](u32 i) { ready |= u64{input(i).since <= now} << i; });
    for_each_port(open, [&](u32 o) {
      while (output(o).held < t.output_buffers && (output(o).wanted & ready)) {
        const u32 i = longest_waiting(output(o).wanted & ready);
        move(i);
        ready &= ~(u64{1} << i);
        moved |= u64{1} << i;
        if constexpr (V::traced) follow(i);  // where events are in the order of moves
      }
    });
    if constexpr (!V::traced) for_each_port(moved, [&](u32 i) { follow(i); });
  }

  /// First cycle in which something can happen after this one; 0: it is not known.
  FLITLAB_INLINE Cycle next_event() const {
    if (v.t.mode == TrafficMode::kTrace) return 0;  // in every cycle: the host may bring more lines
    Cycle soonest = kNever;                         // from the next cycle on; what is past is very far ahead
    const auto at = [&](Cycle cycle, bool counts) {
      const Cycle ahead = (cycle - now - 1) | (u32{counts} - 1);
      soonest = ahead < soonest ? ahead : soonest;
    };
    for (u32 i = 0; i < v.t.terminals; ++i) {
      at(terminal(i).next.at, true);
      at(output(i).done, output(i).held != 0);
      at(input(i).since, input(i).output != kNone);
    }
    return soonest < kNever - now - 1 ? now + 1 + soonest : kNever;
  }

  FLITLAB_INLINE void work() const {
    for_each_port(ports_where([&](u32 o) { return (output(o).held != 0) & (output(o).done == now); }),
                  [&](u32 o) { complete(o); });
    for_each_port(create_all(), [&](u32 i) {
      if (input(i).output == kNone && has_message(i)) load(i);
    });
    move_all();
    node.at(v.t.fields.control).next = next_event();
  }
};

struct SwitchPhase {
  static constexpr const char* name = "switch";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  /// An engine that asked who is due would list one item.
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto node = v.routers[index];
    if (node.at(v.t.fields.control).next <= now) SwitchCycle<V, V::width>{v, node, now}.work();
  }
};

}  // namespace flitlab::sw
