#pragma once
/// One cycle of the switch, in this order: outputs deliver the messages whose service has ended and start their next
/// messages; terminals create messages; heads of input FIFOs move to outputs with room, the longest waiting head first.
///
/// The channel to an input brings one flit a cycle. If the head flit of a message of L flits arrives in cycle a, the
/// message can be switched in cycle a (buffer_pool), or in a + L, after it has been stored as a whole (crossbar). A
/// message that gets an idle output in cycle m is delivered in cycle m + L; the output is free in that cycle.
/// S-Connect, 2, Figure 1.
///
/// A move takes no time, so it changes source queues, inputs and outputs in the same cycle. Therefore the switch is one
/// item, and only its phase accesses the terminals.
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
  FLITLAB_INLINE Packet& message(u32 o, u32 position) const {
    return node.at(v.t.fields.ring, o * v.t.output_buffers + position);
  }
  FLITLAB_INLINE TerminalControl& terminal(u32 i) const { return v.terminals[i].at(v.t.terminal_fields.control); }

  /// Delivers the message in service, and starts the output's next message.
  FLITLAB_INLINE void complete(u32 o) const {
    Output& out = output(o);
    const Packet& packet = message(o, out.first);
    count(*v.shard, Total::kFlitsDelivered, packet.flits);
    deliver(v, o, terminal(o), packet, now);
    if (v.t.mode == TrafficMode::kTrace) record_arrival(v, v.terminals[o], o, packet, now);
    out.first = next_position(out.first, v.t.output_buffers);
    if (--out.held) out.done = now + message(o, out.first).flits;
  }

  /// Returns the set of ports for which `is(port)` holds. It has no branch, because which ports these are cannot be
  /// predicted.
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

  /// Creates messages. Returns the inputs whose source queues may have grown.
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

  /// Makes the oldest message of a terminal, whose source queue must not be empty, the head of its input's FIFO.
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
    const Cycle ready = t.stores_messages ? in.free : arrival;
    if (in.since < ready) in.since = ready;
    output(in.output).wanted |= u64{1} << i;
    if constexpr (V::traced)
      v.log.write(0,
                  Event{i, in.id, EventKind::kArrived, u8(i), 0, 0, 0, head_of(in.flits), static_cast<u16>(in.flits)});
  }

  /// Moves the head of an input to its output.
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

  /// Makes the message behind a moved message the head of its input FIFO. The new head can move in a later cycle at the
  /// earliest.
  FLITLAB_INLINE void load_next(u32 i) const {
    remove_oldest(v, v.terminals[i], i, terminal(i));
    if (has_message(i)) load(i);
  }

  FLITLAB_INLINE u32 draw(u32 i) const { return philox(v.row->seed, sw::stream::kTie, i, now).word[0]; }

  /// Returns the member of a nonempty set of inputs whose head has waited longest; random draws break ties.
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

  /// Moves waiting heads to outputs with room.
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
        if constexpr (V::traced) load_next(i);  // so that events are in the order of moves
      }
    });
    if constexpr (!V::traced) for_each_port(moved, [&](u32 i) { load_next(i); });
  }

  /// Returns the first later cycle in which the state can change; 0: unknown.
  FLITLAB_INLINE Cycle next_event() const {
    if (v.t.mode == TrafficMode::kTrace) return 0;  // the host may add trace entries in every cycle
    Cycle soonest = kNever;  // cycles after the next one; past cycles wrap around to large values
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
  /// The phase has no `due`, because the switch is its only item.
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    const auto node = v.routers[index];
    if (node.at(v.t.fields.control).next <= now) SwitchCycle<V, V::width>{v, node, now}.work();
  }
};

}  // namespace flitlab::sw
