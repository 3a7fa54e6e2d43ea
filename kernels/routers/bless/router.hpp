#pragma once
/// A cycle of the router (BLESS, FLIT-BLESS). All flits that arrive leave again, in this order:
///   of those that are for the terminal here the oldest are ejected, `router.ejection_width` at most;
///   if fewer flits than the router has channels are left, an input is free, and the terminal injects a flit;
///   all of them, the oldest first, take an output: a productive one that is still free, or else any other.
/// A router has as many outputs as inputs, so every flit gets one. What is sent in cycle t is decided upon anew in
/// t + `router.delay` + `topology.channel_delay`, by the router where it then is.
#include "kernels/engines/phases.hpp"
#include "kernels/routers/bless/interface.hpp"
#include "kernels/routers/bless/rank.hpp"

namespace flitlab::bless {

template <class V>
struct RouterCycle {
  static constexpr u8 kFresh = 0xFF;  ///< in the place of an input: the flit that is being injected

  const V& v;
  u32 index;
  Cycle now;
  Item<V::width> node;
  Item<V::width> terminal;
  /// Apart from the rest, which registers hold on a GPU: what the compiler knows no index of lies in memory there.
  u8 (&order)[kMaxChannels];  ///< inputs of the flits that are here, the oldest first
  Flit& fresh;
  u32 flits = 0;

  FLITLAB_INLINE RouterCycle(const V& view, u32 router, Cycle cycle, u8 (&inputs)[kMaxChannels], Flit& injected)
      : v(view),
        index(router),
        now(cycle),
        node(view.routers[router]),
        terminal(view.terminals[router]),
        order(inputs),
        fresh(injected) {}

  FLITLAB_INLINE const Flit& flit_of(u8 input) const {
    return input == kFresh ? fresh : node.at(v.t.router_fields.mail, (now & v.t.slot_mask) * v.t.channels + input);
  }

  FLITLAB_INLINE void rank(u8 input) {
    u32 place = flits++;
    for (; place && older(flit_of(input), flit_of(order[place - 1])); --place) order[place] = order[place - 1];
    order[place] = input;
  }

  FLITLAB_INLINE void collect() {
    const auto& t = v.t;
    for (u32 channel = 0; channel < t.channels; ++channel) {
      u8& came = node.at(t.router_fields.came, (now & t.slot_mask) * t.channels + channel);
      if (!came) continue;
      came = 0;
      rank(static_cast<u8>(channel));
      if constexpr (V::traced) v.log.write(index, flit_event(v, flit_of(u8(channel)), EventKind::kArrived, channel, 0));
    }
  }

  FLITLAB_INLINE void eject_oldest() {
    const auto& t = v.t;
    u32 kept = 0, taken = 0;
    for (u32 i = 0; i < flits; ++i) {
      const Flit& flit = flit_of(order[i]);
      if (taken < t.ejection_width && flit.dst == t.address[index] && eject(v, terminal, index, flit, now)) {
        ++taken;
        if constexpr (V::traced)
          v.log.write(index, flit_event(v, flit, EventKind::kSwitchGranted, order[i], t.channels));
      } else {
        order[kept++] = order[i];
      }
    }
    flits = kept;
  }

  FLITLAB_INLINE void inject() {
    const auto& t = v.t;
    TerminalControl& control = terminal.at(t.terminal_fields.control);
    create(v, terminal, index, control, now);
    if (!has_flit(control)) return;
    if (flits == bit_count(t.wired[index])) return count(*v.shard, Count::kBlocked);
    fresh = next_flit(v, terminal, index, control, now);
    rank(kFresh);
    if constexpr (V::traced) v.log.write(index, flit_event(v, fresh, EventKind::kArrived, t.channels, 0));
  }

  FLITLAB_INLINE void send(u8 input, u32 channel) const {
    const auto& t = v.t;
    const Peer peer = t.peers[std::size_t{index} * t.ports + channel];
    Flit flit = flit_of(input);
    ++flit.hops;
    const auto next = v.routers[peer.item];
    const u32 place = ((now + t.hop_delay) & t.slot_mask) * t.channels + peer.port;
    next.at(t.router_fields.mail, place) = flit;
    next.at(t.router_fields.came, place) = 1;
    ++node.at(t.router_fields.sent, channel);
    count(*v.shard, Total::kFlitMoves);
    count(*v.shard, Count::kSent);
    if constexpr (V::traced)
      v.log.write(index, flit_event(v, flit, EventKind::kSwitchGranted, input == kFresh ? t.channels : input, channel));
  }

  FLITLAB_INLINE void send_all() const {
    const auto& t = v.t;
    u32 free = t.wired[index];
    for (u32 i = 0; i < flits; ++i) {
      if (!free) return raise_fault(node.at(t.router_fields.control).fault, kFaultBufferOverflow, kNoFaultPort);
      const Flit& flit = flit_of(order[i]);
      const u32 productive = productive_channels(t, t.address[index], flit.dst);
      const u32 channel = choose_channel(flit, productive, free, t.channels, now);
      free &= ~(1u << channel);
      if (!(productive >> channel & 1)) count(*v.shard, Count::kDeflections);
      send(order[i], channel);
    }
  }

  FLITLAB_INLINE void work() {
    collect();
    if (flits) eject_oldest();
    inject();
    if (flits) send_all();
  }
};

struct RouterPhase {
  static constexpr const char* name = "router";

  template <class V>
  FLITLAB_HD static u32 items(const V& v) {
    return v.t.routers;
  }
  template <class V>
  FLITLAB_INLINE static void run(const V& v, u32 index, Cycle now) {
    u8 inputs[kMaxChannels];
    Flit injected;
    RouterCycle<V>(v, index, now, inputs, injected).work();
  }
};

}  // namespace flitlab::bless
